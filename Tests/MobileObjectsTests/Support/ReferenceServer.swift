import MobileObjects
import MobileStore

/// A server with its back end, in the plainest form. It takes operations in their order, each once. Its back end computes a column, changes the form
/// of a value, and refuses values that do not fit. It sends a device a row only when the row differs from the version that the device has.
struct ReferenceServer {
    private(set) var rows: [Int64: Version] = [:]
    /// The versions that the device has.
    private(set) var told: [Int64: Version] = [:]
    /// Operations that were processed and not answered.
    var answers: [(id: Int64, accepted: Bool)] = []
    /// Events that must not happen, noted as soon as they have.
    private(set) var faults: [String] = []
    private var processed: Set<Int64> = []
    /// Rows that a device has made, accepted or not.
    private var created: Set<Int64> = []
    /// Rows of the device that an operation has referred to before they came themselves.
    private var expected: [Int64: Int64] = [:]
    private var nextKey: Int64 = 1

    // MARK: Another device

    /// Inserts a row. The revision is the back end's.
    mutating func insert(_ version: Version) {
        var version = version
        version.values["revision"] = "1"
        rows[nextKey] = version
        nextKey += 1
    }

    mutating func write(_ key: Int64, _ column: String, _ value: String) {
        guard var version = rows[key], version.values[column] != value else { return }
        version.values[column] = value
        version.values["revision"] = String((Int(version.values["revision"] ?? "") ?? 0) + 1)
        rows[key] = version
    }

    /// Removes a row. A customer is removed with its orders; a product that a customer refers to stays.
    @discardableResult
    mutating func remove(_ key: Int64) -> Bool {
        guard !rows.values.contains(where: { $0.kind == .customer && $0.values["favourite"] == String(key) }) else { return false }
        for (child, version) in rows where version.parent == key { rows[child] = nil }
        rows[key] = nil
        return true
    }

    func keys(_ kind: Kind) -> [Int64] { rows.filter { $0.value.kind == kind }.keys.sorted() }

    // MARK: Operations

    /// Takes the operations that it has not taken before.
    /// - Parameters:
    ///   - limit: the number of operations to take; the rest comes again later, as where the back end is busy.
    ///   - refuses: whether an operation is refused for no reason that the device could know.
    mutating func replay(_ outbox: [OutboxRecord], limit: Int, edits: inout EditLedger, refuses: (OutboxRecord) -> Bool) -> [Int64] {
        let new = outbox.filter { !processed.contains($0.id) }.prefix(limit)
        for record in new {
            processed.insert(record.id)
            checkReferences(record)
            let accepted = !refuses(record) && apply(record, &edits)
            answers.append((record.id, accepted))
        }
        return new.map(\.id)
    }

    func hasProcessed(_ id: Int64) -> Bool { processed.contains(id) }

    private mutating func apply(_ record: OutboxRecord, _ edits: inout EditLedger) -> Bool {
        guard let kind = Kind(rawValue: record.entity) else { return false }
        let key = record.surrogateKey
        var sent: [String: String] = [:]
        for column in kind.columns { sent[column] = Self.sent(column, in: record, kind) }
        if let reference = kind.reference, let value = sent[reference.name], let target = Int64(value) {
            guard rows[target] != nil else { return false }
        }
        switch record.change {
        case .create:
            guard rows[key] == nil else { return false }
            sent["revision"] = "1"
            rows[key] = Version(kind: kind, values: normalized(sent))
            // The device has the row in some form, and must be notified when it is gone.
            told[key] = Version(kind: kind, values: [:])
        case .update:
            guard rows[key] != nil else { return false }
            for (column, value) in normalized(sent) { write(key, column, value) }
        case .delete, .other:
            return remove(key)
        }
        faults += edits.take(key, sent, isCreate: record.change == .create)
        return true
    }

    /// Normalizes values as the back end does: it writes cities in capitals.
    private func normalized(_ values: [String: String]) -> [String: String] {
        var values = values
        if let city = values["city"] { values["city"] = city.uppercased() }
        return values
    }

    /// Returns the value that an operation sends for a column; nil where it sends none. A reference is sent by the attribute that stands for it.
    static func sent(_ column: String, in record: OutboxRecord, _ kind: Kind) -> String? {
        if let reference = kind.reference, reference.name == column {
            guard record.attributes[reference.attribute] != nil else { return nil }
            return record.references[column]?.integer.map { String($0) } ?? ""
        }
        guard let value = record.attributes[column] else { return nil }
        return value.string ?? value.integer.map { String($0) } ?? ""
    }

    /// Checks that operations that refer to a row made on the device come after that row.
    private mutating func checkReferences(_ record: OutboxRecord) {
        if record.change == .create {
            created.insert(record.surrogateKey)
            if let id = expected[record.surrogateKey] { faults.append("operation \(id) came before \(record.id), to which it refers") }
        }
        guard record.change != .delete else { return }
        for reference in record.references {
            guard let key = reference.value.integer, rows[key] == nil, !created.contains(key) else { continue }
            expected[key] = expected[key] ?? record.id
        }
    }

    // MARK: News for the device

    /// Returns the rows of an object that differ from the device's versions, and those that are gone.
    mutating func news(_ kind: Kind) -> (changed: [(key: Int64, version: Version)], gone: [Int64]) {
        let changed = rows.filter { $0.value.kind == kind && told[$0.key] != $0.value }.sorted { $0.key < $1.key }
        let gone = told.filter { $0.value.kind == kind && rows[$0.key] == nil }.keys.sorted()
        for (key, version) in changed { told[key] = version }
        for key in gone { told[key] = nil }
        return (changed.map { ($0.key, $0.value) }, gone)
    }

    /// Forgets the device's versions of an object: it gets all of them.
    mutating func forget(_ kind: Kind) {
        for (key, version) in told where version.kind == kind { told[key] = nil }
    }

    var contents: [String] { rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" } }
}

/// The texts that the user has typed: no edit is lost, and none is taken twice. It does not know states and submissions.
struct EditLedger {
    private struct Place: Hashable {
        let key: Int64
        let column: String
    }

    /// The last edit of a place that the server has not taken.
    private var open: [Place: String] = [:]
    /// All edits of a place that were made and not taken.
    private var made: [Place: [String]] = [:]

    mutating func edit(_ key: Int64, _ values: [String: String]) {
        for (column, value) in values {
            open[Place(key: key, column: column)] = value
            made[Place(key: key, column: column), default: []].append(value)
        }
    }

    /// Notes that the user has given up a row, or these columns of it.
    mutating func giveUp(_ key: Int64, _ columns: Set<String>? = nil) {
        for place in open.keys where place.key == key && columns?.contains(place.column) != false { open[place] = nil }
    }

    /// Notes that the server writes these values.
    /// - Returns: the faults of this write.
    mutating func take(_ key: Int64, _ values: [String: String], isCreate: Bool) -> [String] {
        var faults: [String] = []
        for (column, value) in values.sorted(by: { $0.key < $1.key }) {
            let place = Place(key: key, column: column)
            if open[place] == value { open[place] = nil }
            if let index = made[place]?.firstIndex(of: value) {
                made[place]?.remove(at: index)
            } else if !isCreate {
                faults.append("\(column)=\(value) of \(key) is written, which nobody changed since it was taken")
            }
        }
        return faults
    }

    /// Returns edits that were neither taken nor given up, and that a row does not show or does not wait to send.
    func lost(_ key: Int64, _ version: Version, isPending: Bool) -> [String] {
        version.kind.columns.compactMap { column in
            guard let value = open[Place(key: key, column: column)], version.values[column] != value || !isPending else { return nil }
            return "\(column)=\(value) of \(key) is lost"
        }
    }
}
