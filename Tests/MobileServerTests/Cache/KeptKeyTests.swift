import MobileModel
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// The keys of rows in the back end, as the server's state keeps them.
@Suite struct KeptKeyTests {
    /// Keys as texts, and whether SQLite keeps them as integers.
    private static let keys: [(text: String, isInteger: Bool)] = [
        ("0", true), ("5", true), ("-5", true), ("10", true), ("9223372036854775807", true), ("-9223372036854775808", true),
        ("9223372036854775808", false), ("1e19", false), ("1.5", false), ("5.0", false), ("-0", false), ("007", false), ("\"5\"", false),
        ("\"\"", false),
        ("[5,\"a\"]", false), ("{\"hex\":\"05\"}", false), ("\"\u{0}\"", false),
    ]

    private func state(_ bench: StateBench) throws -> any StateStore { try bench.configuration.openStateStore(createsFile: true) }

    @Test("each key is one key, is found, and has its text again", .stateInFile) func texts() throws {
        let bench = try StateBench(.sqlite), state = try state(bench)
        defer { try? state.close() }
        let insert = "INSERT INTO _key (object, k, sk) VALUES (1, \(state.dialect.keptKey("?1")), ?2)"
        try state.write(label: "test") { connection in
            for (index, key) in Self.keys.enumerated() { try connection.execute(insert, [.text(key.text), .integer(Int64(index))]) }
        }
        try state.read { connection in
            for (index, key) in Self.keys.enumerated() {
                let sql = "SELECT sk, CAST(k AS TEXT), typeof(k) FROM _key WHERE object = 1 AND k = \(state.dialect.keptKey("?1"))"
                let found = try connection.rows(sql, [.text(key.text)])
                #expect(found == [[.integer(Int64(index)), .text(key.text), .text(key.isInteger ? "integer" : "text")]])
            }
        }
        for key in Self.keys {
            #expect(throws: StoreError.self) { try state.write(label: "test") { _ = try $0.execute(insert, [.text(key.text), -1]) } }
        }
    }

    @Test(
        "a release that knows texts only can add no integer, whether it is there or not", .stateInFile, arguments: ["5", "6", "-9223372036854775808"])
    func earlierRelease(key: String) throws {
        let bench = try StateBench(.sqlite), state = try state(bench)
        defer { try? state.close() }
        try state.write(label: "test") { _ = try $0.execute("INSERT INTO _key (object, k, sk) VALUES (1, 5, 1)") }
        let insert = "INSERT INTO _key (object, k, sk) VALUES (1, ?1, 2) ON CONFLICT (object, k) DO NOTHING"
        let error = #expect(throws: StoreError.self) { try state.write(label: "test") { _ = try $0.execute(insert, [.text(key)]) } }
        #expect(error?.code == .constraint)
        for other in Self.keys where !other.isInteger {
            try state.write(label: "test") { _ = try $0.execute(insert.replacing("2)", with: "abs(random()))"), [.text(other.text)]) }
        }
        #expect(try state.read { try $0.number("SELECT count(*) FROM _key") } == Int64(1 + Self.keys.count { !$0.isInteger }))
    }

    @Test("a key is found in its index", .stateInFile) func plans() throws {
        let bench = try StateBench(.sqlite), state = try state(bench)
        defer { try? state.close() }
        try state.write(label: "test") { connection in
            try connection.execute("CREATE TEMP TABLE _load (k TEXT)")
            for sql in [
                "SELECT sk FROM _key WHERE object = 1 AND k = \(state.dialect.keptKey("?1"))",
                "SELECT m.sk FROM _load AS l JOIN _key AS m ON m.object = ?1 AND m.k = \(state.dialect.keptKey("l.k"))",
            ] {
                let plan = try connection.rows("EXPLAIN QUERY PLAN " + sql, ["5"]).compactMap { $0.last?.text }
                #expect(plan.last?.hasSuffix("USING PRIMARY KEY (object=? AND k=?)") == true, "\(plan)")
            }
        }
    }

    @Test(arguments: [
        (0, "0"), (9, "9"), (10, "10"), (-1, "-1"), (1_000_000_007, "1000000007"), (.max, "9223372036854775807"), (.min, "-9223372036854775808"),
    ])
    func `the digits of a key are appended in their order`(key: Int64, text: String) {
        var bytes = Array("[".utf8)
        bytes.append(decimal: key)
        #expect(bytes == Array(("[" + text).utf8))
    }

    @Test("integers of any size are the same rows in a first load and in a later comparison", arguments: BackEndKind.allCases)
    func numbers(kind: BackEndKind) throws {
        let model = try PackageModel(
            json: """
                {
                  "format": 1, "name": "Numbers", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                  "objects": [{
                    "name": "Number", "attributes": [{"name": "number", "type": "long"}, {"name": "count", "type": "int"}],
                    "primaryKey": ["number"], "binding": {"backEnd": "enterprise", "table": "number"}}]
                }
                """)
        let table = "CREATE TABLE number (number BIGINT PRIMARY KEY, count BIGINT NOT NULL)"
        let server = try TestServer(model: model, tables: table, postgreSQL: table, on: kind)
        let numbers: [Int64] = [.min, -10, -9, -1, 0, 1, 2, 9, 10, 11, 99, 100, 1 << 53, .max]
        try server.backEnd { for number in numbers { try $0.execute("INSERT INTO number (number, count) VALUES (?1, 0)", [.integer(number)]) } }
        let device = try TestDevice(server)
        let loaded = try device.synchronize()
        #expect(loaded.upserts == ["Number": numbers.count])
        func keys() throws -> [[Value]] { try server.state { try $0.rows("SELECT CAST(k AS TEXT), sk FROM _key ORDER BY sk", []) } }
        let first = try keys()
        #expect(Set(first.compactMap { $0[0].text }) == Set(numbers.map { "\($0)" }))
        try server.restart()
        try server.backEnd { try $0.execute("UPDATE number SET count = 1") }
        let changed = try device.synchronize()
        #expect(changed.upserts == ["Number": numbers.count] && changed.deletes.isEmpty)
        #expect(try keys() == first)
        try server.backEnd { try $0.execute("DELETE FROM number WHERE number <> 10") }
        let emptied = try device.synchronize()
        #expect(emptied.deletes == ["Number": numbers.count - 1])
    }
}
