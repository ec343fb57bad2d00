/// One value of a row or a parameter.
///
/// | PostgreSQL | here |
/// |---|---|
/// | `smallint`, `integer`, `bigint`, `oid` | integer |
/// | `boolean` | integer, 0 or 1 |
/// | `real`, `double precision` | real |
/// | `bytea` | blob |
/// | `text`, `varchar`, `char` | text |
/// | `numeric` | text, every digit as stored |
/// | `date`, `time`, `timestamp`, `timestamptz` | text in ISO 8601 order, the last one in UTC: `2026-11-23 06:05:24.25+00` |
/// | others, such as `uuid`, `jsonb`, arrays | text as PostgreSQL writes it |
///
/// As a parameter, each value becomes the type that its place in the statement has: an integer may go to a `numeric`, a text to a `date`. A place
/// without a type, as in `SELECT ?1`, is text.
package enum PostgreSQLValue: Sendable, Hashable {
    /// NULL.
    case null
    /// A 64-bit integer.
    case integer(Int64)
    /// A 64-bit floating-point number.
    case real(Double)
    /// A text; as a parameter without U+0000, which PostgreSQL cannot store.
    case text(String)
    /// Bytes; as a parameter only where the statement expects `bytea`.
    case blob([UInt8])
}

extension PostgreSQLValue: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByStringInterpolation
{
    /// An integer.
    package init(integerLiteral value: Int64) { self = .integer(value) }
    /// A real.
    package init(floatLiteral value: Double) { self = .real(value) }
    /// A text.
    package init(stringLiteral value: String) { self = .text(value) }
    /// 1 or 0.
    package init(booleanLiteral value: Bool) { self = .integer(value ? 1 : 0) }
}

extension PostgreSQLValue {
    /// Whether it is NULL.
    package var isNull: Bool { self == .null }
    /// The integer; nil for anything else.
    package var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The real, or the integer as one; nil for anything else.
    package var real: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        default: nil
        }
    }
    /// The text; nil for anything else.
    package var text: String? { if case .text(let value) = self { value } else { nil } }
    /// The bytes; nil for anything else.
    package var blob: [UInt8]? { if case .blob(let value) = self { value } else { nil } }
}
