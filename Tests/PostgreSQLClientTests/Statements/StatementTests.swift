import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Statements outside of transactions.
    @Suite struct StatementTests {
        let database: PostgreSQLTestDatabase
        let connection: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            connection = try database.connect()
            try connection.run(script: "CREATE TABLE city (id bigint PRIMARY KEY, name text NOT NULL); CREATE TABLE empty (id bigint)")
        }

        @Test("changes count their rows, queries return theirs")
        func counts() throws {
            #expect(try connection.execute("INSERT INTO city SELECT g, 'c' || g FROM generate_series(1, ?1) g", [5]) == 5)
            #expect(try connection.execute("UPDATE city SET name = ?2 WHERE id > ?1", [3, "x"]) == 2)
            #expect(try connection.execute("DELETE FROM city WHERE id = ?1", [99]) == 0)
            #expect(try connection.execute("CREATE TABLE t (a int)") == 0)
            #expect(try connection.rows("SELECT id, name FROM city WHERE id < ?1 ORDER BY id", [3]) == [[1, "c1"], [2, "c2"]])
            #expect(try connection.first("SELECT name FROM city ORDER BY id DESC") == ["x"])
            #expect(try connection.first("SELECT 1 FROM empty") == nil)
            #expect(try connection.rows("UPDATE city SET name = 'y' WHERE id = 1 RETURNING id, name") == [[1, "y"]])
            #expect(try connection.rows("SELECT ?1 || '?1' AS \"?1\" -- ?2", ["a"]) == [["a?1"]])
        }

        @Test("a script runs completely or not at all")
        func script() throws {
            #expect(throws: PostgreSQLError.self) { try connection.run(script: "INSERT INTO empty VALUES (1); SELECT 1/0") }
            #expect(try connection.first("SELECT count(*) FROM empty") == [0])
        }

        @Test("a failure has code, SQLSTATE and position")
        func failures() throws {
            let syntax = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT ?1::text, 'ü' FRM city", ["a"]) }
            #expect(syntax?.code == .syntax)
            #expect(syntax?.position == 26)
            #expect(syntax?.batchIndex == nil)
            for sql in ["SELECT * FROM nowhere", "SELECT nothing FROM city", "SELECT nothing()", "SELECT 1 FROM no.city"] {
                let missing = #expect(throws: PostgreSQLError.self) { try connection.execute(sql) }
                #expect(missing?.code == .undefinedObject)
            }
            let division = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1 / ?1::int", [0]) }
            #expect(division?.code == .invalidValue)
            #expect(division?.sqlState == "22012")
            #expect(division?.description == "invalidValue: division by zero (SQLSTATE 22012)")
            #expect(connection.isOpen)
        }

        @Test("a refused row names constraint, table and column")
        func violations() throws {
            try connection.run(
                script: """
                    CREATE TABLE parent (id bigint PRIMARY KEY);
                    CREATE TABLE child (id bigint CONSTRAINT child_key UNIQUE, parent bigint CONSTRAINT child_parent REFERENCES parent,
                        age bigint CONSTRAINT child_age CHECK (age > 0), name text NOT NULL);
                    INSERT INTO child VALUES (1, NULL, 1, 'a')
                    """)
            let insert = "INSERT INTO child VALUES (?1, ?2, ?3, ?4)"
            let cases: [([PostgreSQLValue], PostgreSQLError.Violation.Kind, String?, String?)] = [
                ([1, .null, 1, "b"], .unique, "child_key", nil), ([2, 7, 1, "b"], .foreignKey, "child_parent", nil),
                ([2, .null, 0, "b"], .check, "child_age", nil), ([2, .null, 1, .null], .notNull, nil, "name"),
            ]
            for (values, kind, constraint, column) in cases {
                let error = #expect(throws: PostgreSQLError.self) { try connection.execute(insert, values) }
                #expect(error?.code == .constraint)
                #expect(error?.violation?.kind == kind)
                #expect(error?.violation?.constraint == constraint)
                #expect(error?.violation?.column == column)
                #expect(error?.violation?.table == "child")
                #expect(error?.violation?.schema == "public")
            }
        }

        @Test("a million rows arrive one by one in the memory of a few")
        func millionRows() throws {
            var count = 0, sum: Int64 = 0
            try connection.forEachRow("SELECT g FROM generate_series(1::bigint, 1000) g") { sum += $0[0].integer ?? 0 }
            let before = ResidentMemory.largest
            sum = 0
            try connection.forEachRow(
                "SELECT g, repeat('x', 1000) FROM generate_series(1::bigint, ?1) g", [1_000_000], deadline: after(.seconds(300))
            ) { row in
                count += 1
                sum += row[0].integer ?? 0
                if count == 1 { #expect(row.columnNames == ["g", "repeat"] && row.count == 2 && row.values[1].text?.count == 1000) }
            }
            #expect(count == 1_000_000)
            #expect(sum == 500_000_500_000)
            // In one result the rows would take more than 1 GB.
            #expect(ResidentMemory.largest - before < 500_000_000)
        }

        @Test("a receiver that throws ends its statement, and the connection stays usable")
        func refusingReceiver() throws {
            struct Enough: Error {}
            var count = 0
            #expect(throws: Enough.self) {
                try connection.forEachRow("SELECT g FROM generate_series(1, 100000000) g") { _ in
                    count += 1
                    if count == 10 { throw Enough() }
                }
            }
            #expect(count == 10)
            #expect(try connection.first("SELECT 1") == [1])
        }

        @Test("a row outlives its statement, and the connection is not used inside of its own statement")
        func rowsAndNesting() throws {
            var kept: [PostgreSQLRow] = []
            try connection.forEachRow("SELECT g, 'r' || g FROM generate_series(1, 3) g") { row in
                kept.append(row)
                let error = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT 1") }
                #expect(error?.code == .misuse)
            }
            #expect(kept.map(\.values) == [[1, "r1"], [2, "r2"], [3, "r3"]])
        }

        @Test("COPY as a statement is refused, and the connection stays usable for rows in, and is closed for rows out")
        func copyAsStatement() throws {
            let copyIn = #expect(throws: PostgreSQLError.self) { try connection.execute("COPY city FROM STDIN") }
            #expect(copyIn?.code == .misuse)
            #expect(try connection.first("SELECT 1") == [1])
            let copyOut = #expect(throws: PostgreSQLError.self) { try connection.execute("COPY city TO STDOUT") }
            #expect(copyOut?.code == .misuse)
            #expect(!connection.isOpen)
        }
    }
}
