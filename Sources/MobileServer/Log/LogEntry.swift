internal import Foundation

/// One event of a server's log, before it becomes a line.
package struct LogEntry: Sendable {
    package enum Level: String, Sendable {
        case info, warning, error
    }

    enum Value: Sendable {
        /// A text from outside; left out if it is empty.
        case text(String)
        case number(Int64)
    }

    let level: Level
    /// The text for people.
    let message: String
    /// The text next to the fields, which need not repeat them.
    private let brief: String
    private let fields: [(name: String, value: Value)]

    package init(_ level: Level, _ message: String) { self.init(level, message, brief: message, fields: []) }

    init(_ level: Level, _ message: String, brief: String, fields: [(name: String, value: Value)]) {
        self.level = level
        self.message = message
        self.brief = brief
        self.fields = fields
    }

    /// Returns the entry as one line, escaped regardless of its origin.
    /// - Parameter time: milliseconds since 1970, UTC.
    package func line(_ format: LogFormat, time: Int64) -> String {
        guard format == .json else { return LogSanitizer.escaped(message) }
        let date = Date(timeIntervalSince1970: Double(time) / 1000).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        var members = ["\"time\": \"\(date)\"", "\"level\": \"\(level.rawValue)\"", "\"message\": \(Self.quoted(LogSanitizer.escaped(brief)))"]
        for (name, value) in fields {
            switch value {
            case .text(""): break
            case .text(let text): members.append("\"\(name)\": \(Self.quoted(LogSanitizer.escaped(LogSanitizer.name(text))))")
            case .number(let number): members.append("\"\(name)\": \(number)")
            }
        }
        return "{\(members.joined(separator: ", "))}"
    }

    /// Returns an escaped text, which has no control characters, as a JSON string.
    private static func quoted(_ text: String) -> String {
        "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// The destination of a server's entries.
struct ServerLog: Sendable {
    private let format: LogFormat
    private let clock: @Sendable () -> Int64
    private let destination: @Sendable (String) -> Void

    init(_ configuration: ServerConfiguration) {
        (format, clock, destination) = (configuration.logFormat, configuration.clock, configuration.log)
    }

    func write(_ entry: LogEntry) { destination(entry.line(format, time: clock())) }
}
