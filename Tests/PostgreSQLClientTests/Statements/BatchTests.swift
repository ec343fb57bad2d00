import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Statements that go together.
    @Suite struct BatchTests {
        let database: PostgreSQLTestDatabase
        let connection: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            connection = try database.connect()
            try connection.run(script: "CREATE TABLE item (id bigint PRIMARY KEY, body text)")
        }

        private var count: PostgreSQLValue? { get throws { try connection.first("SELECT count(*) FROM item")?[0] } }

        @Test("each statement has its result")
        func results() throws {
            let results = try connection.batch { batch in
                batch.add("INSERT INTO item VALUES (?1, ?2)", [1, "a"])
                batch.add("INSERT INTO item VALUES (?1, ?2)", [2, "b"])
                batch.add("UPDATE item SET body = body || '!' RETURNING id, body")
                batch.add("SELECT 1 WHERE false")
            }
            #expect(results.map(\.affectedRows) == [1, 1, 2, 0])
            #expect(results.map(\.rows) == [[], [], [[1, "a!"], [2, "b!"]], []])
            #expect(try connection.batch { _ in }.isEmpty)
        }

        @Test("the first failure is thrown with its number, nothing remains, and the connection stays usable")
        func failure() throws {
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.batch { batch in
                    for id in [1, 2, 3, 2, 4, 4] { batch.add("INSERT INTO item VALUES (?1, 'x')", [PostgreSQLValue(id)]) }
                }
            }
            #expect(error?.code == .constraint)
            #expect(error?.violation?.constraint == "item_pkey")
            #expect(error?.batchIndex == 3)
            #expect(try count == 0)
            #expect(try connection.execute("INSERT INTO item VALUES (1, 'x')") == 1)
        }

        @Test("a statement that cannot be prepared, or a wrong value, refuses the whole batch")
        func refusal() throws {
            let unknown = #expect(throws: PostgreSQLError.self) {
                try connection.batch { batch in
                    batch.add("INSERT INTO item VALUES (1, 'x')")
                    batch.add("INSERT INTO nowhere VALUES (1)")
                }
            }
            #expect(unknown?.code == .undefinedObject)
            #expect(unknown?.batchIndex == 1)
            let wrong = #expect(throws: PostgreSQLError.self) {
                try connection.batch { batch in
                    batch.add("INSERT INTO item VALUES (1, 'x')")
                    batch.add("INSERT INTO item VALUES (?1, ?2)", [2, "\0"])
                }
            }
            #expect(wrong?.code == .invalidText)
            #expect(wrong?.batchIndex == 1)
            #expect(try count == 0)
        }

        @Test("inside of a transaction a batch is a part of it")
        func inTransaction() throws {
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                try connection.transaction { transaction in
                    try transaction.batch { $0.add("INSERT INTO item VALUES (1, 'x')") }
                    #expect(transaction.isInTransaction)
                    throw Stop()
                }
            }
            #expect(try count == 0)
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction { transaction in
                    try transaction.batch { $0.add("SELECT 1 / 0") }
                }
            }
            #expect(error?.batchIndex == 0)
            #expect(!connection.isInTransaction)
        }

        /// Both directions carry 40 MB, and the buffers of a socket about 200 KB: a client that only sends would never end.
        @Test("10,000 statements with large values and large results do not block each other")
        func largerThanSocketBuffers() throws {
            let body = String(repeating: "b", count: 4000)
            let results = try connection.batch(deadline: after(.seconds(120))) { batch in
                for id in 0..<10_000 { batch.add("INSERT INTO item VALUES (?1, ?2) RETURNING id, body", [PostgreSQLValue(id), .text(body)]) }
            }
            #expect(results.count == 10_000)
            #expect(results.enumerated().allSatisfy { $1.rows == [[PostgreSQLValue($0), .text(body)]] })
            #expect(try count == 10_000)
        }

        @Test("a failure in the middle of a batch that is still being sent")
        func failureWhileSending() throws {
            let body = String(repeating: "b", count: 4000)
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.batch(deadline: after(.seconds(120))) { batch in
                    for id in 0..<5000 {
                        batch.add("INSERT INTO item VALUES (?1, ?2) RETURNING body", [PostgreSQLValue(id == 100 ? 99 : id), .text(body)])
                    }
                }
            }
            #expect(error?.batchIndex == 100)
            #expect(try count == 0)
        }

        @Test("a batch past its deadline is cancelled, and the connection stays usable")
        func deadline() throws {
            let start = ContinuousClock.now
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.batch(deadline: after(.milliseconds(200))) { batch in
                    batch.add("INSERT INTO item VALUES (1, 'x')")
                    batch.add("SELECT pg_sleep(60)")
                    batch.add("SELECT pg_sleep(60)")
                }
            }
            #expect(error?.code == .timeout)
            #expect(error?.batchIndex == nil)
            #expect(.now - start < .seconds(30))
            #expect(try count == 0)
        }

        @Test("COPY in a batch is refused")
        func copy() throws {
            let error = #expect(throws: PostgreSQLError.self) { try connection.batch { $0.add("COPY item FROM STDIN") } }
            #expect(error?.code == .misuse || error?.code == .other)
        }
    }
}
