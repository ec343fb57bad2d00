import MobileObjects
import Testing

/// Order, and parts of results.
@Suite struct SortingTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    private func keys(_ query: Query) throws -> [Int64] {
        try samples.database.entity("Customer").findWithQuery(query).map(\.surrogateKey)
    }

    @Test("QRY-20: sorts by a list of attributes, each up or down, the first one foremost; equal objects by their keys")
    func sort() throws {
        var query = Query()
        query.sortCriteria = [.ascending("lname"), .descending("fname")]
        #expect(try keys(query) == [1, 3, 2, 6, 4, 5])
        #expect(try keys(Query().sorted(by: .descending("lname"))) == [4, 5, 6, 2, 3, 1])
        #expect(try keys(Query().sorted(by: .ascending("credit"))) == [5, 4, 1, 2, 3, 6], "null first; numbers as numbers")
        #expect(try keys(Query().sorted(by: .descending("state"), .ascending("credit"))) == [5, 2, 6, 1, 3, 4])
        #expect(try samples.texts(Query().select("name as n").from("AllType").sorted(by: .descending("n"))) == ["two", "three", "one"])
        #expect(try keys(Query().join("SalesOrder", "s", "s.cust_id", "Customer.id").sorted(by: .descending("s.total"))) == [1, 1, 5, 2])
        #expect(SortOrder.allCases.map(\.rawValue) == [1, 2])
        #expect(throws: ObjectError.self) { try keys(Query().sorted(by: .ascending("nothing"))) }
        #expect(throws: ObjectError.self) { try keys(Query().sorted(by: .ascending("count(*)"))) }
    }

    @Test("QRY-21: sorting by a large, structured or list attribute is refused", arguments: ["manual", "picture", "place", "days"])
    func noOrder(attribute: String) {
        #expect(samples.error(Query().from("AllType").sorted(by: .ascending(attribute))) == .unsupportedType)
        let error = #expect(throws: ObjectError.self) {
            try samples.database.entity("AllType").findWithQuery(Query().sorted(by: .descending(attribute)))
        }
        #expect(error?.code == .unsupportedType)
    }

    @Test("QRY-22: skip leaves rows out, take ends the result, both give pages")
    func skipAndTake() throws {
        #expect(try keys(Query().skip(4)) == [5, 6])
        #expect(try keys(Query().take(2)) == [1, 2])
        #expect(try keys(Query().skip(2).take(3)) == [3, 4, 5])
        #expect(try keys(Query().skip(10)) == [])
        #expect(try keys(Query().take(0)) == [])
        #expect(try keys(Query().skip(5).take(-1)) == [6])
        #expect(try samples.texts(Query().select("id").from("Customer").sorted(by: .descending("id")).skip(1).take(2)) == ["5", "4"])
        var pages: [Int64] = []
        for page in 0..<4 { pages += try keys(Query().sorted(by: .ascending("lname")).skip(page * 2).take(2)) }
        #expect(pages == [1, 2, 3, 6, 4, 5])
        #expect(#expect(throws: ObjectError.self) { try keys(Query().skip(-1)) }?.code == .invalidQuery)
    }

    @Test("QRY-23: distinct objects where a join finds some of them several times")
    func distinct() throws {
        let joined = Query().join("SalesOrder", "s", "s.cust_id", "Customer.id")
        #expect(try keys(joined) == [1, 1, 2, 5])
        #expect(try keys(joined.distinct().sorted(by: .descending("lname"))) == [5, 2, 1])
        #expect(throws: ObjectError.self) { try keys(joined.distinct().sorted(by: .ascending("s.total"))) }
        #expect(throws: ObjectError.self) { try keys(Query().join("SalesOrder", "s", "s.cust_id", "Customer.id", type: .right)) }
        #expect(throws: ObjectError.self) { try keys(Query().select("fname")) }
        #expect(throws: ObjectError.self) { try keys(Query().from("SalesOrder")) }
        #expect(throws: ObjectError.self) { try keys(Query().groupBy("fname")) }
    }
}
