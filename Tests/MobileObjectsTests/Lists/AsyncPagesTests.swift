import Foundation
import MobileObjects
import SampleCRM
import Testing

/// Pages and objects of queries as asynchronous sequences, with objects in the caller's isolation.
@Suite struct AsyncPagesTests {
    private let shop: Shop
    init() throws {
        shop = try Shop()
        let rows = (1...250).map { "[\($0),\"c\($0)\",\"Customer \($0)\"]" }
        try shop.importRows("Customer", ["id", "name"], "[" + rows.joined(separator: ",") + "]")
    }

    @Test("pages and objects come in order, in the isolation of the loop")
    @MainActor func onTheMainActor() async throws {
        let customers = try shop.objects("Customer"), descending = Query().sorted(by: .descending("surrogateKey"))
        var sizes: [Int] = [], keys: [Int64] = []
        for try await page in customers.pages(descending, size: 100) {
            MainActor.assertIsolated()
            sizes.append(page.count)
        }
        for try await customer in customers.pages(descending, size: 30).objects {
            keys.append(customer.surrogateKey)
            if keys.count == 200 { break }
        }
        #expect(sizes == [100, 100, 50])
        #expect(keys == Array(51...250).reversed())
    }

    @Test("the cursor's asynchronous twins give what it gives otherwise")
    func twins() async throws {
        let cursor = try shop.objects("Customer").cursor(pageSize: 100)
        #expect(try await cursor.nextObject()?.surrogateKey == 1)
        #expect(try await cursor.nextPage()?.map(\.surrogateKey) == Array(2...100))
        #expect(try await cursor.nextObject()?.surrogateKey == 101)
    }

    @Test("a query that cannot be run fails with the first page")
    func badQuery() async throws {
        let pages = try shop.objects("Customer").pages(Query().where(.equal("colour", 1)))
        let error = await #expect(throws: ObjectError.self) { for try await _ in pages {} }
        #expect(error?.code == .noSuchAttribute)
    }
}
