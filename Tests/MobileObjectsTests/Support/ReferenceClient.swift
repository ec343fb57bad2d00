/// The rules of pending state in memory, in the plainest form: the reference for the database after each step of a random test. Written from the
/// table of events, not from the code under test.
struct ReferenceClient {
    enum Server: Equatable { case absent, present(Version), deleted }

    struct Row: Equatable {
        let kind: Kind
        /// Nil while deleted here.
        var now: Version?
        var change: Character = "N"
        var counter: Int64
        var submitted: Int64 = 0
        var failed: Int64 = 0
        /// The columns that were changed since the last submit.
        var changed: Set<String> = []
        /// The known state of the server, for pending rows.
        var server = Server.absent
        /// Whether an import has brought a version since the last submit.
        var isImported = false
        /// The counter of the row while it was not pending; 0 for a row that was created here.
        var base: Int64 = 0
        /// The customer of an order that is deleted here.
        var lastParent: Int64 = 0
        /// The last operation that the server took.
        var accepted: Int64 = 0

        /// Returns whether an object that was read when the row was `read` may change it: there was no other change since.
        func isUnchanged(since read: Row) -> Bool { counter == read.counter && (change != "N" || accepted == read.accepted) }

        var needsSubmit: Bool { change != "N" && counter != submitted }
    }

    struct Operation: Equatable {
        let id: Int64
        let key: Int64
        let change: Character
        let version: Version?
        /// The columns that are pending in it; none where the row was cancelled since.
        var changed: Set<String>
        /// The columns that it sends.
        let sent: Set<String>
        /// Whether an import has brought a version between its submit and the next one of the row.
        var isImported = false
        /// Whether the server has deferred it.
        var isDeferred = false
    }

    /// The last operation that was sent, while answers are under way; 0 otherwise.
    var inDoubt: Int64 = 0
    var rows: [Int64: Row] = [:]
    var outbox: [Operation] = []
    var lastCounter: Int64 = 0
    var clock: Int64

    init(clock: Int64) { self.clock = clock }

    private mutating func next(after counter: Int64) -> Int64 {
        lastCounter = max(lastCounter + 1, clock, counter + 1)
        return lastCounter
    }

    private func parent(of row: Row) -> Int64 { row.now?.parent ?? row.lastParent }

    /// Returns the orders of a customer, those deleted here included, by key.
    func children(of key: Int64) -> [Int64] {
        rows.filter { parent(of: $0.value) == key }.keys.sorted()
    }

    /// Rows with a pending change of their own, by object and key.
    var pendingKeys: [Int64] {
        rows.filter { $0.value.change != "N" }.sorted { ($0.value.kind, $0.key) < ($1.value.kind, $1.key) }.map(\.key)
    }

    // MARK: Events on the device

    mutating func create(_ key: Int64, _ version: Version) {
        rows[key] = Row(kind: version.kind, now: version, change: "C", counter: next(after: 0), changed: Set(version.kind.columns))
    }

    mutating func update(_ key: Int64, _ values: [String: String]) {
        guard var row = rows[key], var version = row.now else { return }
        if row.change == "N" { keepOriginal(&row) }
        if row.change != "C" { row.change = "U" }
        row.counter = next(after: row.counter)
        version.values.merge(values) { _, new in new }
        row.now = version
        row.changed.formUnion(values.keys)
        rows[key] = row
    }

    mutating func delete(_ key: Int64) {
        for child in children(of: key) where rows[child]?.now != nil { delete(child) }
        guard var row = rows[key] else { return }
        let waits = outbox.contains { $0.key == key && $0.change == "C" }
        if row.change == "C" && row.submitted == 0 && row.server == .absent && !waits { return vanish(key) }
        if row.change == "N" { keepOriginal(&row) }
        row.lastParent = row.now?.parent ?? 0
        if case .present(let version) = row.server { row.lastParent = version.parent }
        row.change = "D"
        row.counter = next(after: row.counter)
        row.now = nil
        rows[key] = row
    }

    private func keepOriginal(_ row: inout Row) {
        if let now = row.now { row.server = .present(now) }
        row.isImported = false
        row.changed = []
        row.base = row.counter
    }

    private mutating func vanish(_ key: Int64) {
        rows[key] = nil
        letGo(key)
    }

    /// Forgets the pending columns of operations that wait for their answer.
    private mutating func letGo(_ key: Int64) {
        for index in outbox.indices where outbox[index].key == key { outbox[index].changed = [] }
    }

    /// Submits the trees of these rows, those of rows created here to which they refer, and those of rows that have left a deleted one.
    /// - Parameter order: the rows that were sent, in their order: the server checks whether the order is right.
    mutating func submit(_ keys: [Int64], order: [Int64]) {
        var waiting = keys, submitted: Set<Int64> = []
        while let key = waiting.popLast() {
            let root = root(of: key)
            for key in [root] + children(of: root) where rows[key]?.needsSubmit == true && submitted.insert(key).inserted {
                if rows[key]?.change == "D" { waiting += rowsThatLeft(key) }
                guard let target = rows[key]?.now?.target, isUnsubmittedCreate(target) else { continue }
                waiting.append(target)
            }
        }
        for key in order where submitted.remove(key) != nil { submitRow(key) }
        // Rows that are missing in `order` go last: the comparison of the outbox then fails.
        for key in submitted { submitRow(key) }
    }

    /// The rows with something to submit that refer to a row for the server, and do so no longer.
    private func rowsThatLeft(_ target: Int64) -> [Int64] {
        rows.keys.sorted().filter { key in
            guard let row = rows[key], row.needsSubmit, key != target, row.now?.target != target else { return false }
            if case .present(let version) = row.server, version.target == target { return true }
            return outbox.contains { $0.key == key && $0.version?.target == target }
        }
    }

    private func root(of key: Int64) -> Int64 {
        guard let row = rows[key], rows[parent(of: row)] != nil else { return key }
        return parent(of: row)
    }

    private func isUnsubmittedCreate(_ key: Int64) -> Bool {
        guard let row = rows[key], row.change == "C", row.needsSubmit, row.server == .absent else { return false }
        return !outbox.contains { $0.key == key && $0.change == "C" }
    }

    private mutating func submitRow(_ key: Int64) {
        guard var row = rows[key] else { return }
        let id = next(after: row.counter)
        let isKnown = row.server != .absent || outbox.contains { $0.key == key && $0.change == "C" }
        let change = row.change == "C" && isKnown ? "U" : row.change
        if row.isImported { for index in outbox.indices where outbox[index].key == key { outbox[index].isImported = true } }
        let sent = change == "C" ? Set(row.kind.columns) : change == "D" ? [] : row.changed
        outbox.append(Operation(id: id, key: key, change: change, version: row.now, changed: sent, sent: sent))
        (row.counter, row.submitted, row.failed, row.isImported, row.changed) = (id, id, 0, false, [])
        rows[key] = row
    }

    mutating func cancel(_ key: Int64) {
        guard let row = rows[key] else { return }
        if rows[parent(of: row)]?.change == "D" { return cancel(parent(of: row)) }
        for child in [key] + children(of: key) {
            if let row = rows[child], row.change != "N" { withdraw(child) }
            restore(child)
        }
    }

    /// Takes back the operations of a row if the server has deferred all of them and none is under way.
    private mutating func withdraw(_ key: Int64) {
        let waiting = outbox.filter { $0.key == key }
        if waiting.allSatisfy({ $0.isDeferred && $0.id > inDoubt }) { outbox.removeAll { $0.key == key } }
    }

    private mutating func restore(_ key: Int64) {
        guard let row = rows[key], row.change != "N" else { return }
        guard case .present(let version) = row.server else { return vanish(key) }
        letGo(key)
        rows[key] = Row(kind: row.kind, now: version, counter: row.base, accepted: row.accepted)
    }

    /// Cancels unsubmitted changes; changes that wait for an answer stay.
    mutating func cancelUnsubmitted() {
        for kind in Kind.allCases {
            for key in pendingKeys where rows[key]?.kind == kind { cancelUnsubmitted(key) }
        }
    }

    private mutating func cancelUnsubmitted(_ key: Int64) {
        guard var row = rows[key], row.needsSubmit else { return }
        let parent = parent(of: row)
        if row.change == "D", rows[parent]?.change == "D" {
            cancelUnsubmitted(parent)
            if rows[parent]?.change == "D" { return }
        }
        guard let operation = outbox.first(where: { $0.id == row.submitted }), let version = operation.version else {
            return row.server == .absent ? cancel(key) : restore(key)
        }
        row.now = overlaid(row.server, version, Set(outbox.filter { $0.key == key }.flatMap(\.changed)))
        if row.change == "D" { row.change = row.server == .absent ? "C" : "U" }
        (row.counter, row.changed) = (row.submitted, [])
        rows[key] = row
    }

    // MARK: Events of the server

    mutating func imported(_ key: Int64, _ version: Version?) {
        guard var row = rows[key] else {
            if let version { rows[key] = Row(kind: version.kind, now: version, counter: clock) }
            return
        }
        if row.change == "N" {
            row.now = version
            rows[key] = version == nil ? nil : row
            return
        }
        row.server = version.map { .present($0) } ?? .deleted
        row.isImported = true
        // The server's version, once there is one, has the row's last parent.
        if row.now == nil, let version { row.lastParent = version.parent }
        rows[key] = row
    }

    /// Removes all rows of an object; the server sends them again.
    mutating func reset(_ kind: Kind) {
        for (key, row) in rows where row.kind == kind {
            if row.change == "N" {
                rows[key] = nil
            } else if case .present = row.server {
                imported(key, nil)
            }
        }
    }

    mutating func deferred(_ id: Int64) {
        for index in outbox.indices where outbox[index].id == id { outbox[index].isDeferred = true }
    }

    mutating func answered(_ id: Int64, accepted: Bool) {
        guard let index = outbox.firstIndex(where: { $0.id == id }) else { return }
        let operation = outbox.remove(at: index)
        guard let row = rows[operation.key], row.change != "N" else { return }
        if accepted { accept(operation, row) } else { reject(operation, row) }
    }

    private mutating func reject(_ operation: Operation, _ row: Row) {
        if operation.change == "C" && row.change == "D" && row.server == .absent { return vanish(operation.key) }
        var row = row
        if operation.change == "C", row.server == .absent, !operation.changed.isEmpty {
            row.changed = Set(row.kind.columns)
        } else {
            takeBack(operation, &row)
        }
        if operation.id == row.counter {
            (row.failed, row.submitted) = (operation.id, 0)
        } else if operation.id == row.submitted {
            row.submitted = 0
        }
        rows[operation.key] = row
    }

    /// Counts the columns of an operation as changed and not submitted again, apart from those of a later one.
    private func takeBack(_ operation: Operation, _ row: inout Row) {
        let later = outbox.filter { $0.key == operation.key && $0.id > operation.id }.flatMap(\.changed)
        row.changed.formUnion(operation.changed.subtracting(later))
    }

    private mutating func accept(_ operation: Operation, _ row: Row) {
        var row = row
        let base = row.base != 0 ? row.base : clock, isImported = operation.isImported || row.isImported
        if operation.id == row.submitted, row.counter == row.submitted, row.changed.isEmpty || row.change == "D" {
            guard let now = settled(operation, row) else { return vanish(operation.key) }
            rows[operation.key] = Row(kind: row.kind, now: now, counter: base, accepted: operation.id)
            return
        }
        if operation.id == row.submitted || !operation.changed.isEmpty { row.accepted = operation.id }
        if !operation.changed.isEmpty {
            row.base = base
            if !isImported, let version = operation.version {
                row.server = .present(overlaid(row.server, version, operation.changed))
                if row.now == nil, case .present(let version) = row.server { row.lastParent = version.parent }
            }
            if case .present(let server) = row.server, var now = row.now {
                let waiting = outbox.filter { $0.key == operation.key }.flatMap(\.changed)
                for column in row.kind.columns where !row.changed.contains(column) && !waiting.contains(column) {
                    now.values[column] = server.values[column]
                }
                row.now = now
            }
        }
        if operation.id == row.submitted {
            if row.change == "C" { row.change = "U" }
            row.submitted = 0
        }
        rows[operation.key] = row
    }

    /// Returns the version that the application sees of a row that is no longer pending.
    private func settled(_ operation: Operation, _ row: Row) -> Version? {
        if row.isImported {
            if case .present(let version) = row.server { return version }
            return nil
        }
        guard let now = row.now, case .present = row.server else { return row.now }
        return overlaid(row.server, now, operation.changed)
    }

    /// Returns the server's version with these columns of another; without a known version, all of the other.
    private func overlaid(_ server: Server, _ version: Version, _ columns: Set<String>) -> Version {
        guard case .present(var known) = server else { return version }
        for column in columns { known.values[column] = version.values[column] }
        return known
    }

    // MARK: The expected state

    /// Returns the letter of a row: a customer without a change of its own is P while an order of it is pending.
    private func letter(_ key: Int64, _ row: Row) -> Character {
        guard row.change == "N" else { return row.change }
        return children(of: key).contains { rows[$0]?.change != "N" } ? "P" : "N"
    }

    /// Rows that the application sees: `key values letter counter submitted failed`.
    var visible: [String] {
        rows.sorted { $0.key < $1.key }.compactMap { key, row in
            row.now.map { "\(key) \($0) \(letter(key, row)) \(row.counter) \(row.submitted) \(row.failed)" }
        }
    }

    /// Rows with a pending change of their own, those deleted here included.
    var pending: [String] {
        rows.sorted { $0.key < $1.key }.compactMap { key, row in
            row.change == "N" ? nil : "\(key) \(row.change) \(row.counter) \(row.submitted) \(row.failed)"
        }
    }

    var waiting: [String] {
        outbox.map { operation in
            let sent = operation.sent.sorted().map { "\($0)=\(operation.version?.values[$0] ?? "")" }
            return "\(operation.id) \(operation.change) \(operation.key) \(sent.joined(separator: " "))"
        }
    }
}
