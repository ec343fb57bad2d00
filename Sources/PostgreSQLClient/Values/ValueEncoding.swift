internal import MobilePostgreSQL

/// The values of a statement's parameters as the protocol takes them: one run of bytes, and a place, a length and a format per value.
struct EncodedParameters {
    private(set) var bytes: [UInt8] = []
    /// The offset of each value; -1 for NULL.
    private(set) var offsets: [Int] = []
    private(set) var lengths: [Int32] = []
    /// 0 is text, which ends with a zero byte; 1 is binary.
    private(set) var formats: [Int32] = []

    /// - Parameter types: the type of each place in the statement.
    /// - Throws: `.misuse` (another number of values, or bytes for another type than `bytea`), `.invalidText`.
    init(_ values: [PostgreSQLValue], types: [UInt32]) throws(PostgreSQLError) {
        guard values.count == types.count else {
            throw PostgreSQLError(.misuse, "the statement has \(types.count) parameters, it was given \(values.count) values")
        }
        for (index, value) in values.enumerated() {
            do {
                try append(value, type: types[index])
            } catch {
                throw error.with(message: "parameter \(index + 1): \(error.message)")
            }
        }
    }

    private mutating func append(_ value: PostgreSQLValue, type: UInt32) throws(PostgreSQLError) {
        switch value {
        case .null: appendNull()
        case .integer(let value):
            switch type {
            case TypeID.int8: append(bigEndian: value)
            case TypeID.int4 where Int32(exactly: value) != nil: append(bigEndian: Int32(value))
            default: append(text: String(value))  // the server converts, and reports the numbers that do not fit
            }
        case .real(let value):
            if type == TypeID.float8 { append(bigEndian: value.bitPattern) } else { append(text: value.postgreSQLText) }
        case .text(let text):
            try text.checkForPostgreSQL()
            // As text, PostgreSQL would read backslashes in a bytea as escapes.
            if type == TypeID.bytea { append(binary: Array(text.utf8)) } else { append(text: text) }
        case .blob(let bytes):
            guard type == TypeID.bytea else {
                throw PostgreSQLError(.misuse, "bytes need a parameter of type bytea, not of the type with oid \(type): CAST(?1 AS bytea)")
            }
            append(binary: bytes)
        }
    }

    private mutating func appendNull() {
        offsets.append(-1)
        lengths.append(0)
        formats.append(0)
    }

    private mutating func append(text: String) {
        offsets.append(bytes.count)
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
        lengths.append(0)
        formats.append(0)
    }

    private mutating func append(binary: [UInt8]) {
        offsets.append(bytes.count)
        bytes.append(contentsOf: binary)
        lengths.append(Int32(clamping: binary.count))
        formats.append(1)
    }

    private mutating func append(bigEndian value: some FixedWidthInteger) {
        offsets.append(bytes.count)
        for shift in stride(from: type(of: value).bitWidth - 8, through: 0, by: -8) { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        lengths.append(Int32(type(of: value).bitWidth / 8))
        formats.append(1)
    }
}

extension Double {
    /// The shortest digits that read back as this number, as PostgreSQL writes them.
    var postgreSQLText: String { isNaN ? "NaN" : isInfinite ? (self < 0 ? "-Infinity" : "Infinity") : description }
}

extension String {
    /// - Throws: `.invalidText`: a text with U+0000, which PostgreSQL cannot store, and which would end it early.
    func checkForPostgreSQL() throws(PostgreSQLError) {
        guard hasNUL else { return }
        let position = unicodeScalars.prefix { $0 != "\0" }.count + 1
        throw PostgreSQLError(.invalidText, "a text has U+0000 as its character \(position), which PostgreSQL cannot store")
    }

    /// Whether the text has U+0000.
    package var hasNUL: Bool {
        var text = self
        return text.withUTF8 { unsafe mpq_has_nul($0.baseAddress, $0.count) }
    }

    /// The name as an SQL text: in quotation marks, which are doubled inside.
    var quotedForPostgreSQL: String { "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
}
