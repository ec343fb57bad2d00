import MobileExecution
import PostgreSQLTestSupport
import Testing

@testable import PostgreSQLClient

extension PostgreSQLTests {
    /// Rows in bulk.
    @Suite struct CopyTests {
        let database: PostgreSQLTestDatabase
        let connection: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            connection = try database.connect()
            try connection.run(
                script: "CREATE TABLE item (id bigint PRIMARY KEY, name text, bytes bytea, number double precision, price numeric, day date)")
        }

        private let columns = ["id", "name", "bytes", "number", "price", "day"]
        private var count: PostgreSQLValue? { get throws { try connection.first("SELECT count(*) FROM item")?[0] } }

        @Test("every kind of value arrives, with characters that the format uses itself")
        func values() throws {
            let rows: [[PostgreSQLValue]] = [
                [1, "\\N\t\r\n\\.'\"ü🌍\u{8}\u{b}", .blob((0...255).map { $0 }), 0.1, "12.50", "2026-11-23"], [2, .null, .null, .null, .null, .null],
                [3, "", .blob([]), .real(-.infinity), "-0.000000000000000001", "0001-01-01"],
                [4, "\\.", .blob([92, 46]), 1e-300, "1", "9999-12-31"],
                [5, "\\N", .blob([0]), -0.0, "0", "2000-02-29"],
            ]
            let written = try connection.copy(into: "public.item", columns: columns) { copy in
                for row in rows { try copy.add(row) }
                #expect(copy.rowCount == 5)
            }
            #expect(written == 5)
            #expect(try connection.rows("SELECT * FROM item ORDER BY id") == rows)
            #expect(try connection.copy(into: "item", columns: columns) { _ in } == 0)
        }

        @Test("rows leave in pieces of 64 KB and at most one row")
        func pieces() throws {
            let sizes = SystemLock<[Int]>([])
            var copy = PostgreSQLCopy(columns: 2) { piece in sizes.withLock { $0.append(piece.count) } }
            for id in 0..<20_000 { try copy.add([PostgreSQLValue(id), "12345678901234567890"]) }
            #expect(sizes.withLock { $0.allSatisfy { (65_536..<65_600).contains($0) } && $0.count > 5 })
            try copy.flush()
            try copy.flush()
            // 88,890 digits, and 20 letters with a tab and a line break in each row.
            let written: Int = sizes.withLock { $0.reduce(0, +) }
            #expect(written == 88_890 + 20_000 * 22)
        }

        @Test("100,000 rows go into a temporary table in a transaction")
        func manyRows() throws {
            try connection.transaction { transaction in
                try transaction.run(script: "CREATE TEMPORARY TABLE stage (id bigint, name text) ON COMMIT DROP")
                let written = try transaction.copy(into: "stage", columns: ["id", "name"], deadline: after(.seconds(300))) { copy in
                    for id in 0..<100_000 { try copy.add([PostgreSQLValue(id), "name"]) }
                }
                #expect(written == 100_000)
                #expect(try transaction.first("SELECT count(DISTINCT id), sum(id) FROM stage") == [100_000, "4999950000"])
                #expect(try transaction.execute("INSERT INTO item (id, name) SELECT id, name FROM stage WHERE id < 10") == 10)
            }
            #expect(try count == 10)
        }

        @Test("a refused row refuses all rows, and the connection stays usable")
        func refusedRow() throws {
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.copy(into: "item", columns: ["id"]) { copy in
                    for id in 0..<50_000 { try copy.add([PostgreSQLValue(id == 100 ? 99 : id)]) }
                }
            }
            #expect(error?.code == .constraint)
            #expect(error?.violation?.constraint == "item_pkey")
            #expect(try count == 0)
        }

        @Test("a source that throws, wrong values and wrong tables write nothing, and the connection stays usable")
        func refusals() throws {
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                try connection.copy(into: "item", columns: ["id"]) { copy in
                    for id in 0..<50_000 { try copy.add([PostgreSQLValue(id)]) }
                    throw Stop()
                }
            }
            let zero = #expect(throws: PostgreSQLError.self) {
                try connection.copy(into: "item", columns: ["id", "name"]) { copy in
                    try copy.add([1, "a"])
                    try copy.add([2, "a\0"])
                }
            }
            #expect(zero?.message == "row 2 of a COPY, column 2: a text has U+0000 as its character 2, which PostgreSQL cannot store")
            let few = #expect(throws: PostgreSQLError.self) { try connection.copy(into: "item", columns: ["id", "name"]) { try $0.add([1]) } }
            #expect(few?.code == .misuse)
            let table = #expect(throws: PostgreSQLError.self) { try connection.copy(into: "nowhere", columns: ["id"]) { try $0.add([1]) } }
            #expect(table?.code == .undefinedObject)
            let value = #expect(throws: PostgreSQLError.self) { try connection.copy(into: "item", columns: ["id"]) { try $0.add(["x"]) } }
            #expect(value?.code == .invalidValue)
            #expect(try count == 0)
        }

        @Test("a COPY past its deadline is cancelled, and the connection stays usable")
        func deadline() throws {
            let other = try database.connect()
            try other.run(script: "BEGIN; LOCK TABLE item IN ACCESS EXCLUSIVE MODE")
            let waiting = #expect(throws: PostgreSQLError.self) {
                try connection.copy(into: "item", columns: ["id"], deadline: after(.milliseconds(200))) { try $0.add([1]) }
            }
            #expect(waiting?.code == .timeout)
            other.close()
            try connection.run(
                script: """
                    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END';
                    CREATE TRIGGER slow BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION slow()
                    """)
            let rows = #expect(throws: PostgreSQLError.self) {
                try connection.copy(into: "item", columns: ["id", "name"], deadline: after(.milliseconds(200))) { copy in
                    // More than the socket takes: the last pieces wait for the trigger.
                    let name = String(repeating: "n", count: 1000)
                    for id in 0..<10_000 { try copy.add([PostgreSQLValue(id), .text(name)]) }
                }
            }
            #expect(rows?.code == .timeout)
            #expect(connection.isOpen)
            #expect(try count == 0)
        }
    }
}
