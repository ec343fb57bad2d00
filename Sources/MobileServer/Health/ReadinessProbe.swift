internal import MobileExecution

/// Finds out whether the parts of a server answer, on threads of its own: a full queue of requests and a part that hangs delay no answer beyond the
/// deadline.
///
/// Each part is checked at most once at a time. Questions during a check wait for its result.
final class ReadinessProbe: Sendable {
    struct Part: Sendable {
        /// The kind of the part, for clients.
        let kind: String
        /// The name of the part, for the log.
        let name: String
        /// Whether the server can work although the check fails.
        let isWarning: Bool
        /// Reads something from the part; may block.
        let check: @Sendable () throws -> Void

        init(kind: String, name: String, isWarning: Bool = false, check: @escaping @Sendable () throws -> some Any) {
            (self.kind, self.name, self.isWarning) = (kind, name, isWarning)
            self.check = { _ = try check() }
        }
    }

    /// The result of a check: nil if the part answers, otherwise the reason.
    private typealias Finding = Promise<String?, Never>

    private struct State {
        /// The checks in progress, by the index of their part.
        var checks: [Int: Finding] = [:]
        /// The parts that failed at the last answer.
        var failed: [String] = []
    }

    private let parts: [Part]
    private let deadline: Duration
    private let log: @Sendable (String) -> Void
    private let state = SystemLock(State())
    private let threads: BlockingWork

    init(_ parts: [Part], deadline: Duration, log: @escaping @Sendable (String) -> Void) {
        self.parts = parts
        self.deadline = deadline
        self.log = log
        // One more keeps the time.
        threads = BlockingWork(threads: parts.count + 1)
    }

    /// Calls `reply` once with the answer, on another thread, at the deadline at the latest.
    func answer(_ reply: @escaping @Sendable (ServerResponse) -> Void) {
        let findings = parts.indices.map { finding(of: $0) }
        let answer = Promise<Void, Never>()
        let left = SystemLock(findings.count)
        for finding in findings {
            finding.observe { _ in
                let count = left.withLock { left in
                    left -= 1
                    return left
                }
                if count == 0 { answer.resolve(.success(())) }
            }
        }
        let timer = threads.start(after: deadline) { answer.resolve(.success(())) }
        answer.observe { [self] _ in
            _ = timer?.cancel()
            reply(conclude(findings).response)
        }
    }

    /// Returns the answer; blocks until the deadline at the latest.
    func wait() -> ServerResponse {
        let answer = Promise<HandedOver<ServerResponse>, Never>()
        self.answer { answer.resolve(.success(HandedOver($0))) }
        return answer.wait().value
    }

    private func finding(of index: Int) -> Finding {
        let (finding, isNew) = state.withLock { state in
            if let finding = state.checks[index] { return (finding, false) }
            let finding = Finding()
            state.checks[index] = finding
            return (finding, true)
        }
        guard isNew else { return finding }
        threads.start { [self] in
            var reason: String?
            do { try parts[index].check() } catch { reason = "\(error)" }
            state.withLock { $0.checks[index] = nil }
            finding.resolve(.success(reason))
        }
        return finding
    }

    private func conclude(_ findings: [Finding]) -> Readiness {
        var kinds: [String] = [], failed: [String] = [], lines: [String] = [], warnings: [String] = []
        for (part, finding) in zip(parts, findings) {
            let reason: String
            switch finding.result {
            case .success(nil): continue
            case .success(let text?): reason = text
            case nil: reason = "no answer within \(deadline)"
            }
            guard !part.isWarning else {
                warnings.append(part.kind)
                continue
            }
            if !kinds.contains(part.kind) { kinds.append(part.kind) }
            failed.append(part.name)
            lines.append("not ready: \(part.name): \(reason)")
        }
        // A line for each change, not for each question.
        let hasChanged = state.withLock { state in
            defer { state.failed = failed }
            return state.failed != failed
        }
        if hasChanged { for line in lines.isEmpty ? ["ready again"] : lines { log(line) } }
        guard kinds.isEmpty else { return .failed(kinds) }
        return warnings.isEmpty ? .ready : .warned(warnings)
    }
}
