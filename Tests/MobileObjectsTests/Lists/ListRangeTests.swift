import MobileObjects
import MobileStore
import Testing

/// The objects of a range of positions, measured in rows that the database reads for them.
@Suite struct ListRangeTests {
    private let shop: Shop
    private let trace = StatementTrace()

    init() throws {
        let trace = trace
        shop = try Shop(trace: { trace.append($0) })
        let rows = (1...1000).map { "[\($0),\"c\($0)\",\"Name\"]" }
        try shop.importRows("Customer", ["id", "name"], "[\(rows.joined(separator: ","))]")
    }

    /// Returns the keys of some positions, and the number of statements that read them.
    private func read(_ positions: Range<Int>, of list: LazyEntityList<GenericEntity>) throws -> (keys: [Int64], statements: Int) {
        let before = trace.count
        let keys = try list.objects(positions).map(\.surrogateKey)
        return (keys, trace.all[before...].filter { $0.contains("SELECT") }.count)
    }

    @Test(
        "a range reads the pages with its positions, and none after the end of the list",
        arguments: [(0..<10, 1), (0..<100, 1), (95..<105, 2), (0..<1000, 10), (5..<5, 0), (-5..<0, 0), (-5..<3, 1)])
    func pages(positions: Range<Int>, pages: Int) throws {
        let list = try shop.objects("Customer").list(pageSize: 100, keptPages: 20)
        let (keys, statements) = try read(positions, of: list)
        #expect(keys == positions.clamped(to: 0..<1000).map { Int64($0 + 1) })
        #expect(statements <= pages * 2, "\(statements) statements for \(pages) pages")
        // They are kept.
        #expect(try read(positions, of: list).statements == 0)
    }

    @Test("an end far after the list's end costs as much as the list's own", arguments: [990..<Int.max, 990..<1_000_000_000, 990..<1000])
    func end(positions: Range<Int>) throws {
        let list = try shop.objects("Customer").list(pageSize: 100)
        let (keys, statements) = try read(positions, of: list)
        #expect(keys == (991...1000).map { Int64($0) })
        #expect(statements <= 4)
    }

    @Test("a range that begins after the end is empty, and reads no rows there")
    func behind() throws {
        let list = try shop.objects("Customer").list(pageSize: 100)
        #expect(try read(5_000_000..<Int.max, of: list).keys.isEmpty)
        #expect(try read(0..<Int.max, of: list).keys.count == 1000)
    }

    @Test("the same without blocking a thread")
    func asynchronous() async throws {
        let list = try shop.objects("Customer").list(pageSize: 100)
        #expect(try await list.objects(995..<Int.max).map(\.surrogateKey) == [996, 997, 998, 999, 1000])
        #expect(try await list.objects(3..<3).isEmpty)
    }
}
