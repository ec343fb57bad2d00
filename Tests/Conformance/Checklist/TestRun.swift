import Foundation

/// The results of one run of the tests, read from the event stream of `swift test --event-stream-output-path`: one JSON record per
/// line. The stream is the only output with the display names.
struct TestRun: Equatable {
    /// The result of one test function, of all its cases together.
    enum Result: Equatable {
        case passed
        /// An issue was recorded in it or in one of its cases, or it began and never ended.
        case failed
        /// Skipped, cancelled, without a case, or with a known issue: it proves nothing.
        case provesNothing
    }

    /// The results by display name; functions with the same name count together, and the worst result decides.
    var results: [String: Result] = [:]
    /// Whether the run was completed; a crash of one test ends the whole run.
    var isComplete = false

    /// Reads an event stream.
    /// - Throws: ``ChecklistError`` for a line that is not a record of the stream.
    init(events: String) throws {
        var names: [String: String] = [:]
        var ended: [String: Result] = [:]
        var begun: Set<String> = []
        var withIssue: Set<String> = []
        let decoder = JSONDecoder()
        for (number, line) in events.split(separator: "\n").enumerated() {
            guard let record = try? decoder.decode(Record.self, from: Data(line.utf8)) else {
                // A killed run leaves an unfinished line; the lines before it are still valid.
                if number == events.split(separator: "\n").count - 1, !events.hasSuffix("\n") { break }
                throw ChecklistError("line \(number + 1) of the event stream is no record: \(line.prefix(80))")
            }
            let payload = record.payload
            if record.kind == "test", payload.kind == "function", let id = payload.id {
                names[id] = payload.displayName ?? payload.name?.replacing("`", with: "")
            }
            guard record.kind == "event" else { continue }
            switch (payload.kind, payload.testID) {
            case ("runEnded", _): isComplete = true
            case ("testStarted", let id?): begun.insert(id)
            case ("issueRecorded", let id?): if payload.issue?.isFailing ?? true { withIssue.insert(id) }
            case ("testSkipped", let id?): ended[id] = .provesNothing
            case ("testEnded", let id?):
                ended[id] = payload.messages?.first?.symbol == "pass" ? .passed : payload.isFailure ? .failed : .provesNothing
            default: break
            }
        }
        for (id, name) in names {
            let result = withIssue.contains(id) ? .failed : ended[id] ?? (begun.contains(id) ? .failed : .provesNothing)
            results[name] = Self.worse(results[name], result)
        }
    }

    private static func worse(_ one: Result?, _ other: Result) -> Result {
        guard let one else { return other }
        if one == .failed || other == .failed { return .failed }
        return one == .passed && other == .passed ? .passed : .provesNothing
    }
}

/// The used members of one line of the stream.
private struct Record: Decodable {
    struct Payload: Decodable {
        struct Message: Decodable { let symbol: String? }
        struct Issue: Decodable {
            let isKnown: Bool?
            let severity: String?
            let _severity: String?
            var isFailing: Bool { isKnown != true && (severity ?? _severity) != "warning" }
        }

        let kind: String?
        let id: String?
        let name: String?
        let displayName: String?
        let testID: String?
        let messages: [Message]?
        let issue: Issue?
        var isFailure: Bool { messages?.first?.symbol == "fail" }
    }

    let kind: String
    let payload: Payload
}
