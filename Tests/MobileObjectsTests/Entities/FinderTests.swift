import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// Finding objects, page by page and by modelled queries.
@Suite struct FinderTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        let rows = (1...250).map { "[\($0),\"c\($0)\",\"Customer \($0)\",\"\($0 % 2 == 0 ? "Cork" : "Dublin")\",\($0).50]" }
        try shop.importRows("Customer", ["id", "name", "city", "credit"], "[" + rows.joined(separator: ",") + "]")
    }

    @Test("FND-01: find takes the surrogate key and gives nil where there is no row")
    func find() throws {
        #expect(try shop.customer(7)?.value("id") == "c7")
        #expect(try shop.customer(999) == nil)
    }

    @Test("FND-02: findByPrimaryKey takes the modelled key")
    func findByPrimaryKey() throws {
        let customers = try shop.objects("Customer")
        #expect(try customers.findByPrimaryKey("c7")?.surrogateKey == 7)
        #expect(try customers.findByPrimaryKey("7") == nil)
        #expect(#expect(throws: ObjectError.self) { _ = try customers.findByPrimaryKey(7) }?.code == .invalidValue)
        #expect(#expect(throws: ObjectError.self) { _ = try customers.findByPrimaryKey("c7", "c8") }?.code == .invalidValue)
        try shop.importRows("Line", ["orderNumber", "line", "text"], "[[1,10,1,\"tea\"],[2,10,2,\"coffee\"]]")
        #expect(try shop.objects("Line").findByPrimaryKey(10, 2)?.value("text") == "coffee")
    }

    @Test("FND-04 EXC-05: load of a row that is not there throws")
    func load() throws {
        let error = #expect(throws: ObjectError.self) { _ = try shop.objects("Customer").load(999) }
        #expect(error?.code == .notFound && error?.message == "load of Customer 999: there is no such row")
    }

    @Test("FND-05 FND-06: findAll gives all objects; with skip and take a part of them")
    func findAll() throws {
        let customers = try shop.objects("Customer")
        #expect(try customers.findAll().map(\.surrogateKey) == Array(1...250))
        #expect(try customers.findAll(skip: 100, take: 3).map(\.surrogateKey) == [101, 102, 103])
        #expect(try customers.findAll(skip: 248, take: 10).map(\.surrogateKey) == [249, 250])
        #expect(try customers.findAll(skip: 300, take: 10).isEmpty)
        #expect(try customers.findAll(skip: 0, take: 0).isEmpty)
    }

    @Test("FND-12: pages after a key give every object once, whatever their size", arguments: [1, 7, 100, 250, 300])
    func pages(size: Int) throws {
        let customers = try shop.objects("Customer")
        var keys: [Int64] = []
        while case let page = try customers.page(after: keys.last ?? 0, size: size), !page.isEmpty {
            #expect(page.count <= size)
            keys += page.map(\.surrogateKey)
        }
        #expect(keys == Array(1...250))
    }

    @Test("FND-05 FND-06 FND-12: lists of thousands of objects are whole, and in order")
    func manyObjects() throws {
        let rows = (1...2500).map { "[\($0),\($0),\"c1\"]" }
        try shop.importRows("SalesOrder", ["number", "customerId"], "[" + rows.joined(separator: ",") + "]")
        let orders = try shop.objects("SalesOrder")
        #expect(try orders.findAll().map(\.surrogateKey) == Array(1...2500))
        #expect(try orders.findAll(skip: 900, take: 1200).map(\.surrogateKey) == Array(901...2100))
        #expect(try orders.findAll(skip: 2000, take: -1).map(\.surrogateKey) == Array(2001...2500))
        #expect(try orders.page(after: 5, size: 2000).map(\.surrogateKey) == Array(6...2005))
        #expect(try orders.page(after: 5, size: 0).isEmpty)
    }

    @Test("FND-12: a page of objects with long texts has as many of them as asked for")
    func longTexts() throws {
        let text = String(repeating: "x", count: 10_000)
        let rows = (1...600).map { "[\($0),\($0),\"c1\",\"\($0)\(text)\"]" }
        try shop.importRows("SalesOrder", ["number", "customerId", "status"], "[" + rows.joined(separator: ",") + "]")
        let orders = try shop.objects("SalesOrder")
        for list in [
            try orders.page(size: 600), try orders.page(after: 100, size: 450), try orders.findAll(), try orders.findAll(skip: 50, take: 500),
        ] {
            let first = try #require(list.first).surrogateKey
            #expect(list.map(\.surrogateKey) == Array(first..<(first + Int64(list.count))))
            #expect(try list.allSatisfy { try $0.value("status") == .string("\($0.surrogateKey)\(text)") })
        }
        #expect(try orders.page(size: 600).count == 600 && orders.page(after: 100, size: 450).count == 450)
        #expect(try orders.findAll().count == 600 && orders.findAll(skip: 50, take: 500).count == 500)
    }

    @Test("FND-07 FND-08: a modelled query finds objects by its parameters, as a whole and in parts")
    func modelledQuery() throws {
        let customers = try shop.objects("Customer")
        let all = try customers.query("findByCity", ["Cork"])
        #expect(all.count == 125)
        #expect(all.map(\.name) == all.map(\.name).sorted())
        #expect(try customers.query("findByCity", ["Cork"], skip: 10, take: 5).map(\.name) == all[10..<15].map(\.name))
        #expect(try customers.query("findByCity", ["Cork' OR '1' = '1"]).isEmpty)
        let product = try customers.query("findByCity", ["Cork"], take: 1).first
        #expect(try product?.value("city") == "Cork" && product?.isNew == false)
    }

    @Test("FND-08: the caller of a modelled query may sort what it returns, also in parts; ties come by surrogate keys")
    func sortedQuery() throws {
        let customers = try shop.objects("Customer"), rich: [AttributeValue] = [.decimal(245)]
        func keys(_ order: AttributeSort..., skip: Int = 0, take: Int = -1) throws -> [Int64] {
            try customers.query("findRich", rich, sortedBy: order, skip: skip, take: take).map(\.surrogateKey)
        }
        #expect(try keys() == [245, 246, 247, 248, 249, 250])
        #expect(try keys(.descending("credit")) == [250, 249, 248, 247, 246, 245])
        #expect(try keys(.descending("city"), .ascending("credit")) == [245, 247, 249, 246, 248, 250])
        #expect(try keys(.descending("city")) == [245, 247, 249, 246, 248, 250])
        #expect(try keys(.descending("credit"), skip: 1, take: 2) == [249, 248])
        #expect(try customers.list("findRich", rich, sortedBy: [.descending("credit")]).object(at: 1).surrogateKey == 249)
        let cases: [(ObjectError.Code, () throws -> Void)] = [
            (.noSuchAttribute, { _ = try customers.query("findRich", rich, sortedBy: [.ascending("credit; DROP TABLE Customer")]) }),
            (.noSuchAttribute, { _ = try customers.list("findRich", rich, sortedBy: [.ascending("x.credit")]) }),
            (.unsupportedType, { _ = try Self.shopWithProductQuery().objects("Product").query("findTea", sortedBy: [.ascending("manual")]) }),
        ]
        for (code, body) in cases { #expect(ObjectError.of(body)?.code == code) }
    }

    private static func shopWithProductQuery() throws -> Shop {
        var model = ShopModel.model
        let product = try #require(model.objects.firstIndex { $0.name == "Product" })
        model.objects[product].queries = [QueryModel(name: "findTea", sql: "SELECT x.* FROM Product x WHERE x.name = 'Tea'")]
        return try Shop(model)
    }

    @Test("FND-07: decimals in a query compare as decimals, parameters and numbers alike")
    func decimalQuery() throws {
        let found = try shop.objects("Customer").query("findRich", [.decimal(Decimal(string: "249.50")!)])
        #expect(found.map(\.surrogateKey) == [249, 250])
    }

    @Test("FND-07: a single result over a join")
    func joinQuery() throws {
        try shop.importRows("SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[[1,1,\"c9\",\"PAID\",9],[2,2,\"c8\",\"PAID\",8]]")
        let found = try shop.objects("Customer").query("findFirstOf", ["PAID"])
        #expect(found.map(\.name) == ["Customer 8"])
    }

    @Test("EXC-09: a wrong number of parameters, or one of another type, is told by its code")
    func wrongParameters() throws {
        let customers = try shop.objects("Customer")
        #expect(#expect(throws: ObjectError.self) { _ = try customers.query("findByCity") }?.code == .noSuchParameter)
        #expect(#expect(throws: ObjectError.self) { _ = try customers.query("findByCity", [5]) }?.code == .invalidValue)
    }

    @Test("FND-13: a new object has the model's defaults and is not in the database")
    func newObject() throws {
        let order = try shop.objects("SalesOrder").newObject()
        #expect(try order.isNew && !order.isDirty && order.value("status") == "NEW")
        #expect(try shop.count("SalesOrder") == 0)
    }

    @Test("FND-14: a list of objects counts, iterates, gives by position and takes more")
    func list() throws {
        var list = try shop.objects("Customer").page(size: 3)
        #expect(list.count == 3 && list[1].surrogateKey == 2)
        let copy = list
        list.append(try shop.objects("Customer").newObject())
        #expect(list.count == 4 && copy.count == 3)
    }

    @Test("a page of objects survives changes of its rows")
    func pageIsASnapshot() throws {
        let page = try shop.objects("Customer").page(size: 2)
        try shop.importCustomer(1, id: "c1", name: "Other")
        #expect(page[0].name == "Customer 1")
    }
}
