internal import MobileCore
internal import MobileExecution
internal import Synchronization

/// A complete large value, to which no row may refer yet. As long as this object lives, the value is not removed.
///
/// Keep the object until the row with its ``id`` has been committed, then release it.
public final class LargeValue: Sendable {
    /// The id with which a row refers to the value.
    public let id: Int64

    private let database: Database
    private let isSaved = Atomic(false)

    /// Makes the owner of a pin of the core, which `deinit` releases.
    init(pinned id: Int64, in database: Database) {
        self.id = id
        self.database = database
    }

    deinit {
        unsafe mc_blob_unpin(database.pool, id)
        if !isSaved.load(ordering: .relaxed) { database.abandonedValues.add(id) }
    }

    /// Notes whether a row has the value now; false at first, and again after a rollback.
    package func note(isSaved: Bool) { self.isSaved.store(isSaved, ordering: .relaxed) }
}

/// The ids of values whose ``LargeValue`` is gone and that no row was noted to have: what an application wrote and did not save, and what was
/// downloaded for an import that did not happen. They are only collected for an owner of the database that removes them.
package final class AbandonedValues: Sendable {
    private let ids = SystemLock<Set<Int64>?>(nil)

    /// Collects ids from now on.
    package func begin() { ids.withLock { $0 = $0 ?? [] } }

    package func add(_ id: Int64) { _ = ids.withLock { $0?.insert(id) } }

    /// Returns the ids, and forgets them.
    package func take() -> Set<Int64> {
        ids.withLock { ids in
            defer { if ids != nil { ids = [] } }
            return ids ?? []
        }
    }
}

/// The unit of lengths and positions of a large value.
public enum LargeValueUnit: Sendable {
    /// Bytes.
    case bytes
    /// Unicode scalars of valid UTF-8.
    case scalars
}

extension Connection {
    /// Large values that were never saved in this database.
    package var abandonedValues: AbandonedValues { database.abandonedValues }

    /// Creates missing tables of large values, and drops the values that a killed process left unfinished. While this or another
    /// process is writing a value, it drops none; a later call does. It needs the writer, and is cheap without such work.
    /// - Throws: ``StoreError``: `.readOnly` on a reader, and the errors of a write.
    public func prepareLargeValues() throws(StoreError) {
        let handle = unsafe try core()
        try unsafe StoreError.check { unsafe mc_blob_prepare(handle, $0) }
    }

    /// Removes the large value with this id, if it exists. After the commit it can no longer be opened, and its space is freed. While it
    /// has open readers, it keeps its space; a later write that removes values frees it.
    public func removeLargeValue(_ id: Int64) throws(StoreError) {
        let handle = unsafe try core()
        var id = id
        try unsafe StoreError.check { unsafe mc_blob_drop(handle, &id, 1, $0) }
    }

    /// Removes the large values that no row refers to, in one pass over the columns. Values with open readers, and finished values
    /// with a live ``LargeValue``, remain. While another `Database` on the file, here or in another process, writes a value or holds an
    /// unsaved one, no value is removed; a later call does it.
    /// - Parameter references: all columns that hold ids of large values.
    /// - Returns: the number of removed values.
    @discardableResult
    public func removeUnreferencedValues(
        referencedBy references: [(table: String, column: String)]
    ) throws(StoreError) -> Int {
        let handle = unsafe try core()
        var dropped: Int64 = 0
        try unsafe StoreError.check { error in
            unsafe withReferences(references) { list in
                unsafe mc_blob_drop_unreferenced(handle, list.baseAddress, list.count, &dropped, error)
            }
        }
        return Int(dropped)
    }
}

extension Database {
    /// Removes the large values that no row refers to; see ``Connection/removeUnreferencedValues(referencedBy:)``.
    ///
    ///     let removed = try database.removeUnreferencedValues(referencedBy: [("customer", "photo")])
    ///     print("\(removed) photos removed")
    @discardableResult
    public func removeUnreferencedValues(referencedBy references: [(table: String, column: String)]) throws -> Int {
        try write(label: "removal of large values") { try $0.removeUnreferencedValues(referencedBy: references) }
    }

    /// Frees the space of removed values without readers, in short transactions. Every write that removes values does so
    /// after its commit. The first such write, or this call, also frees the values that an earlier process left.
    ///
    ///     let freed = try database.freeRemovedValues()
    ///     print("the space of \(freed) photos is free")
    ///
    /// - Returns: the number of values whose space was freed.
    @discardableResult
    public func freeRemovedValues() throws(StoreError) -> Int {
        var removed: Int64 = 0
        try unsafe StoreError.check { unsafe mc_blob_collect(pool, &removed, $0) }
        return Int(removed)
    }
}

/// Calls `body` with the names in the core's form, valid during the call.
private func withReferences<R>(
    _ references: [(table: String, column: String)], _ body: (UnsafeBufferPointer<mc_blob_reference>) -> R
) -> R {
    let names = references.flatMap { [ContiguousArray($0.table.utf8CString), ContiguousArray($0.column.utf8CString)] }
    let bytes = ContiguousArray(names.joined())
    return unsafe bytes.withUnsafeBufferPointer { text in
        var offset = 0
        let starts = names.map { name in
            defer { offset += name.count }
            return offset
        }
        let list = unsafe references.indices.map { index in
            unsafe mc_blob_reference(
                table: text.baseAddress! + starts[2 * index], column: text.baseAddress! + starts[2 * index + 1])
        }
        return unsafe list.withUnsafeBufferPointer { unsafe body($0) }
    }
}
