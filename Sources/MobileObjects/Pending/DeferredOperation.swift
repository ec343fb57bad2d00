public import Foundation
import MobileStore

/// A submitted operation that the server could neither do nor refuse so far, because the back end was busy or out of reach. It stays submitted, and a later
/// synchronization sends it again.
public struct DeferredOperation: Sendable, Hashable, Identifiable {
    /// The id of the operation: the replay counter of its submit.
    public let id: Int64
    /// The modelled name of the object.
    public let object: String
    /// The surrogate key of its row.
    public let surrogateKey: Int64
    /// The code of the server's last answer: 409 (the back end was busy) or 503 (it was out of reach).
    public let code: Int
    /// The reason, as a sentence for people.
    public let message: String
    /// The number of times that the server has deferred it, from 1 upwards.
    public let attempts: Int
    /// The time before which no synchronization sends it, or an operation that was submitted after it: see <doc:PendingChanges>.
    public let nextTry: Date
}

extension PackageDatabase {
    /// Returns the deferred operations of the package, in the order of their submits.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func deferredOperations() throws -> [DeferredOperation] { try read { try DeferredOperation.all(in: $0) } }

    /// The same without blocking a cooperative thread.
    public final func deferredOperations() async throws -> [DeferredOperation] { try await read { try DeferredOperation.all(in: $0) } }
}

extension Entity {
    /// Returns the deferred operations of this object, in the order of their submits; none where the object is new.
    ///
    ///     for operation in try customer.deferredOperations() {
    ///         print("\(operation.message); next try at \(operation.nextTry)")
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func deferredOperations() throws -> [DeferredOperation] {
        let (name, key) = (metadata.name, surrogateKey)
        return try package.read { try DeferredOperation.all(in: $0, of: (name, key)) }
    }

    /// The same without blocking a cooperative thread.
    public nonisolated(nonsending) final func deferredOperations() async throws -> [DeferredOperation] {
        let (name, key) = (metadata.name, surrogateKey)
        return try await package.read { try DeferredOperation.all(in: $0, of: (name, key)) }
    }
}

extension DeferredOperation {
    fileprivate static func all(in connection: Connection, of row: (object: String, key: Int64)? = nil) throws -> [DeferredOperation] {
        try connection.storedRows(
            [OutboxColumn.id, .entity, .key, .deferredCode, .deferredMessage, .deferrals, .nextTry],
            "WHERE \"deferrals\" > 0\(row == nil ? "" : " AND \"entity\" = ?1 AND \"sk\" = ?2") ORDER BY \"id\"",
            row.map { [.text($0.object), .integer($0.key)] } ?? []
        ).map {
            DeferredOperation(
                id: try $0.integer(.id), object: try $0.text(.entity), surrogateKey: try $0.integer(.key), code: try $0.int(.deferredCode),
                message: try $0.text(.deferredMessage), attempts: try $0.int(.deferrals), nextTry: RetryTime.date(try $0.integer(.nextTry)))
        }
    }
}
