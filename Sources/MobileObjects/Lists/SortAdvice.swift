internal import MobileExecution
import MobileStore

/// Says on the console which long lists the database sorts again for each part that is read, each once.
final class SortAdvice: Sendable {
    /// The number of objects up to which sorting takes no noticeable time.
    static let limit = 10_000
    /// The number of queries whose plan is read. Programs that make new texts without end get no further advice.
    private static let maximum = 128

    private let known = SystemLock<Set<ExactText>>([])
    private let console: ConsoleLogger

    init(_ console: ConsoleLogger) { self.console = console }

    /// Takes notice of a list that has at least `count` rows.
    func note(_ count: Int, of plan: ListPlan, in connection: Connection) {
        guard count > Self.limit, let sort = plan.sort, known.withLock({ $0.count < Self.maximum && $0.insert(ExactText(sort.sql)).inserted }),
            let steps = try? connection.rows("EXPLAIN QUERY PLAN " + sort.sql, plan.values),
            steps.contains(where: { $0.last?.text == "USE TEMP B-TREE FOR ORDER BY" })
        else { return }
        let attributes = sort.attributes.joined(separator: ", ")
        console.warn(
            "list of \(sort.object): more than \(Self.limit) objects are sorted by \(attributes), again for each part of the list that is read, because no index "
                + "has this order; make one with createIndex(_:on:)")
    }
}

extension PackageDatabase {
    final var sortAdvice: SortAdvice {
        let console = console
        return attachment { SortAdvice(console) }
    }
}
