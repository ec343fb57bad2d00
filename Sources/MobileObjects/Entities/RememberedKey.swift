import MobileExecution
import MobileStore

/// The surrogate key in an object's memory, which may be one that its row had before it was renumbered.
///
/// **A key that was given up means the renumbered row only to an object that was read as a new one, and to others while no row has that key.** Why: another
/// client's row can arrive under that very key, and a row from the server is never read as a new one.
struct RememberedKey: Sendable {
    let key: Int64
    /// Whether the object was read as a row that the server did not have.
    let isOfUnsentRow: Bool

    /// Returns the key that the object's row has now.
    func current(_ connection: Connection) throws -> Int64 {
        guard isOfUnsentRow else { return key }
        return try connection.renumberedKey(key) ?? key
    }
}

extension PackageDatabase {
    /// Whether rows of this database had other surrogate keys before.
    final var hasRenumberedRows: Bool {
        get { state.withLock { $0.hasRenumberedRows } }
        set { state.withLock { $0.hasRenumberedRows = newValue } }
    }
}

extension PackageDatabase {
    /// Whether rows were removed, since this object was made, to come again with keys of another server's state.
    final var hasReplacedRows: Bool {
        get { state.withLock { $0.hasReplacedRows } }
        set { state.withLock { $0.hasReplacedRows = newValue } }
    }
}

extension Entity {
    /// The modelled key with which the object was read, in stored form; nil where the back end has yet to assign it, or it was set since.
    final var keyAsRead: [Value]? {
        guard metadata.sql.hasKey, !metadata.isLocal, metadata.otherOperation == nil, replay.change != .create,
            !metadata.primaryKey.contains(where: { dirty.contains($0) })
        else { return nil }
        let key = metadata.primaryKey.compactMap { metadata.attributes[$0].storage.stored(value(ofAttribute: $0)) }
        return key.count == metadata.primaryKey.count && !key.contains(.null) ? key : nil
    }

    /// Returns the key that the row of this object has now.
    final func currentKey() throws -> Int64 {
        if mayBeRenumbered { return try currentKey(ofRelative: surrogateKey) }
        guard package.hasReplacedRows || package.hasRenumberedRows else { return surrogateKey }
        let stored = StoredState(self)
        return try package.read { try stored.read($0).key }
    }

    final var rememberedKey: RememberedKey { RememberedKey(key: surrogateKey, isOfUnsentRow: replay.change == .create) }

    /// Whether the object's row may have another key by now.
    final var mayBeRenumbered: Bool {
        replay.change == .create && package.hasRenumberedRows
    }

    /// Returns the key of a relative that this object refers to. An object that was renumbered itself may remember the former key.
    final func currentKey(ofRelative relative: Int64) throws -> Int64 {
        guard mayBeRenumbered else { return relative }
        let key = surrogateKey
        return try package.read { connection in
            guard try connection.renumberedKey(key) != nil else { return relative }
            return try connection.renumberedKey(relative) ?? relative
        }
    }
}

extension Transaction {
    /// Checks that an object's row was not renumbered since the object was read.
    /// - Throws: ``ObjectError/Code/stale``.
    func requireCurrent(_ remembered: RememberedKey, _ verb: String, _ entity: EntityMetadata) throws {
        guard database.hasRenumberedRows else { return }
        let isKnown =
            try !remembered.isOfUnsentRow && (replayState(of: entity, remembered.key) != nil || originalState(of: entity, remembered.key) != nil)
        if !isKnown { try requireCurrentKey(verb, entity, remembered.key) }
    }
}
