import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Statements are prepared once, kept in a limited number, and prepared again when they no longer fit.
    @Suite struct StatementCacheTests {
        let database: PostgreSQLTestDatabase
        init() throws { database = try PostgreSQLTestDatabase() }

        private func prepared(_ connection: PostgreSQLConnection) throws -> PostgreSQLValue? {
            var count: PostgreSQLValue?
            // This statement is one of them.
            try connection.forEachRow("SELECT count(*) FROM pg_prepared_statements") { count = $0[0] }
            return count
        }

        @Test("the server keeps no more statements than the cache")
        func bounded() throws {
            let connection = try database.connect { $0.statementCacheSize = 4 }
            for round in 0..<3 {
                for number in 0..<20 { #expect(try connection.first("SELECT \(number) + \(round)") == [PostgreSQLValue(number + round)]) }
            }
            #expect(connection.preparedStatements == 4)
            // The last one that left the cache goes with the next preparation.
            #expect(try (prepared(connection)?.integer ?? 0) <= 5)
        }

        @Test("a used statement stays, the one that was used least recently goes")
        func leastRecentlyUsed() throws {
            let connection = try database.connect { $0.statementCacheSize = 3 }
            for sql in ["SELECT 1", "SELECT 2", "SELECT 3", "SELECT 1", "SELECT 4"] { try connection.execute(sql) }
            var texts: Set<String> = []
            try connection.forEachRow("SELECT statement FROM pg_prepared_statements") { texts.insert($0[0].text ?? "") }
            #expect(texts.isSuperset(of: ["SELECT 1", "SELECT 4"]))
            #expect(!texts.contains("SELECT 2"))
        }

        @Test("a batch may have more statements than the cache")
        func batchBeyondCache() throws {
            let connection = try database.connect { $0.statementCacheSize = 2 }
            let results = try connection.batch { batch in
                for number in 0..<10 { batch.add("SELECT \(number)") }
            }
            #expect(results.map(\.rows) == (0..<10).map { [[PostgreSQLValue($0)]] })
            #expect(connection.preparedStatements == 2)
        }

        @Test("a statement whose columns have changed is prepared again, and inside of a transaction the transaction can be repeated")
        func changedColumns() throws {
            let connection = try database.connect(), other = try database.connect()
            try connection.run(script: "CREATE TABLE t (a bigint); INSERT INTO t VALUES (1)")
            #expect(try connection.first("SELECT * FROM t") == [1])
            try other.run(script: "ALTER TABLE t ADD b text DEFAULT 'x'")
            #expect(try connection.first("SELECT * FROM t") == [1, "x"])
            try other.run(script: "ALTER TABLE t ADD c text DEFAULT 'y'")
            var attempts = 0
            func attempt() throws -> [PostgreSQLValue]? {
                attempts += 1
                return try connection.transaction { try $0.first("SELECT * FROM t") }
            }
            let error = #expect(throws: PostgreSQLError.self) { try attempt() }
            #expect(error?.code == .staleStatement)
            #expect(error?.canBeRepeated == true)
            #expect(try attempt() == [1, "x", "y"])
            try other.run(script: "ALTER TABLE t ADD d text DEFAULT 'z'")
            let inBatch = #expect(throws: PostgreSQLError.self) {
                try connection.batch { batch in
                    batch.add("SELECT 1")
                    batch.add("SELECT * FROM t")
                }
            }
            #expect(inBatch?.code == .staleStatement)
            #expect(inBatch?.batchIndex == 1)
            #expect(try connection.batch { $0.add("SELECT * FROM t") }[0].rows == [[1, "x", "y", "z"]])
        }

        @Test("statements that the caller has deallocated are prepared again")
        func deallocated() throws {
            let connection = try database.connect()
            #expect(try connection.first("SELECT 1") == [1])
            try connection.run(script: "DEALLOCATE ALL")
            #expect(try connection.first("SELECT 1") == [1])
        }
    }
}
