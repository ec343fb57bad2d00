import Foundation
import MobileObjects

/// Lines on the terminal, and one moving bar. The bar is on the error stream, so that the output of a command can go into a file while it moves. A stream that
/// is not a terminal, as in a log, gets no colours and no bar.
enum Terminal {
    /// Whether the output may have colours.
    static let isInteractive = isTerminal(1)
    /// Whether there is a place for a bar.
    static let hasBar = isTerminal(2)

    private static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) != 0 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Prints a line for the user at once.
    static func say(_ text: String = "") {
        print(text)
        fflush(nil)
    }

    /// Writes a line to the error stream.
    static func complain(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }

    /// Writes the reason why a command does not take its arguments. The message is the last line but one: a whole usage would scroll it away.
    static func refuse(_ error: UsageError, of command: String) {
        complain("\(error.message)\n\"mobile \(command) --help\" shows the options")
    }

    /// The words of a command about an error that ends it: the message, and for errors with a code also the code and the remedy.
    static func words(for error: any Error) -> String { (error as? any BaseError)?.debugDescription ?? "\(error)" }

    static func bold(_ text: String) -> String { isInteractive ? "\u{1B}[1m\(text)\u{1B}[0m" : text }

    /// Overwrites the line of the bar.
    static func overwrite(_ text: String) {
        guard hasBar else { return }
        fflush(nil)
        FileHandle.standardError.write(Data("\r\u{1B}[K\(text)".utf8))
    }

    /// Removes the bar.
    static func clearLine() { overwrite("") }

    /// A table with columns as wide as their contents, numbers to the right. The first row is the heading.
    static func table(_ rows: [[String]], indent: String = "  ") -> [String] {
        guard let columns = rows.first?.count else { return [] }
        let widths = (0..<columns).map { column in rows.map { $0[column].count }.max() ?? 0 }
        let isNumber = (0..<columns).map { column in
            rows.dropFirst().contains { $0[column].first?.isNumber == true }
                && rows.dropFirst().allSatisfy { $0[column].isEmpty || $0[column].first?.isNumber == true || $0[column] == "-" }
        }
        return rows.map { row in
            let cells = zip(row, zip(widths, isNumber)).map { text, layout in
                let space = String(repeating: " ", count: layout.0 - text.count)
                return layout.1 ? space + text : text + space
            }
            let line = indent + cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// A bar with a rate, for work that takes seconds. Moves at most ten times a second.
struct ProgressBar {
    private let label: String
    private let start = ContinuousClock.now
    private var lastShown: ContinuousClock.Instant?

    init(_ label: String) { self.label = label }

    /// Shows the progress. `total` nil: not known yet.
    mutating func show(_ done: Int, of total: Int?, _ detail: String = "") {
        let now = ContinuousClock.now
        if let lastShown, now - lastShown < .milliseconds(100) { return }
        lastShown = now
        let width = 30
        let part = total.map { $0 > 0 ? min(1, Double(done) / Double($0)) : 1 }
        let filled = part.map { Int(Double(width) * $0) } ?? (done / 1000) % (width + 1)
        let bar = String(repeating: "=", count: filled) + String(repeating: " ", count: width - filled)
        let left = part.flatMap { timeLeft($0, now) } ?? ""
        Terminal.overwrite("  \(label) [\(bar)] \(part.map { "\(Int($0 * 100)) %" } ?? Format.count(done)) \(detail)\(left)")
    }

    /// The time until the end at the rate so far; nil in the first second, which says little.
    private func timeLeft(_ part: Double, _ now: ContinuousClock.Instant) -> String? {
        let elapsed = (now - start) / .seconds(1)
        guard elapsed > 1, part > 0, part < 1 else { return nil }
        return ", \(Format.wait(elapsed / part * (1 - part))) left"
    }

    /// Removes the bar and returns the time that the work took.
    func finish() -> Duration {
        Terminal.clearLine()
        return ContinuousClock.now - start
    }
}
