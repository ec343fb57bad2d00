internal import MobileCore

/// One value in a page: the layout of the core's `mc_cell`, which a static assertion of its header holds to.
/// Known to clients' code by layout, so that reading a value there is one load and no call.
@frozen @usableFromInline
struct PageCell {
    @usableFromInline let type: UInt32
    @usableFromInline let length: UInt32
    /// The integer, the bit pattern of the real, or where a text lies in the arena.
    @usableFromInline let bits: UInt64
}

/// The numbers of ``ColumnType`` as constants that clients' code has in place: `rawValue` of an enum is a call.
@usableFromInline
enum CellType {
    @inlinable static var integer: UInt32 { 1 }
    @inlinable static var real: UInt32 { 2 }
    @inlinable static var text: UInt32 { 3 }
    @inlinable static var blob: UInt32 { 4 }
    @inlinable static var null: UInt32 { 5 }
}

/// The memory of one page. Who holds it alone may fill it again; while it is shared it does not change, which is why rows may
/// be read on any thread.
@usableFromInline
@safe final class PageStorage: @unchecked Sendable {
    private let page: UnsafeMutablePointer<mc_row_page>
    @usableFromInline private(set) var cells: UnsafePointer<PageCell>
    @usableFromInline private(set) var arena: UnsafePointer<UInt8>
    @usableFromInline private(set) var rowCount = 0
    @usableFromInline private(set) var columnCount = 0
    /// Cells of a row: its columns, and what a cursor keeps behind them.
    @usableFromInline private(set) var stride = 0
    @usableFromInline private(set) var columnNames: [String] = []
    /// Whether there was no row behind the last one.
    private(set) var isAtEnd = true

    init() throws(StoreError) {
        var page: UnsafeMutablePointer<mc_row_page>?
        try unsafe StoreError.check { unsafe mc_row_page_create(&page, $0) }
        unsafe self.page = page!  // MC_OK promises a page
        unsafe arena = UnsafePointer(self.page.pointee.arena!)  // a page has an arena from the start
        unsafe cells = UnsafeRawPointer(arena).assumingMemoryBound(to: PageCell.self)  // never read: there is no row
    }

    deinit { unsafe mc_row_page_free(page) }

    /// Fills it with the next rows. Returns whether the statement has none left.
    func fill(from statement: Statement, rows: Int, bytes: Int, columnNames: [String]) throws(StoreError) -> Bool {
        let handle = unsafe try statement.core()
        var isAtEnd = false
        defer { show(columnNames, isAtEnd) }
        try unsafe StoreError.check { unsafe mc_row_page_fill(page, handle, rows, bytes, &isAtEnd, $0) }
        return isAtEnd
    }

    /// Fills it with a page of a cursor or select. Returns whether there is none behind it in the direction of reading.
    @discardableResult
    func fill(
        columnNames: [String], _ call: (UnsafeMutablePointer<mc_row_page>, inout Bool, UnsafeMutablePointer<mc_error>) -> mc_status
    ) throws(StoreError) -> Bool {
        var isAtEnd = false
        defer { show(columnNames, isAtEnd) }
        try unsafe StoreError.check { unsafe call(page, &isAtEnd, $0) }
        return isAtEnd
    }

    /// Binds a value of a row as a parameter: for a query that goes on behind it.
    func bind(row: Int, column: Int, to statement: Statement, at index: Int) throws(StoreError) {
        let handle = unsafe try statement.core()
        try unsafe StoreError.check { unsafe mc_row_page_bind(page, row, column, handle, Int32(clamping: index), $0) }
    }

    /// The core's page.
    func withCore(_ body: (UnsafePointer<mc_row_page>) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe body(UnsafePointer(page))
    }

    /// The memory held, in bytes.
    var memory: Int { unsafe mc_row_page_memory(page) }

    /// Takes over where the core's page lies now.
    private func show(_ columnNames: [String], _ isAtEnd: Bool) {
        rowCount = unsafe page.pointee.row_count
        columnCount = unsafe page.pointee.column_count
        stride = unsafe page.pointee.stride
        unsafe arena = UnsafePointer(page.pointee.arena!)
        if let cells = unsafe page.pointee.cells {
            unsafe self.cells = UnsafeRawPointer(cells).assumingMemoryBound(to: PageCell.self)
        }
        self.columnNames = columnNames
        self.isAtEnd = isAtEnd
    }
}
