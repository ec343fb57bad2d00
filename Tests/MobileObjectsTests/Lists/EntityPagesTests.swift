import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import Testing

/// Reading all objects of a class, page by page.
@Suite struct EntityPagesTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try importCustomers(1...250)
    }

    private func importCustomers(_ keys: ClosedRange<Int>) throws {
        let rows = keys.map { "[\($0),\"c\($0)\",\"Customer \($0)\"]" }
        try shop.importRows("Customer", ["id", "name"], "[" + rows.joined(separator: ",") + "]")
    }

    @Test("every object comes once, in order, whatever the size of a page", arguments: [1, 7, 100, 125, 250, 300], [true, false])
    func order(size: Int, readsAhead: Bool) async throws {
        let customers = try shop.objects("Customer")
        var pages = customers.pages(size: size, readsAhead: readsAhead), keys: [Int64] = [], names: [AttributeValue] = []
        while let page = try next(&pages) {
            #expect(page.count == min(size, 250 - keys.count))
            keys += page.map(\.surrogateKey)
            names += try page.map { try $0.value("name") }
        }
        #expect(keys == Array(1...250) && names.last == "Customer 250")
        #expect(try next(&pages) == nil)

        var later = customers.pages(after: 240, size: size, readsAhead: readsAhead)
        keys = []
        while let page = try await later.next() { keys += page.map(\.surrogateKey) }
        #expect(keys == Array(241...250))
    }

    /// Calls the blocking form, also where `await` would be possible.
    private func next(_ pages: inout EntityPages<GenericEntity>) throws -> EntityList<GenericEntity>? { try pages.next() }

    @Test func `without reading ahead a page shows what has been committed before`() throws {
        var pages = try shop.objects("Customer").pages(size: 200, readsAhead: false)
        #expect(try pages.next()?.count == 200)
        try importCustomers(251...260)
        #expect(try pages.next()?.map(\.surrogateKey) == Array(201...260))
        #expect(try pages.next() == nil)
    }

    @Test func `a transaction's own changes are on its pages, also behind a page that was read before it`() throws {
        var pages = try shop.objects("Customer").pages(size: 100)
        #expect(try pages.next()?.count == 100)
        try shop.database.transaction {
            try shop.customer(101)?.delete()
            let new = try shop.newCustomer("new")
            try new.create()
            #expect(try pages.next()?.first?.surrogateKey == 102)
            let last = try pages.next()
            #expect(last?.last?.surrogateKey == new.surrogateKey)
            #expect(try pages.next() == nil)
        }
    }

    @Test func `a reader that somebody else has is not waited for ahead`() throws {
        let shop = try Shop(maxConnections: 1)
        try shop.importRows("Customer", ["id", "name"], #"[[1,"a","A"],[2,"b","B"],[3,"c","C"]]"#)
        var pages = try shop.objects("Customer").pages(size: 1), keys: [Int64] = []
        try shop.database.read { _ in  // this thread has the only reader: what it reads itself goes through that one
            while let page = try pages.next() { keys += page.map(\.surrogateKey) }
        }
        #expect(keys == [1, 2, 3])
    }

    @Test func `what cannot be read is an error, and can be tried again`() throws {
        let customers = try shop.objects("Customer")
        var none = customers.pages(size: 0)
        #expect(#expect(throws: ObjectError.self) { _ = try none.next() }?.code == .store)
        var pages = customers.pages(size: 100, readsAhead: false)
        #expect(try pages.next()?.count == 100)
        try shop.database.write("broken") { _ = try $0.connection.execute(#"ALTER TABLE "Customer" RENAME TO "elsewhere""#) }
        #expect(#expect(throws: ObjectError.self) { _ = try pages.next() }?.code == .store)
        try shop.database.write("mended") { _ = try $0.connection.execute(#"ALTER TABLE "elsewhere" RENAME TO "Customer""#) }
        #expect(try pages.next()?.first?.surrogateKey == 101)
    }

    @Test func `pages that nobody asks for hold nothing back`() throws {
        var pages = try shop.objects("Customer").pages(size: 10)
        #expect(try pages.next()?.count == 10)
        try shop.database.close()  // waits for the page that is on its way
        let left = pages
        _ = consume left
    }
}
