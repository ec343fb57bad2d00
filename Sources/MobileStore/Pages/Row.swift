/// One row of a ``RowPage``. It copies values only when you request a `String` or an array.
///
/// Columns are numbered from 0; a column that does not exist stops the program. A row keeps its page alive.
@frozen
@safe public struct Row: @unchecked Sendable, Equatable {  // its memory does not change while a row refers to its page
    @usableFromInline let page: PageStorage
    @usableFromInline let cells: UnsafePointer<PageCell>
    @usableFromInline let arena: UnsafePointer<UInt8>

    /// The number of values.
    public let count: Int

    @inlinable
    init(page: PageStorage, cells: UnsafePointer<PageCell>, arena: UnsafePointer<UInt8>, count: Int) {
        self.page = page
        unsafe self.cells = cells
        unsafe self.arena = arena
        self.count = count
    }

    @inlinable @inline(__always)  // one load, which is cheaper than a call
    func cell(_ column: Int) -> PageCell {
        precondition(column >= 0 && column < count, "a row has no such column")
        return unsafe cells[column]
    }

    /// Returns whether two rows have the same values: of the same types, texts and reals with the same bytes.
    public static func == (left: Row, right: Row) -> Bool {
        left.count == right.count && (0..<left.count).allSatisfy { left.hasValue($0, of: right) }
    }

    private func hasValue(_ column: Int, of other: Row) -> Bool {
        let (mine, theirs) = (cell(column), other.cell(column))
        guard mine.type == theirs.type else { return false }
        switch mine.type {
        case CellType.integer, CellType.real: return mine.bits == theirs.bits
        case CellType.text, CellType.blob:
            return unsafe buffer(mine).elementsEqual(other.buffer(theirs))
        default: return true
        }
    }

    /// Returns the type of a value.
    @inlinable
    public func type(_ column: Int) -> ColumnType {
        switch cell(column).type {
        case CellType.integer: .integer
        case CellType.real: .real
        case CellType.text: .text
        case CellType.blob: .blob
        default: .null
        }
    }

    /// Returns whether a value is NULL.
    @inlinable
    public func isNull(_ column: Int) -> Bool { cell(column).type == CellType.null }

    /// Returns a value as an integer; a real is truncated, anything else is 0.
    @inlinable
    public func integer(_ column: Int) -> Int64 {
        let cell = cell(column)
        if cell.type == CellType.integer { return Int64(bitPattern: cell.bits) }
        return cell.type == CellType.real ? Row.cut(Double(bitPattern: cell.bits)) : 0
    }

    /// Returns a value as a real; an integer is converted, anything else is 0.
    @inlinable
    public func real(_ column: Int) -> Double {
        let cell = cell(column)
        if cell.type == CellType.real { return Double(bitPattern: cell.bits) }
        return cell.type == CellType.integer ? Double(Int64(bitPattern: cell.bits)) : 0
    }

    /// Returns a value as text: damaged UTF-8 is repaired, numbers are written out, bytes are read as UTF-8; `nil` for NULL.
    @inlinable
    public func string(_ column: Int) -> String? {
        let cell = cell(column)
        guard cell.type == CellType.text else { return written(cell) }
        return unsafe String(decoding: UnsafeBufferPointer(start: arena + Int(cell.bits), count: Int(cell.length)), as: UTF8.self)
    }

    /// Returns the bytes of a blob or of a text (its stored UTF-8), not copied; empty for anything else.
    @inlinable
    @_lifetime(borrow self)
    public func bytes(_ column: Int) -> RawSpan {
        let buffer = unsafe buffer(cell(column))
        return unsafe _overrideLifetime(RawSpan(_unsafeBytes: buffer), borrowing: self)
    }

    /// Returns a text without copying it; `nil` for any other value, and for invalid UTF-8.
    @inlinable
    @_lifetime(borrow self)
    public func utf8(_ column: Int) -> UTF8Span? {
        let cell = cell(column)
        guard cell.type == CellType.text else { return nil }
        let buffer = unsafe UnsafeBufferPointer(start: arena + Int(cell.bits), count: Int(cell.length))
        let span = unsafe Span(_unsafeElements: buffer)
        guard let text = try? UTF8Span(validating: span) else { return nil }
        return unsafe _overrideLifetime(text, borrowing: self)
    }

    /// Calls `body` with the bytes of a text or blob, not copied; empty for anything else.
    @inlinable
    public func withBytes<R>(_ column: Int, _ body: (RawSpan) throws -> R) rethrows -> R {
        try body(bytes(column))
    }

    /// Returns a copy of the bytes of a text or blob; `nil` for anything else.
    @inlinable
    public func blob(_ column: Int) -> [UInt8]? {
        let cell = cell(column)
        guard isBytes(cell) else { return nil }
        return unsafe [UInt8](buffer(cell))
    }

    /// Returns a copy of a value.
    public func value(_ column: Int) -> Value {
        switch type(column) {
        case .null: .null
        case .integer: .integer(integer(column))
        case .real: .real(real(column))
        case .text: .text(string(column) ?? "")
        case .blob: .blob(blob(column) ?? [])
        }
    }

    /// All values.
    public var values: [Value] { (0..<count).map(value) }

    /// Returns the index of the first column with a name; `nil` without one.
    public func column(named name: String) -> Int? { page.columnNames.firstIndex(of: name) }

    @inlinable
    func isBytes(_ cell: PageCell) -> Bool {
        cell.type == CellType.text || cell.type == CellType.blob
    }

    @inlinable
    func buffer(_ cell: PageCell) -> UnsafeRawBufferPointer {
        guard isBytes(cell) else { return unsafe UnsafeRawBufferPointer(start: arena, count: 0) }
        return unsafe UnsafeRawBufferPointer(start: arena + Int(cell.bits), count: Int(cell.length))
    }

    /// Returns the text of values other than text.
    @usableFromInline
    func written(_ cell: PageCell) -> String? {
        switch ColumnType(rawValue: cell.type) {
        case .integer: "\(Int64(bitPattern: cell.bits))"
        case .real: "\(Double(bitPattern: cell.bits))"
        case .blob: unsafe String(decoding: buffer(cell), as: UTF8.self)
        default: nil
        }
    }

    /// Rounds towards zero, and clamps to the range of `Int64`.
    @usableFromInline
    static func cut(_ real: Double) -> Int64 {
        guard real.isFinite else { return real == .infinity ? .max : real == -.infinity ? .min : 0 }
        return Int64(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
    }
}
