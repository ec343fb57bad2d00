internal import MobileExecution
internal import MobileObjects
internal import TestSupport

/// Observes all rows of an object on threads of its own, as a screen does: those of the Swift pool may all be blocked by other tests.
final class RowObserver: Sendable {
    /// The stamps of the rows that it has seen last, by tag; nil before the first result.
    private let seen: SystemLock<[String: String]?>
    private let task: Task<Void, Never>

    init(_ entity: EntityClass) {
        let seen = SystemLock<[String: String]?>(nil), observation = entity.observe()
        self.seen = seen
        task = Task(executorPreference: OwnThreads()) {
            do {
                for try await snapshot in observation {
                    var rows: [String: String] = [:]
                    for object in snapshot { rows[try object.value("tag").description] = try object.value("stamp").description }
                    seen.withLock { $0 = rows }
                }
            } catch {
                // Then it shows nothing any more, which the check finds.
                seen.withLock { $0 = ["failed": "\(error)"] }
            }
        }
    }

    deinit { task.cancel() }

    /// Waits until it shows these rows.
    /// - Returns: the rows that it shows instead; nil if it shows these.
    func others(than rows: [String: String]) -> String? {
        eventually { seen.withLock { $0 } == rows } ? nil : seen.withLock { $0 }.map { "\($0)" } ?? "nothing yet"
    }
}
