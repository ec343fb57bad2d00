internal import MobileCore

/// One value in a page, with the layout of the core's `mc_cell`; a static assertion in its header guards the layout.
/// Client code knows the layout, so that reading a value is one load and no call.
@frozen @usableFromInline
struct PageCell {
    @usableFromInline let type: UInt32
    @usableFromInline let length: UInt32
    /// The integer, the bit pattern of the real, or the offset of a text or blob in the arena.
    @usableFromInline let bits: UInt64
}

/// The numbers of ``ColumnType`` as constants that client code inlines: `rawValue` of an enum is a call.
@usableFromInline
enum CellType {
    @inlinable static var integer: UInt32 { 1 }
    @inlinable static var real: UInt32 { 2 }
    @inlinable static var text: UInt32 { 3 }
    @inlinable static var blob: UInt32 { 4 }
    @inlinable static var null: UInt32 { 5 }
}

/// The memory of one page. Only its sole owner may fill it again. While it is shared it does not change, so rows may
/// be read on any thread.
@usableFromInline
@safe final class PageStorage: @unchecked Sendable {
    private let page: UnsafeMutablePointer<mc_row_page>
    // Unchecked because the run-time check costs a call for each row. Only the sole owner writes the fields, never during a read.
    @exclusivity(unchecked) @usableFromInline private(set) var layout: PageLayout
    @exclusivity(unchecked) private var names: [String] = []
    @exclusivity(unchecked) private var isLast = true

    @inlinable var cells: UnsafePointer<PageCell> { unsafe layout.cells }
    @inlinable var arena: UnsafePointer<UInt8> { unsafe layout.arena }
    @inlinable var rowCount: Int { unsafe layout.rowCount }
    @inlinable var columnCount: Int { unsafe layout.columnCount }
    @inlinable var stride: Int { unsafe layout.stride }
    var columnNames: [String] { unsafe names }
    /// Whether no row followed the last one.
    var isAtEnd: Bool { unsafe isLast }

    init() throws(StoreError) {
        var page: UnsafeMutablePointer<mc_row_page>?
        try unsafe StoreError.check { unsafe mc_row_page_create(&page, $0) }
        unsafe self.page = page!  // MC_OK promises a page
        unsafe layout = PageLayout(self.page)
    }

    deinit { unsafe mc_row_page_free(page) }

    /// Fills the page with the next rows. Returns whether the statement has no more rows.
    func fill(from statement: Statement, rows: Int, bytes: Int, columnNames: [String]) throws(StoreError) -> Bool {
        let handle = unsafe try statement.core()
        var isAtEnd = false
        defer { show(columnNames, isAtEnd) }
        try unsafe StoreError.check { unsafe mc_row_page_fill(page, handle, rows, bytes, &isAtEnd, $0) }
        return isAtEnd
    }

    /// Fills the page from a cursor or select. Returns whether it is the last page in the direction of reading.
    @discardableResult
    func fill(
        columnNames: [String], _ call: (UnsafeMutablePointer<mc_row_page>, inout Bool, UnsafeMutablePointer<mc_error>) -> mc_status
    ) throws(StoreError) -> Bool {
        var isAtEnd = false
        defer { show(columnNames, isAtEnd) }
        try unsafe StoreError.check { unsafe call(page, &isAtEnd, $0) }
        return isAtEnd
    }

    /// The core's page.
    func withCore(_ body: (UnsafePointer<mc_row_page>) throws(StoreError) -> Void) throws(StoreError) {
        try unsafe body(UnsafePointer(page))
    }

    /// The memory held, in bytes.
    var memory: Int { unsafe mc_row_page_memory(page) }

    /// Copies the addresses of the core's page, which filling may have moved.
    private func show(_ columnNames: [String], _ isAtEnd: Bool) {
        unsafe layout = PageLayout(page)
        unsafe names = columnNames
        unsafe isLast = isAtEnd
    }
}

/// The addresses and sizes of the core's page, whose layout client code knows like that of the cells.
@frozen @usableFromInline
@safe struct PageLayout {
    @usableFromInline let cells: UnsafePointer<PageCell>
    @usableFromInline let arena: UnsafePointer<UInt8>
    @usableFromInline let rowCount: Int
    @usableFromInline let columnCount: Int
    /// The number of cells of a row: its columns, and after them the cursor's own cells.
    @usableFromInline let stride: Int

    init(_ page: UnsafePointer<mc_row_page>) {
        let page = unsafe page.pointee
        unsafe arena = UnsafePointer(page.arena!)  // a page has an arena from the start
        // A page without cells has no rows, so this address is never read.
        unsafe cells =
            page.cells.map { unsafe UnsafeRawPointer($0).assumingMemoryBound(to: PageCell.self) }
            ?? UnsafeRawPointer(arena).assumingMemoryBound(to: PageCell.self)
        rowCount = unsafe page.row_count
        columnCount = unsafe page.column_count
        stride = unsafe page.stride
    }
}
