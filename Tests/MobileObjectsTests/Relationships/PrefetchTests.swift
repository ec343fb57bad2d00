import Foundation
import MobileModel
@_spi(GeneratedCode) import MobileObjects
import SampleCRM
import Testing

/// Reading the relatives of many objects at once.
@Suite struct PrefetchTests {
    let trace = StatementTrace()
    let shop: Shop

    init() throws {
        let trace = trace
        shop = try Shop(trace: { trace.append($0) })
        try shop.importRows(
            "Customer", ["id", "name"], "[" + (1...100).map { "[\($0),\"c\($0)\",\"Customer \($0)\"]" }.joined(separator: ",") + "]")
        let orders = (1...300).map { "[\(1000 + $0),\(1000 + $0),\"c\($0 % 90 + 1)\",\"NEW\",\($0 % 90 + 1)]" }
        try shop.importRows("SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[" + orders.joined(separator: ",") + "]")
        let lines = (1...600).map { "[\(2000 + $0),\(1001 + $0 % 300),\($0),\"line \($0)\",\(1001 + $0 % 300)]" }
        try shop.importRows("Line", ["orderNumber", "line", "text", "_ref_order"], "[" + lines.joined(separator: ",") + "]")
    }

    private var customers: EntityClass { get throws { try shop.objects("Customer") } }

    /// Returns the statements over objects that `body` runs.
    private func statements(_ body: () throws -> Void) rethrows -> [String] {
        let before = trace.count
        try body()
        return trace.all[before...].filter { $0.contains("SELECT") && !$0.hasPrefix("--") }
    }

    private func keys(_ orders: Children<GenericEntity>) throws -> [Int64] { try orders.all().map(\.surrogateKey) }

    @Test("REL-02: a list of 100 parents is shown with its children in 2 statements, with their children in 3; without, it takes 101")
    func children() throws {
        var found: [Int64: [Int64]] = [:], deep: [Int64: [Int64]] = [:], expected: [Int64: [Int64]] = [:]
        let one = try statements {
            for customer in try customers.findAll() { expected[customer.surrogateKey] = try keys(customer.orders) }
        }
        #expect(one.count == 101)
        let two = try statements {
            for customer in try customers.findWithQuery(Query().prefetching("orders")) { found[customer.surrogateKey] = try keys(customer.orders) }
        }
        #expect(two.count == 2 && found == expected && found[91] == [] && found[1]?.count == 3)
        let three = try statements {
            for customer in try customers.findWithQuery(Query().prefetching("orders", "lines")) {
                for order in try customer.orders.all() { deep[order.surrogateKey] = try keys(order.lines) }
            }
        }
        #expect(three.count == 3 && deep.count == 300 && deep.values.allSatisfy { $0.count == 2 && $0 == $0.sorted() })
    }

    @Test("REL-03: parents of a list of children take one statement, and children of one parent get the same object")
    func parents() throws {
        var names: [String] = []
        let ran = try statements {
            let orders = try shop.objects("SalesOrder").findWithQuery(Query().sorted(by: .ascending("surrogateKey")).prefetching("customer"))
            for order in orders { names.append((order.parent(0) as GenericEntity?)?.name ?? "") }
            let one: GenericEntity? = orders[0].parent(0), same: GenericEntity? = orders[90].parent(0)
            #expect(one === same && one != nil)
        }
        #expect(ran.count == 2 && names.count == 300 && names[0] == "Customer 2" && !names.contains(""))
    }

    @Test("pages of a list, of a cursor and a list that is there already are given their children with one statement each")
    func pages() async throws {
        let list = try customers.list(Query().prefetching("orders"), pageSize: 50)
        let page = try statements { for position in 0..<50 { _ = try keys(list.object(at: position).orders) } }
        #expect(page.count == 2)
        let cursor = try customers.cursor(Query().prefetching("orders"), pageSize: 50)
        let all = try statements { for customer in cursor { _ = try keys(customer.orders) } }
        #expect(all.count == 5, "two statements for each of two pages, and one for a page that has no row any more")
        let found = try await customers.findAll()
        let later = try statements {
            try found.prefetch("orders")
            for customer in found { _ = try keys(customer.orders) }
        }
        #expect(later.count == 1)
        let again = try statements { try found.prefetch("orders") }
        #expect(again.isEmpty, "what is known is not read again")
        let twin = try await customers.findWithQuery(Query().take(3).prefetching("orders", "lines"))
        let none = try statements { for customer in twin { for order in try customer.orders.all() { _ = try order.lines.all() } } }
        #expect(none.isEmpty)
    }

    @Test("children in memory stay beside those that are read along; they have their parent")
    func memory() throws {
        let found = try customers.findAll()
        let new = try shop.newOrder(of: found[0])
        try found.prefetch("orders")
        let orders = try found[0].orders.all()
        #expect(orders.count == 4 && orders.last === new)
        let parent: GenericEntity? = orders[0].parent(0)
        #expect(parent === found[0])
    }

    @Test("an unknown relationship is an error, and rows have none to read along")
    func errors() throws {
        for query in [Query().prefetching("colours"), Query().prefetching("orders", "customer", "colours")] {
            #expect(#expect(throws: ObjectError.self) { try customers.findWithQuery(query) }?.code == .noSuchRelationship)
        }
        #expect(#expect(throws: ObjectError.self) { try customers.findAll().prefetch("colours") }?.code == .noSuchRelationship)
        let rows = Query().from("Customer").prefetching("orders")
        #expect(#expect(throws: ObjectError.self) { try shop.database.executeQuery(rows) }?.code == .invalidQuery)
    }

    @Test("relationships that only attributes tie are read along as well")
    func mapped() throws {
        let parent = ObjectModel(
            name: "Region", attributes: [AttributeModel(name: "code", type: .string), AttributeModel(name: "year", type: .int)], primaryKey: ["code"],
            relationships: [
                RelationshipModel(
                    name: "sales", target: "Sale", cardinality: .oneToMany,
                    mapping: [.init(source: "code", target: "region"), .init(source: "year", target: "year")])
            ])
        let child = ObjectModel(
            name: "Sale",
            attributes: [
                AttributeModel(name: "id", type: .long), AttributeModel(name: "region", type: .string), AttributeModel(name: "year", type: .int),
            ], primaryKey: ["id"])
        let shop = try Shop(PackageModel(name: "Sales", objects: [parent, child]))
        try shop.importRows("Region", ["code", "year"], #"[[1,"N",1],[2,"S",1],[3,"S",2]]"#)
        try shop.importRows("Sale", ["id", "region", "year"], #"[[11,1,"S",1],[12,2,"N",1],[13,3,"S",1],[14,4,"S",3]]"#)
        let regions = try shop.objects("Region").findWithQuery(Query().prefetching("sales"))
        #expect(try regions.map { try keys($0.children(0)) } == [[12], [11, 13], []])
        // An object that was changed in memory is read by a query of its own.
        let changed = try shop.objects("Region").findAll()
        try changed[2].set("year", 3)
        try changed.prefetch("sales")
        #expect(try keys(changed[2].children(0)) == [14])
    }
}
