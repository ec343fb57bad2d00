internal import Foundation

/// A value of a database, read without code of the product.
enum StoredValue: Hashable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    /// A text of SQLite, or the text of any value of PostgreSQL.
    case text(String)
    /// A text that is not UTF-8.
    case brokenText([UInt8])
    case bytes([UInt8])

    /// The expression that reads a column of SQLite without a loss; of PostgreSQL for bytes, or for other types.
    static func expression(_ column: String, _ engine: DatabaseEngine, isBytes: Bool) -> String {
        guard engine == .sqlite else {
            return isBytes ? "'b' || encode(\(column), 'hex')" : "'t' || encode(convert_to(CAST(\(column) AS text), 'UTF8'), 'hex')"
        }
        return """
            CASE typeof(\(column)) WHEN 'null' THEN NULL WHEN 'integer' THEN 'i' || \(column) WHEN 'real' THEN 'r' || printf('%!.17g', \(column)) \
            WHEN 'text' THEN 't' || hex(CAST(\(column) AS BLOB)) ELSE 'b' || hex(\(column)) END
            """
    }

    /// Reads what ``expression(_:_:isBytes:)`` gives.
    init(_ text: String?) {
        guard let text, let kind = text.first else {
            self = .null
            return
        }
        let rest = String(text.dropFirst())
        switch kind {
        case "i": self = .integer(Int64(rest) ?? 0)
        case "r": self = .real(Double(rest) ?? .nan)
        case "t":
            let bytes = Self.bytes(rest)
            self = String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .brokenText(bytes)
        default: self = .bytes(Self.bytes(rest))
        }
    }

    private static func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8)
        return stride(from: 0, to: digits.count - 1, by: 2).map { (nibble(digits[$0]) << 4) | nibble(digits[$0 + 1]) }
    }

    private static func nibble(_ digit: UInt8) -> UInt8 { digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57 }

    var isBytes: Bool { if case .bytes = self { true } else { false } }

    static func hex(_ bytes: [UInt8]) -> String { bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }

    var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text.count > 80 ? "'\(text.prefix(30))...' of \(text.count) characters" : "'\(text)'"
        case .brokenText(let bytes): "text x'\(Self.hex(bytes))'"
        case .bytes(let bytes): bytes.count > 40 ? "\(bytes.count) bytes" : "x'\(Self.hex(bytes))'"
        }
    }
}
