import Foundation
import MobileExecution
import MobileStore
import Testing

@Suite struct PageSelectTests {
    let cities: Cities
    var database: Database { cities.database }

    init() throws { cities = try Cities() }

    private let byName = PageQuery(["id", "\"name\""], from: "city", where: "name = ?1 AND id > ?2", orderedBy: [.init("id")])

    @Test(
        "a page has the first rows that its values choose, and tells whether there are more",
        arguments: [
            (0, 10, Array(stride(from: 7, to: 100, by: 10)), false), (200, 4, [207, 217, 227, 237], false),
            (200, 5, [207, 217, 227, 237, 247], true),
            (200, 100, [207, 217, 227, 237, 247], true), (247, 1, [], true),
        ] as [(Int64, Int, [Int64], Bool)])
    func firstRows(behind: Int64, size: Int, expected: [Int64], isAtEnd: Bool) throws {
        let select = try PageSelect(byName), values: [Value] = ["city 7", .integer(behind)]
        for page in [try database.page(select, values, size: size), try database.read { try $0.page(select, values, size: size) }] {
            #expect(page.map { $0.integer(0) } == expected && page.isAtEnd == isAtEnd)
            #expect(page.allSatisfy { $0.string(1) == "city 7" } && page.columnNames == ["id", "name"])
        }
    }

    @Test("what SQLite has to sort is in order all the same", arguments: [1, 7, 250])
    func sorted(size: Int) throws {
        let query = PageQuery(["name", "id"], from: "city", orderedBy: [.init("people", descending: true), .init("id")])
        let expected = try database.read { try $0.rows("SELECT id FROM city ORDER BY people DESC, id LIMIT \(size)").map { $0[0] } }
        #expect(try database.page(PageSelect(query), size: size).map { $0.value(1) } == expected)
    }

    @Test func `a page that somebody holds stays as it is`() throws {
        let select = try PageSelect(byName)
        let pages = try (0...9).map { try database.page(select, [.text("city \($0)"), 0], size: 30) }
        for (index, page) in pages.enumerated() {
            #expect(page.count == 25 && page.allSatisfy { $0.string(1) == "city \(index)" && $0.integer(0) % 10 == Int64(index) })
        }
    }

    @Test func `inside of a write it sees what was written, outside of it nothing before the commit`() throws {
        let select = try PageSelect(byName), database = database
        try database.write { connection in
            try connection.execute("INSERT INTO city VALUES (300, 'Cork', 1)")
            #expect(try database.page(select, ["Cork", 0]).count == 1)
            #expect(try onAnotherThread { try database.page(select, ["Cork", 0]).count }.get() == 0)
        }
        #expect(try database.page(select, ["Cork", 0]).count == 1)
        // No snapshot remains that would hide later rows.
        try database.write { try $0.execute("INSERT INTO city VALUES (301, 'Cork', 1)") }
        #expect(try database.page(select, ["Cork", 0]).count == 2)
    }

    @Test func `any number of threads use one select`() async throws {
        let select = try PageSelect(byName), database = database
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<8 {
                group.addTask {
                    try (0..<100).allSatisfy { round in
                        let number = (index + round) % 10
                        return try database.page(select, [.text("city \(number)"), 0], size: 3).map { $0.integer(0) % 10 }
                            == .init(repeating: Int64(number), count: 3)
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func `a page ends early when it is large`() throws {
        let page = try database.page(PageSelect(byName), ["city 7", 0], size: 30, maximumBytes: .bytes(1))
        #expect(page.map { $0.integer(0) } == [7] && !page.isAtEnd)
    }

    @Test func `bad input is told, and the next page is right`() throws {
        let select = try PageSelect(byName)
        func code(_ body: () throws -> Void) -> StoreError.Code? { #expect(throws: StoreError.self, performing: body)?.code }
        #expect(code { _ = try database.page(select, ["city 7", 0], size: 0) } == .misuse)
        #expect(code { _ = try database.page(select, ["city 7", 0], size: -1) } == .misuse)
        #expect(code { _ = try database.page(select, ["city 7", 0], maximumBytes: .bytes(0)) } == .misuse)
        #expect(code { _ = try database.page(select, ["city 7", 0, 0]) } == .misuse)
        #expect(code { _ = try PageSelect(PageQuery([], from: "city", orderedBy: [.init("id")])) } == .misuse)
        #expect(code { _ = try PageSelect(PageQuery(["id"], from: "city", orderedBy: [])) } == .misuse)
        let wrong = try PageSelect(PageQuery(["id"], from: "town", orderedBy: [.init("id")]))
        #expect(code { _ = try database.page(wrong) } == .sqlite)
        let sorted = try PageSelect(PageQuery(["id"], from: "city", orderedBy: [.init("people"), .init("id")]))
        #expect(code { _ = try database.page(sorted, [0]) } == .misuse)
        #expect(try database.page(select, ["city 7", 0], size: 1).first?.integer(0) == 7)
        try database.close()
        #expect(code { _ = try database.page(select, ["city 7", 0]) } == .closed)
    }

    @Test func `values of every kind are bound`() throws {
        let query = PageQuery(["?1", "?2", "?3", "?4", "?5", "?6"], from: "city", where: "id = 1", orderedBy: [.init("id")])
        let values: [Value] = [.null, .integer(-3), .real(0.25), .text("Gr\u{fc}n"), .text(""), .blob([0, 255])]
        #expect(try database.page(PageSelect(query), values).first?.values == values)
    }

    @Test func `a table that is made anew meanwhile is read as it is then`() throws {
        let select = try PageSelect(byName)
        #expect(try database.page(select, ["city 7", 0], size: 2).count == 2)
        try database.write { try $0.execute("DROP TABLE city; CREATE TABLE city(name TEXT, id INTEGER); INSERT INTO city VALUES ('city 7', 1)") }
        #expect(try database.page(select, ["city 7", 0], size: 2).map(\.values) == [[1, "city 7"]])
    }
}

/// Runs `body` on a new thread and waits for it.
private func onAnotherThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) -> Result<R, any Error> {
    let box = ResultBox<R>(), done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        let result = Result { try body() }
        box.result.withLock { $0 = result }
        done.signal()
    }
    done.wait()
    return box.result.withLock { $0! }
}

private final class ResultBox<R: Sendable>: Sendable {
    let result = SystemLock<Result<R, any Error>?>(nil)
}
