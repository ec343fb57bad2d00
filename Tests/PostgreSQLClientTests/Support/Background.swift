import Foundation
import MobileExecution
import PostgreSQLClient

/// Work on a thread of its own.
final class Background<Value: Sendable>: Sendable {
    private let promise = Promise<Value, any Error>()

    init(_ body: @escaping @Sendable () throws -> Value) {
        let promise = promise
        Thread.detachNewThread { promise.resolve(Result { try body() }) }
    }

    /// The result; the test fails with ``Late`` when it takes more than a minute.
    func value() throws -> Value {
        guard let value = try promise.wait(timeout: .seconds(60)) else { throw Late() }
        return value
    }

    /// The error; nil for a success.
    func error() throws -> PostgreSQLError? {
        do {
            _ = try value()
            return nil
        } catch let error as PostgreSQLError {
            return error
        }
    }
}

/// Something that a test waits for has not happened within a minute.
struct Late: Error {}

/// Waits until a condition holds.
func wait(_ condition: () throws -> Bool) throws {
    let end = ContinuousClock.now + .seconds(60)
    while try !condition() {
        guard ContinuousClock.now < end else { throw Late() }
        sched_yield()
    }
}

extension PostgreSQLConnection {
    /// Waits until another session waits for a lock.
    func awaitBlocked(_ process: Int) throws {
        try wait { try first("SELECT count(*) FROM pg_locks WHERE NOT granted AND pid = ?1", [PostgreSQLValue(process)])?[0] == 1 }
    }

    /// Waits until another session runs a statement whose text contains a word.
    func awaitRunning(_ word: String, _ process: Int) throws {
        try wait {
            try first(
                "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND pid = ?1 AND query LIKE '%' || ?2 || '%'",
                [PostgreSQLValue(process), .text(word)])?[0] == 1
        }
    }
}

extension PostgreSQLValue {
    /// An integer.
    init(_ value: Int) { self = .integer(Int64(value)) }
}

/// The time after now.
func after(_ span: Duration) -> ContinuousClock.Instant { .now + span }
