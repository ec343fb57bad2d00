/// One version of a row: a customer's name, or an order's status and its customer.
struct Version: Equatable {
    var isOrder: Bool
    var text: String
    var parent: Int64 = 0
}

/// The rules of pending state in memory, in the plainest form: what the database is compared with after each step of a random test.
/// Written from the table of events, not from the code under test.
struct ReferenceClient {
    enum Server: Equatable { case absent, present(Version), deleted }

    struct Row: Equatable {
        /// Nil while deleted here.
        var now: Version?
        var change: Character = "N"
        var counter: Int64
        var submitted: Int64 = 0
        var failed: Int64 = 0
        /// What is known of the server, of pending rows.
        var server = Server.absent
        var isImported = false
        /// The counter of the row while it was not pending; 0 for a row that was created here.
        var base: Int64 = 0
        /// The customer of a row that is deleted here.
        var lastParent: Int64 = 0
        /// The counter of the first change since the last submit.
        var firstChange: Int64 = 0

        var needsSubmit: Bool { change != "N" && counter != submitted }
    }

    struct Operation: Equatable {
        let id: Int64
        let key: Int64
        let change: Character
        let version: Version?
    }

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

    /// Orders of a customer, those deleted here included, by key.
    func children(of key: Int64) -> [Int64] {
        rows.filter { parent(of: $0.value) == key }.keys.sorted()
    }

    // MARK: Events on the device

    mutating func create(_ key: Int64, _ version: Version) {
        let counter = next(after: 0)
        rows[key] = Row(now: version, change: "C", counter: counter, firstChange: counter)
    }

    mutating func update(_ key: Int64, _ text: String) {
        guard var row = rows[key], var version = row.now else { return }
        let isFirst = !row.needsSubmit
        if row.change == "N" { keepOriginal(&row) }
        if row.change != "C" { row.change = "U" }
        row.counter = next(after: row.counter)
        if isFirst { row.firstChange = row.counter }
        version.text = text
        row.now = version
        rows[key] = row
    }

    mutating func delete(_ key: Int64) {
        for child in children(of: key) where rows[child]?.now != nil { delete(child) }
        guard var row = rows[key] else { return }
        let waits = outbox.contains { $0.key == key && $0.change == "C" }
        if row.change == "C" && row.submitted == 0 && row.server == .absent && !waits {
            rows[key] = nil
            return
        }
        if row.change == "N" { keepOriginal(&row) }
        row.lastParent = row.now?.parent ?? 0
        if case .present(let version) = row.server { row.lastParent = version.parent }
        row.change = "D"
        row.counter = next(after: row.counter)
        row.firstChange = row.counter
        row.now = nil
        rows[key] = row
    }

    private func keepOriginal(_ row: inout Row) {
        if let now = row.now { row.server = .present(now) }
        row.isImported = false
        row.base = row.counter
    }

    mutating func submit(_ key: Int64) {
        let root = root(of: key)
        if let change = rows[root]?.change, change != "D" { submitRow(root) }
        for child in children(of: root) { submitRow(child) }
        if rows[root]?.change == "D" { submitRow(root) }
    }

    /// Trees go by the time of their first change that was not submitted.
    mutating func submitAll() {
        let waiting = rows.filter { $0.value.needsSubmit }
        let trees = Dictionary(grouping: waiting, by: { root(of: $0.key) }).mapValues { $0.map(\.value.firstChange).min() ?? 0 }
        for tree in trees.sorted(by: { $0.value < $1.value }) { submit(tree.key) }
    }

    private func root(of key: Int64) -> Int64 {
        guard let row = rows[key], rows[parent(of: row)] != nil else { return key }
        return parent(of: row)
    }

    private mutating func submitRow(_ key: Int64) {
        guard var row = rows[key], row.change != "N", row.counter != row.submitted else { return }
        let id = next(after: row.counter)
        let isKnown = row.server != .absent || outbox.contains { $0.key == key && $0.change == "C" }
        outbox.append(Operation(id: id, key: key, change: row.change == "C" && isKnown ? "U" : row.change, version: row.now))
        (row.counter, row.submitted, row.failed, row.isImported) = (id, id, 0, false)
        rows[key] = row
    }

    mutating func cancel(_ key: Int64) {
        guard let row = rows[key] else { return }
        if rows[parent(of: row)]?.change == "D" { return cancel(parent(of: row)) }
        for child in [key] + children(of: key) { restore(child) }
    }

    private mutating func restore(_ key: Int64) {
        guard let row = rows[key], row.change != "N" else { return }
        guard case .present(let version) = row.server else {
            rows[key] = nil
            return
        }
        rows[key] = Row(now: version, counter: row.base)
    }

    // MARK: Events of the server

    mutating func imported(_ key: Int64, _ version: Version?) {
        guard var row = rows[key] else {
            if let version { rows[key] = Row(now: version, counter: clock) }
            return
        }
        if row.change == "N" {
            row.now = version
            rows[key] = version == nil ? nil : row
            return
        }
        row.server = version.map { .present($0) } ?? .deleted
        row.isImported = true
        // Where the row went to is known by the server's version of it, once there is one.
        if row.now == nil, let version { row.lastParent = version.parent }
        rows[key] = row
    }

    mutating func answered(_ id: Int64, accepted: Bool) {
        guard let index = outbox.firstIndex(where: { $0.id == id }) else { return }
        let operation = outbox.remove(at: index)
        guard var row = rows[operation.key], row.change != "N" else { return }
        if accepted {
            accept(operation, &row)
        } else if operation.change == "C" && row.change == "D" && row.server == .absent {
            rows[operation.key] = nil
        } else if id == row.counter {
            (row.failed, row.submitted) = (id, 0)
            rows[operation.key] = row
        } else if id == row.submitted {
            row.submitted = 0
            rows[operation.key] = row
        }
    }

    private mutating func accept(_ operation: Operation, _ row: inout Row) {
        let base = row.base != 0 ? row.base : clock
        if operation.id != row.submitted {
            if operation.change == "C" && row.server == .absent, let version = operation.version {
                (row.server, row.base) = (.present(version), base)
                if row.now == nil { row.lastParent = version.parent }
            }
            rows[operation.key] = row
        } else if row.counter == row.submitted {
            var now = row.now
            if row.isImported {
                now = nil
                if case .present(let version) = row.server { now = version }
            }
            rows[operation.key] = now.map { Row(now: $0, counter: base) }
        } else {
            if row.isImported {
                row.base = base
            } else if let version = operation.version {
                (row.server, row.base) = (.present(version), base)
                if row.now == nil { row.lastParent = version.parent }
            }
            if row.change == "C" { row.change = "U" }
            row.submitted = 0
            rows[operation.key] = row
        }
    }

    // MARK: What there should be

    /// The letter of a row: a customer without a change of its own is P while an order of it is pending.
    private func letter(_ key: Int64, _ row: Row) -> Character {
        guard row.change == "N" else { return row.change }
        return children(of: key).contains { rows[$0]?.change != "N" } ? "P" : "N"
    }

    /// Rows that the application sees: `key text parent letter counter submitted failed`.
    var visible: [String] {
        rows.sorted { $0.key < $1.key }.compactMap { key, row in
            row.now.map { "\(key) \($0.text) \($0.parent) \(letter(key, row)) \(row.counter) \(row.submitted) \(row.failed)" }
        }
    }

    /// Rows with a pending change of their own, those deleted here included.
    var pending: [String] {
        rows.sorted { $0.key < $1.key }.compactMap { key, row in
            row.change == "N" ? nil : "\(key) \(row.change) \(row.counter) \(row.submitted) \(row.failed)"
        }
    }

    var waiting: [String] { outbox.map { "\($0.id) \($0.change) \($0.key) \($0.version?.text ?? "")" } }
}
