import MobileExecution
import PostgreSQLClient
import PostgreSQLTestSupport
import Testing

extension PostgreSQLTests {
    /// Transactions take effect completely or not at all, and say which.
    @Suite struct TransactionTests {
        let database: PostgreSQLTestDatabase
        let connection: PostgreSQLConnection
        let other: PostgreSQLConnection

        init() throws {
            database = try PostgreSQLTestDatabase()
            connection = try database.connect()
            other = try database.connect()
            try connection.run(script: "CREATE TABLE account (id bigint PRIMARY KEY, balance bigint); INSERT INTO account VALUES (1, 100), (2, 100)")
        }

        private struct Stop: Error {}
        private var balances: [[PostgreSQLValue]] { get throws { try other.rows("SELECT balance FROM account ORDER BY id") } }

        @Test("the result of the body is returned after the commit, and its error after the rollback")
        func commitAndRollback() throws {
            let result = try connection.transaction { transaction in
                try transaction.execute("UPDATE account SET balance = 90 WHERE id = 1")
                #expect(try balances == [[100], [100]])
                return "done"
            }
            #expect(result == "done")
            #expect(try balances == [[90], [100]])
            #expect(throws: Stop.self) {
                try connection.transaction { transaction in
                    try transaction.execute("UPDATE account SET balance = 0")
                    throw Stop()
                }
            }
            #expect(try balances == [[90], [100]])
            #expect(!connection.isInTransaction)
        }

        @Test("isolation and access are the server's")
        func isolation() throws {
            for isolation in [PostgreSQLIsolation.readCommitted, .repeatableRead, .serializable] {
                let level = try connection.transaction(isolation: isolation, access: .readOnly) { transaction in
                    try transaction.first("SELECT current_setting('transaction_isolation'), current_setting('transaction_read_only')")
                }
                #expect(level == [.text(isolation.rawValue.lowercased()), "on"])
            }
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction(access: .readOnly) { try $0.execute("UPDATE account SET balance = 0") }
            }
            #expect(error?.code == .readOnly)
        }

        @Test("a transaction inside of a transaction is refused")
        func nestedTransaction() throws {
            let error = #expect(throws: PostgreSQLError.self) { try connection.transaction { try $0.transaction { _ in } } }
            #expect(error?.code == .misuse)
            #expect(!connection.isInTransaction)
        }

        @Test("a savepoint that fails undoes its own changes, and savepoints nest")
        func savepoints() throws {
            let set = "UPDATE account SET balance = ?2 WHERE id = ?1"
            func failing(_ transaction: PostgreSQLConnection) throws {
                try transaction.savepoint {
                    try transaction.execute(set, [1, 3])
                    try transaction.execute("SELECT 1 / 0")
                }
            }
            func stopping(_ transaction: PostgreSQLConnection) throws {
                try transaction.savepoint {
                    try transaction.execute(set, [2, 4])
                    throw Stop()
                }
            }
            try connection.transaction { transaction in
                try transaction.execute(set, [1, 1])
                try transaction.savepoint {
                    try transaction.execute(set, [2, 2])
                    #expect(throws: PostgreSQLError.self) { try failing(transaction) }
                }
                #expect(throws: Stop.self) { try stopping(transaction) }
            }
            #expect(try balances == [[1], [2]])
            let outside = #expect(throws: PostgreSQLError.self) { try connection.savepoint {} }
            #expect(outside?.code == .misuse)
        }

        @Test("a body that ignores a failed statement does not commit unnoticed")
        func ignoredFailure() throws {
            func run() throws {
                try connection.transaction { transaction in
                    try transaction.execute("UPDATE account SET balance = 0")
                    #expect(throws: PostgreSQLError.self) { try transaction.execute("SELECT 1 / 0") }
                    let next = #expect(throws: PostgreSQLError.self) { try transaction.execute("SELECT 1") }
                    #expect(next?.code == .transactionFailed)
                }
            }
            let error = #expect(throws: PostgreSQLError.self) { try run() }
            #expect(error?.code == .transactionFailed)
            #expect(try balances == [[100], [100]])
        }

        @Test("conflicts of serializable transactions can be repeated")
        func serialization() throws {
            let read = "SELECT sum(balance) FROM account", write = "UPDATE account SET balance = balance - 1 WHERE id = ?1"
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction(isolation: .serializable) { transaction in
                    _ = try transaction.first(read)
                    try other.transaction(isolation: .serializable) { other in
                        _ = try other.first(read)
                        try other.execute(write, [1])
                    }
                    try transaction.execute(write, [2])
                }
            }
            #expect(error?.code == .serialization)
            #expect(error?.canBeRepeated == true)
            #expect(try balances == [[99], [100]])
        }

        @Test("one of two transactions that wait for each other fails and can be repeated")
        func deadlock() throws {
            let process = connection.processID, change = "UPDATE account SET balance = balance + 1 WHERE id = ?1"
            let hasFirst = Promise<Void, Never>()
            let peer = Background { [database] in
                let peer = try database.connect()
                try peer.transaction { peer in
                    try peer.execute("SET LOCAL deadlock_timeout = '10ms'")
                    try peer.execute(change, [1])
                    hasFirst.resolve(.success(()))
                    try database.connect().awaitBlocked(process)
                    try peer.execute(change, [2])
                }
            }
            try connection.transaction { transaction in
                try transaction.execute("SET LOCAL deadlock_timeout = '60s'")
                try transaction.execute(change, [2])
                hasFirst.wait()
                try transaction.execute(change, [1])
            }
            let error = try peer.error()
            #expect(error?.code == .deadlock)
            #expect(error?.canBeRepeated == true)
        }

        @Test("a constraint that is checked at the commit undoes the transaction")
        func deferredConstraint() throws {
            try connection.run(script: "CREATE TABLE child (parent bigint REFERENCES account DEFERRABLE INITIALLY DEFERRED)")
            let error = #expect(throws: PostgreSQLError.self) {
                try connection.transaction { try $0.execute("INSERT INTO child VALUES (7)") }
            }
            #expect(error?.code == .constraint)
            #expect(error?.violation?.kind == .foreignKey)
            #expect(try other.first("SELECT count(*) FROM child") == [0])
            #expect(!connection.isInTransaction)
        }

        @Test("a session that waits in a transaction for too long is ended by the server, and gives back its locks")
        func idleInTransaction() throws {
            let idle = try database.connect { $0.idleInTransactionTimeout = .milliseconds(100) }
            let process = idle.processID
            let error = #expect(throws: PostgreSQLError.self) {
                try idle.transaction { transaction in
                    try transaction.execute("UPDATE account SET balance = 0")
                    try wait { try other.first("SELECT count(*) FROM pg_stat_activity WHERE pid = ?1", [PostgreSQLValue(process)]) == [0] }
                    try transaction.execute("UPDATE account SET balance = 1")
                }
            }
            #expect(error?.code == .connectionLost)
            #expect(error?.sqlState == "25P03")
            #expect(!idle.isOpen)
            #expect(try other.execute("UPDATE account SET balance = 7") == 2)
        }
    }
}
