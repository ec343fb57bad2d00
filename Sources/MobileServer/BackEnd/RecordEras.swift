internal import MobileCrypto
internal import MobileExecution

/// Begins the eras of one back end's record of operations: one with each start of a server, and one when the server finds the back end in another life,
/// such as after the promotion of a standby, or with another database at its address.
///
/// Only the server can do the latter before the first operation is recorded in the new life. With numbers of the old era once more, the lost operations
/// could not be distinguished from the new ones.
final class RecordEras: Sendable {
    private let backEnd: ServedBackEnd
    private let cache: PackageCache
    private let stateStore: any StateStore
    private let random: @Sendable (Int) -> [UInt8]
    /// The life of the data in which this process has found or begun the last era.
    private let present = SystemLock<String?>(nil)

    init(_ backEnd: ServedBackEnd, cache: PackageCache, stateStore: any StateStore, _ configuration: ServerConfiguration) {
        (self.backEnd, self.cache, self.stateStore, random) = (backEnd, cache, stateStore, configuration.random)
    }

    /// Begins an era, and raises the surrogate keys above those that a lost state may have given.
    func begin() throws {
        guard let known = try backEnd.system.read({ try $0.records().map(RecordHistory.init) }) else { return }
        let next = try stateStore.write(label: "surrogate keys") { connection in
            try cache.keepFree(from: known.nextKey - 1, in: connection)
            return try PackageCache.nextKey(in: connection)
        }
        let life = try Self.begin(random(8).hexadecimal, nextKey: next, in: backEnd.system)
        present.withLock { $0 = life }
    }

    /// Begins an era in a transaction of its own.
    /// - Returns: the life of the data in which it begins.
    @discardableResult
    static func begin(_ name: String, nextKey: Int64, in system: any BackEnd) throws -> String {
        try system.replay(for: "") { transaction in
            let life = try transaction.position()?.historyID ?? ""
            try transaction.records()?.beginEra(name, historyID: life, nextKey: nextKey)
            return life
        }
    }

    /// Makes sure that a transaction may record operations in the present era.
    /// - Returns: the life of the data; nil for a back end that does not know it.
    /// - Throws: ``Ended`` if it is not an era of this life of the data. The transaction has to begin again after ``begin()``.
    @discardableResult
    func check(_ transaction: any BackEndTransaction, _ records: any OperationRecords) throws -> String? {
        guard let life = try transaction.position()?.historyID else { return nil }
        guard present.withLock({ $0 }) != life else { return life }
        guard try records.eras().last?.historyID == life else { throw Ended() }
        present.withLock { $0 = life }
        return life
    }

    struct Ended: Error {}
}
