internal import Dispatch
internal import MobileExecution
internal import MobileObjects
internal import TestSupport

/// Observes all rows of an object, and reads those that have changed, as a list on a screen does. It has threads of its own: those of the Swift pool may all be
/// blocked by other tests.
final class RowObserver: Sendable {
    /// The stamps of the rows that it has seen last, by tag; nil before the first result.
    private let seen: SystemLock<[String: String]?>
    /// Rings with each result.
    private let bell: DispatchSemaphore
    private let task: Task<Void, Never>

    init(_ entity: EntityClass) {
        let seen = SystemLock<[String: String]?>(nil), observation = entity.observe().withChanges()
        let bell = DispatchSemaphore(value: 0)
        (self.seen, self.bell) = (seen, bell)
        task = Task(executorPreference: OwnThreads()) {
            do {
                var list: [(tag: String, stamp: String)] = []
                for try await step in observation {
                    try Self.apply(step.changes, to: &list, step.snapshot)
                    let rows = Dictionary(list.map { ($0.tag, $0.stamp) }) { first, _ in first }
                    seen.withLock { $0 = rows }
                    bell.signal()
                }
            } catch {
                // Then it shows nothing any more, which the check finds.
                seen.withLock { $0 = ["failed": "\(error)"] }
                bell.signal()
            }
        }
    }

    deinit { task.cancel() }

    private static func apply(
        _ changes: EntityChanges, to list: inout [(tag: String, stamp: String)], _ snapshot: EntitySnapshot<GenericEntity>
    ) throws {
        func row(_ position: Int) throws -> (tag: String, stamp: String) {
            let object = snapshot[position]
            return (try object.value("tag").description, try object.value("stamp").description)
        }
        let moved = Dictionary(uniqueKeysWithValues: changes.moved.map { ($0.to, list[$0.from]) })
        let gone = Set(changes.removed + changes.moved.map(\.from))
        list = list.indices.filter { !gone.contains($0) }.map { list[$0] }
        for position in (changes.inserted + moved.keys).sorted() { list.insert(try moved[position] ?? row(position), at: position) }
        for position in changes.updated { list[position] = try row(position) }
    }

    /// Waits until it shows these rows, for ten minutes at most: next to all other tests, the threads that begin an observation have work for minutes.
    /// - Returns: the rows that it shows instead; nil if it shows these.
    func others(than rows: [String: String]) -> String? {
        let end = DispatchTime.now() + .seconds(600)
        while seen.withLock({ $0 }) != rows {
            guard bell.wait(timeout: end) == .success else { return seen.withLock { $0 }.map { "\($0)" } ?? "nothing yet" }
        }
        return nil
    }
}
