internal import MobileCore

/// A complete large value that nothing may refer to yet. As long as this object lives, the value is not removed.
///
/// Keep it until the row with its ``id`` has been committed, then let go of it.
public final class LargeValue: Sendable {
    /// What a row keeps to refer to the value.
    public let id: Int64

    private let database: Database

    /// Takes over a pin.
    init(pinned id: Int64, in database: Database) {
        self.id = id
        self.database = database
    }

    deinit { unsafe mc_blob_unpin(database.pool, id) }
}

/// What lengths and positions of a large value count.
public enum LargeValueUnit: Sendable {
    /// Bytes.
    case bytes
    /// Unicode scalars of valid UTF-8.
    case scalars
}

extension Connection {
    /// Makes the tables of large values where they are missing, and drops the values that a killed process left unfinished,
    /// unless somebody writes a value at this moment, here or in another process: then the next call does. On the writer; costs next to
    /// nothing when there is nothing to do.
    /// - Throws: ``StoreError``: `.readOnly` on a reader, and what writing fails with.
    public func prepareLargeValues() throws(StoreError) {
        let handle = unsafe try core()
        try unsafe StoreError.check { unsafe mc_blob_prepare(handle, $0) }
    }

    /// Removes a large value, if there is one of this id. Nobody can open it any more when the transaction has been committed;
    /// its space is freed then, or as soon as those who read it are done.
    public func removeLargeValue(_ id: Int64) throws(StoreError) {
        let handle = unsafe try core()
        var id = id
        try unsafe StoreError.check { unsafe mc_blob_drop(handle, &id, 1, $0) }
    }

    /// Removes the large values that no row refers to, in one pass over the columns. Values that are read, and finished values
    /// whose ``LargeValue`` is held, stay. None is removed while another opening of the file, here or in another process, writes a value
    /// or holds one that is not saved; the next call looks again.
    /// - Parameter references: all columns that hold ids of large values.
    /// - Returns: how many were removed.
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

    /// Frees the space of removed values that nobody reads, in short transactions. Every write that removes values does so
    /// after its commit; what is left from an earlier process is freed by the first one, or by this.
    ///
    ///     let freed = try database.freeRemovedValues()
    ///     print("the space of \(freed) photos is free")
    ///
    /// - Returns: how many values are gone.
    @discardableResult
    public func freeRemovedValues() throws(StoreError) -> Int {
        var removed: Int64 = 0
        try unsafe StoreError.check { unsafe mc_blob_collect(pool, &removed, $0) }
        return Int(removed)
    }
}

/// The names as the core takes them, valid during `body`.
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
