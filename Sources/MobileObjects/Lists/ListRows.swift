internal import MobileExecution
import MobileStore

/// Reads the rows of a list from any position on, one page at a time. Any thread may use it.
///
/// `@unchecked Sendable`: `state` is only touched under the lock. It is not in a `SystemLock`, because the cursor uses connections, which are bound to
/// their thread.
final class ListRows: @unchecked Sendable {
    let plan: ListPlan
    private let lock = SystemLock(())
    private var state = State()

    fileprivate struct State {
        /// The cursor; nil where pages are counted off.
        var cursor: RowCursor?
        /// The number of rows before the cursor; nil: the cursor has no position yet.
        var position: Int?
        var places = ListPlaces()
    }

    /// The number of rows that are read at once.
    let size: Int

    /// - Parameter size: the number of rows that are read at once, 1 or more.
    init(_ plan: ListPlan, size: Int) throws {
        (self.plan, self.size) = (plan, size)
        guard size > 0 else { throw ObjectError(.misuse, "list: a page of \(size) objects; use 1 or more") }
    }

    /// Reads the same rows from another position.
    init(beside other: ListRows) {
        (plan, size) = (other.plan, other.size)
    }

    /// Returns the number of rows.
    func count(in connection: Connection) throws(StoreError) -> Int {
        plan.count(of: Int(try connection.number(plan.countSQL, plan.values)))
    }

    /// Reads the rows from a position on, ``size`` of them or those up to the end.
    /// - Parameter isCurrent: whether the known places are still right; they are not in a transaction that changes rows.
    /// - Returns: their pages, mostly one, and the number of rows, which is smaller than that of the pages where `take` ends within the last one.
    func rows(from position: Int, in connection: Connection, isCurrent: Bool = true) throws -> (pages: [RowPage], count: Int) {
        let wanted = plan.take < 0 ? size : min(size, plan.take - position)
        guard wanted > 0 else { return ([], 0) }
        switch plan.rows {
        case .byPosition(let sql):
            let values = plan.values + [.integer(Int64(wanted)), .integer(Int64(plan.skip + position))]
            var source = try connection.pages(sql, values, size: wanted)
            var pages: [RowPage] = []
            while let page = try source.next() { pages.append(page) }
            return (pages, pages.reduce(0) { $0 + $1.count })
        case .byKey(let query):
            return try lock.withLock { _ in
                if !isCurrent { state.forget() }
                defer { if !isCurrent { state.forget() } }
                return try state.rows(query, plan, from: position, wanted, size: size, in: connection)
            }
        }
    }

    /// Notes that another reader has read the first page.
    func noteFirst(_ page: RowPage) {
        guard let last = page.last else { return }
        lock.withLock { _ in state.places.insert(page.count, [.integer(last.integer(0))]) }
    }

    /// Forgets the known places, which are not right any more.
    func forgetPlaces() { lock.withLock { _ in state.forget() } }
}

extension ListRows.State {
    mutating func forget() {
        position = nil
        places.removeAll()
    }

    mutating func rows(
        _ query: PageQuery, _ plan: ListPlan, from start: Int, _ wanted: Int, size: Int, in connection: Connection
    ) throws(StoreError) -> (pages: [RowPage], count: Int) {
        let cursor = try place(query, plan, at: start, size: size, in: connection)
        var pages: [RowPage] = [], count = 0
        position = nil
        while count < wanted, let page = try cursor.next(in: connection) {
            pages.append(page)
            count += page.count
            if cursor.isAtEnd { break }
        }
        position = start + count
        if let values = cursor.position { places.insert(start + count, values) }
        return (pages, min(count, wanted))
    }

    /// Moves the cursor before the row at a position.
    private mutating func place(
        _ query: PageQuery, _ plan: ListPlan, at target: Int, size: Int, in connection: Connection
    ) throws(StoreError) -> RowCursor {
        let cursor: RowCursor
        if let known = self.cursor {
            cursor = known
        } else {
            var query = query
            query.values = plan.values
            cursor = try RowCursor(query, size: size)
            self.cursor = cursor
            position = -plan.skip
        }
        var reached = position
        if reached != target {
            if let place = places.nearest(target), reached.map({ $0 > target || $0 < place.position }) ?? true {
                try cursor.seek(to: place.values)
                reached = place.position
            } else if reached.map({ $0 > target }) ?? true {
                cursor.rewind()
                reached = -plan.skip
            }
        }
        let distance = target - (reached ?? 0)
        if distance > 0 { try cursor.skip(distance, in: connection) }
        return cursor
    }
}
