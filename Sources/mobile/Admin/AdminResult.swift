import Foundation
import MobileServer
import MobileStore

/// The result of a command of `mobile admin`: lines for people, and one JSON value for scripts.
struct AdminResult {
    let lines: [String]
    let json: JSONValue

    init(_ lines: [String], _ json: JSONValue) { (self.lines, self.json) = (lines, json) }

    /// The result of a command that only does something: no line, and an empty object.
    static let done = AdminResult([], [:])

    /// A value of a table.
    enum Cell {
        case text(String)
        case number(Int64)
        /// Milliseconds since 1970.
        case time(Int64)
        /// A mark, with the word for people where it is set.
        case flag(Bool, String)

        /// Devices have chosen some of the texts, so they are escaped.
        fileprivate var shown: String {
            switch self {
            case .text(let text): LogSanitizer.escaped(text)
            case .number(let number): "\(number)"
            case .time(let milliseconds): AdminCommand.time(milliseconds)
            case .flag(let isSet, let word): isSet ? word : ""
            }
        }

        fileprivate var json: JSONValue {
            switch self {
            case .text(let text): .string(text)
            case .number(let number): .integer(number)
            case .time(let milliseconds): .string(AdminCommand.time(milliseconds))
            case .flag(let isSet, _): .boolean(isSet)
            }
        }
    }

    /// A column of a table: its heading for people, and its member in JSON.
    typealias Column = (heading: String, member: String)

    /// A table; in JSON a list of objects.
    static func table(_ columns: [Column], _ rows: [[Cell]]) -> AdminResult {
        AdminResult(Terminal.table([columns.map(\.heading)] + rows.map { $0.map(\.shown) }), objects(columns.map(\.member), rows))
    }

    /// One line for each row; in JSON a list of objects.
    static func lines(_ lines: [String], _ members: [String], _ rows: [[Cell]]) -> AdminResult { AdminResult(lines, objects(members, rows)) }

    private static func objects(_ members: [String], _ rows: [[Cell]]) -> JSONValue {
        .array(
            rows.map { row in
                var object = JSONObject()
                for (member, cell) in zip(members, row) { object[member] = cell.json }
                return .object(object)
            })
    }
}
