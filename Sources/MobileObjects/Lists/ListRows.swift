internal import MobileExecution
import MobileStore

/// Reads the rows of a list from any position on, one page at a time. Any thread may use it.
///
/// `@unchecked Sendable`: `state` is only touched under the lock. It is not in a `SystemLock`, because the cursor uses connections, which are bound to
/// their thread.
final class ListRows: @unchecked Sendable {
    let plan: ListPlan
    private let advice: SortAdvice
    private let lock = SystemLock(())
    private var state = State()

    fileprivate struct State {
        /// The cursor; nil where pages are counted off.
        var cursor: RowCursor?
        /// The number of rows before the cursor; nil: the cursor has no position yet.
        var position: Int?
        var places = ListPlaces()
        /// The place of the cursor, where ``position`` is not known.
        var place: Place?
    }

    /// The number of rows that are read at once.
    let size: Int

    /// - Parameter size: the number of rows that are read at once, 1 or more.
    init(_ plan: ListPlan, size: Int, _ advice: SortAdvice) throws {
        (self.plan, self.size, self.advice) = (plan, size, advice)
        guard size > 0 else { throw ObjectError(.misuse, "list: a page of \(size) objects; use 1 or more") }
    }

    /// Reads the same rows from another position.
    init(beside other: ListRows) {
        (plan, size, advice) = (other.plan, other.size, other.advice)
    }

    /// Returns the number of rows.
    func count(in connection: Connection) throws(StoreError) -> Int {
        let count = plan.count(of: Int(try connection.number(plan.countSQL, plan.values)))
        advice.note(count, of: plan, in: connection)
        return count
    }

    // MARK: By position

    /// Reads the rows from a position on, ``size`` of them or those up to the end.
    /// - Parameter isCurrent: whether the known places are still right; they are not in a transaction that changes rows.
    /// - Returns: their pages, mostly one.
    func rows(from position: Int, in connection: Connection, isCurrent: Bool = true) throws -> [RowPage] {
        let wanted = plan.take < 0 ? size : min(size, plan.take - position)
        guard wanted > 0 else { return [] }
        advice.note(position, of: plan, in: connection)
        switch plan.rows {
        case .byPosition(let sql):
            let values = plan.values + [.integer(Int64(wanted)), .integer(Int64(plan.skip + position))]
            var source = try connection.pages(sql, values, size: wanted)
            var pages: [RowPage] = []
            while let page = try source.next() { pages.append(page) }
            return pages
        case .byKey(let query):
            return try lock.withLock { _ in
                if !isCurrent { state.forget() }
                defer { if !isCurrent { state.forget() } }
                return try state.rows(query, plan, from: position, wanted, in: connection)
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

    // MARK: From the first to the last row

    /// A place between two rows.
    final class Place: Sendable {
        /// The number of rows before the place.
        let position: Int
        /// The values that order the last one of them; empty before the first row, and where rows have no key.
        let values: [Value]

        init(position: Int = 0, values: [Value] = []) { (self.position, self.values) = (position, values) }
    }

    /// Rows that were read at once, and the place after them.
    struct Part: Sendable {
        let pages: [RowPage]
        let end: Place

        var isEmpty: Bool { pages.isEmpty }
    }

    /// Reads the rows after a place, ``size`` of them or those up to the end. Rows that are inserted or deleted before the place move nothing.
    func rows(after place: Place, in connection: Connection) throws -> Part {
        let wanted = plan.take < 0 ? size : min(size, plan.take - place.position)
        guard wanted > 0, case .byKey(let query) = plan.rows else {
            let pages = try rows(from: place.position, in: connection)
            return Part(pages: pages, end: Place(position: place.position + pages.rowCount))
        }
        advice.note(place.position, of: plan, in: connection)
        return try lock.withLock { _ in try state.rows(query, plan, after: place, wanted, in: connection) }
    }

    /// The maximum number of parts that are read ahead at once. Why not one: waking a thread costs as much as reading some dozens of rows.
    private static let partsAhead = 8
    /// The number of bytes after which no further part is read ahead.
    private static let bytesAhead = 1 << 20

    /// Reads several parts after a place, for a caller that is likely to need them. Where a later part cannot be read, it returns those before it.
    func parts(after place: Place, in connection: Connection) throws -> [Part] {
        lock.withLock { _ in state.cursor?.dropMemory() }
        var parts = [try rows(after: place, in: connection)]
        var bytes = parts[0].bytes
        while parts.count < Self.partsAhead, bytes < Self.bytesAhead, let last = parts.last, !last.isEmpty {
            guard let part = try? rows(after: last.end, in: connection) else { break }
            parts.append(part)
            bytes += part.bytes
        }
        return parts
    }
}

extension [RowPage] {
    /// The number of rows of all pages.
    var rowCount: Int { reduce(0) { $0 + $1.count } }
}

extension ListRows.Part {
    fileprivate var bytes: Int { pages.reduce(0) { $0 + $1.memory.bytes } }
}

extension ListRows.State {
    mutating func forget() {
        position = nil
        place = nil
        places.removeAll()
    }

    mutating func rows(
        _ query: PageQuery, _ plan: ListPlan, from start: Int, _ wanted: Int, in connection: Connection
    ) throws(StoreError) -> [RowPage] {
        let cursor = try moved(to: start, query, plan, in: connection)
        (position, place) = (nil, nil)
        let pages = try cursor.rows(wanted, in: connection)
        position = start + pages.rowCount
        if let values = cursor.position { places.insert(start + pages.rowCount, values) }
        return pages
    }

    mutating func rows(
        _ query: PageQuery, _ plan: ListPlan, after start: ListRows.Place, _ wanted: Int, in connection: Connection
    ) throws(StoreError) -> ListRows.Part {
        let cursor = try cursor(query, plan), isThere = place === start
        (position, place) = (nil, nil)
        // The same object, not an equal position: rows that were dropped may have moved the cursor as far.
        if !isThere {
            if start.values.isEmpty {
                cursor.rewind()
                try cursor.skip(plan.skip, in: connection)
            } else {
                try cursor.seek(to: start.values)
            }
        }
        let pages = try cursor.rows(wanted, in: connection)
        let end = ListRows.Place(position: start.position + pages.rowCount, values: cursor.position ?? start.values)
        place = end
        return ListRows.Part(pages: pages, end: end)
    }

    private mutating func cursor(_ query: PageQuery, _ plan: ListPlan) throws(StoreError) -> RowCursor {
        if let cursor { return cursor }
        var query = query
        query.values = plan.values
        let made = try RowCursor(query)
        cursor = made
        position = -plan.skip
        return made
    }

    /// Moves the cursor before the row at a position.
    private mutating func moved(
        to target: Int, _ query: PageQuery, _ plan: ListPlan, in connection: Connection
    ) throws(StoreError) -> RowCursor {
        let cursor = try cursor(query, plan)
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

extension RowCursor {
    /// Reads the next rows, fewer than wanted only at the end. Large values may fill a page before its last row, so there may be several pages.
    fileprivate func rows(_ wanted: Int, in connection: Connection) throws(StoreError) -> [RowPage] {
        var pages: [RowPage] = [], left = wanted
        while left > 0, let page = try next(in: connection, size: left) {
            pages.append(page)
            left -= page.count
            if isAtEnd { break }
        }
        return pages
    }
}
