/// The rows of a query, copied out of the database in one call.
///
/// A page remains valid after its query, its connection and its database are gone, and many threads may read it. Its memory
/// is reused for the next page when it is no longer referenced.
public struct RowPage: Sendable, RandomAccessCollection {
    @usableFromInline let storage: PageStorage

    init(_ storage: PageStorage) { self.storage = storage }

    /// The index of the first row, 0.
    @inlinable public var startIndex: Int { 0 }

    /// The number of rows.
    @inlinable public var endIndex: Int { storage.rowCount }

    /// The number of values in each row.
    @inlinable public var columnCount: Int { storage.columnCount }

    /// The columns' names.
    public var columnNames: [String] { storage.columnNames }

    /// Whether no row followed the page in the direction of reading, when it was read.
    public var isAtEnd: Bool { storage.isAtEnd }

    /// The memory that the page holds.
    public var memory: ByteCount { .bytes(storage.memory) }

    /// Returns a row of the page; an index out of range stops the program.
    @inlinable
    public subscript(position: Int) -> Row {
        precondition(position >= 0 && position < storage.rowCount, "a page has no such row")
        let cells = unsafe storage.cells + position * storage.stride
        return unsafe Row(page: storage, cells: cells, arena: storage.arena, count: storage.columnCount)
    }

    /// Returns an iterator over the rows in order.
    @inlinable
    public func makeIterator() -> Iterator { Iterator(self) }

    /// Iterates over the rows in order, without reading the page's layout again for each row.
    @frozen
    @safe public struct Iterator: IteratorProtocol {
        @usableFromInline let page: PageStorage
        @usableFromInline var cells: UnsafePointer<PageCell>
        @usableFromInline var rowsLeft: Int
        @usableFromInline let arena: UnsafePointer<UInt8>
        @usableFromInline let columnCount: Int
        @usableFromInline let stride: Int

        @inlinable
        init(_ page: RowPage) {
            self.page = page.storage
            unsafe cells = page.storage.cells
            rowsLeft = page.storage.rowCount
            unsafe arena = page.storage.arena
            columnCount = page.storage.columnCount
            stride = page.storage.stride
        }

        /// Returns the next row; `nil` after the last one.
        @inlinable
        public mutating func next() -> Row? {
            guard rowsLeft > 0 else { return nil }
            rowsLeft -= 1
            defer { unsafe cells += stride }
            return unsafe Row(page: page, cells: cells, arena: arena, count: columnCount)
        }
    }
}
