internal import MobileStore

/// The changes of one model that one request sends.
struct UploadBatch: Sendable {
    /// The changes of one object.
    struct Change: Sendable {
        let object: String
        let attributes: [String: String]
    }

    var creates: [Change] = []
    var updates: [Change] = []
    var deletes: [Change] = []
    /// Whether the request is sent without changes as well.
    var isForced = false
    /// Whether deletions wait for the page that the server may send again.
    var holdsDeletes = false
    /// The rows of the queue that the request has.
    var rows: [Int64] = []

    var isEmpty: Bool { creates.isEmpty && updates.isEmpty && deletes.isEmpty }
}

extension ChangeQueue {
    /// A row that may be sent.
    private struct Row {
        let id: Int64, object: String, attribute: String, value: String?
    }

    /// Collects the changes that can be sent, and marks exactly their rows.
    /// - Parameters:
    ///   - source: the model.
    ///   - waiting: whether a value of an attribute is the temporary id of another model's object: such an object is held back.
    ///   - attempts: the number of times that an upload without changes is sent for creates without an answer.
    ///   - awaitsPage: whether the server may have a page that was not committed. It would send the page again after a deletion as well, and a value in it that
    ///     the deletion names, too, would stay without its object: the server has no reason to take it back. So deletions wait until the page has come.
    func collect(
        _ source: Source, attempts: Int, awaitsPage: Bool, waiting: (_ attribute: String, _ value: String) throws -> Bool, in connection: Connection
    ) throws -> UploadBatch {
        var batch = UploadBatch()
        // The server does not know these ids yet.
        let temporary = Set(
            try connection.rows(
                "SELECT object FROM changed_values WHERE source_id = ?1 AND update_type = 'create' AND sent < 3", [Value(sourceID)]
            ).compactMap(\.first?.text))
        func isHeld(_ attributes: [String: String]) throws -> Bool {
            for (name, value) in attributes where source.model.associations[name] != nil { if try waiting(name, value) { return true } }
            return false
        }
        for row in try rows("create", in: connection) {
            guard let attributes = try source.table.attributes(of: row.object, in: connection), try !isHeld(attributes) else { continue }
            batch.creates.append(.init(object: row.object, attributes: attributes))
            batch.rows.append(row.id)
        }
        for (object, rows) in try grouped("update", in: connection) where !temporary.contains(object) {
            let current = try source.table.attributes(of: object, in: connection)
            let changed = Dictionary(rows.map { ($0.attribute, $0.value ?? "") }) { $1 }
            let attributes = source.model.options.sendsFullUpdates ? (current ?? [:]).merging(changed) { $1 } : changed
            guard try !isHeld(attributes) else { continue }
            batch.updates.append(.init(object: object, attributes: attributes))
            batch.rows += rows.map(\.id)
        }
        for (object, rows) in try grouped("delete", in: connection) where !temporary.contains(object) {
            if awaitsPage {
                batch.holdsDeletes = true
                break
            }
            batch.deletes.append(.init(object: object, attributes: Dictionary(rows.map { ($0.attribute, $0.value ?? "") }) { $1 }))
            batch.rows += rows.map(\.id)
        }
        let pushes = try rows("push_changes", in: connection)
        batch.rows += pushes.map(\.id)
        let unanswered = try connection.first(
            "SELECT 1 FROM changed_values WHERE source_id = ?1 AND sent = 2 AND failed = 0 AND tries BETWEEN 1 AND ?2",
            [Value(sourceID), Value(attempts)])
        batch.isForced = !pushes.isEmpty || unanswered != nil
        try mark(batch.rows, .sending, in: connection)
        return batch
    }

    /// The number of creates of an upload without an answer that wait for the links, which show the objects that the server has.
    func uncertainCreates(in connection: Connection) throws(StoreError) -> Int {
        Int(
            try connection.first("SELECT count(*) FROM changed_values WHERE source_id = ?1 AND uncertain = 1", [Value(sourceID)])?.first?.integer ?? 0
        )
    }

    /// Decides at the end of the server's data: uncertain creates without a link did not arrive.
    func resolveUncertain(_ table: ObjectTable, in connection: Connection) throws(StoreError) {
        let objects = try connection.rows(
            "SELECT object FROM changed_values WHERE source_id = ?1 AND uncertain = 1 AND sent = 0", [Value(sourceID)]
        ).compactMap(\.first?.text)
        for object in objects { try recreate(object, exists: try table.attributes(of: object, in: connection) != nil, in: connection) }
    }

    /// The upload was answered with 200.
    func succeed(_ batch: UploadBatch, in connection: Connection) throws(StoreError) {
        for id in batch.rows {
            if isPassThrough {
                try connection.execute("DELETE FROM changed_values WHERE id = ?1", [.integer(id)])
            } else {
                try connection.execute("DELETE FROM changed_values WHERE id = ?1 AND update_type <> 'create' AND sent = 1", [.integer(id)])
                try connection.execute("UPDATE changed_values SET sent = 2 WHERE id = ?1 AND sent = 1", [.integer(id)])
            }
        }
    }

    /// The upload failed: its rows are unsent again. A change that was made meanwhile replaces the older one.
    /// - Parameter isKnown: whether the server surely did not take the changes.
    func fail(_ batch: UploadBatch, isKnown: Bool, _ table: ObjectTable, in connection: Connection) throws(StoreError) {
        for id in batch.rows {
            try connection.execute(Self.dropReplaced + " AND id = ?1", [.integer(id)])
            try connection.execute(
                "UPDATE changed_values SET sent = 0, uncertain = (update_type = 'create' AND ?2) WHERE id = ?1 AND sent = 1",
                [.integer(id), Value(!isKnown)])
        }
        guard isKnown else { return }
        // Destroyed while the request was on its way: the server never needs to know the object.
        for change in batch.creates where try table.attributes(of: change.object, in: connection) == nil {
            try remove(change.object, in: connection)
        }
    }

    /// Makes rows of interrupted uploads unsent again, for all models.
    static func restoreAll(in connection: Connection) throws(StoreError) {
        try connection.execute(dropReplaced)
        try connection.execute("UPDATE changed_values SET sent = 0, uncertain = (update_type = 'create') WHERE sent = 1")
    }

    /// Removes changes being sent that a newer change of the same attribute, or a deletion, has replaced.
    private static let dropReplaced = """
        DELETE FROM changed_values WHERE sent = 1 AND update_type = 'update' AND EXISTS (
            SELECT 1 FROM changed_values newer WHERE newer.source_id = changed_values.source_id AND newer.object = changed_values.object
            AND newer.sent = 0 AND (newer.update_type = 'delete' OR newer.update_type = 'update' AND newer.attrib = changed_values.attrib))
        """

    private func mark(_ rows: [Int64], _ progress: Progress, in connection: Connection) throws(StoreError) {
        for id in rows { try connection.execute("UPDATE changed_values SET sent = ?1 WHERE id = ?2", [Value(progress.rawValue), .integer(id)]) }
    }

    private func rows(_ type: String, in connection: Connection) throws(StoreError) -> [Row] {
        try connection.rows(
            """
            SELECT id, object, attrib, value FROM changed_values WHERE source_id = ?1 AND update_type = ?2 AND sent = 0 AND uncertain = 0
            ORDER BY object, id
            """, [Value(sourceID), .text(type)]
        ).map { Row(id: $0[0].integer ?? 0, object: $0[1].text ?? "", attribute: $0[2].text ?? "", value: $0[3].text) }
    }

    /// The rows of one kind by their objects, in the order of the ids.
    private func grouped(_ type: String, in connection: Connection) throws(StoreError) -> [(object: String, rows: [Row])] {
        var groups: [(object: String, rows: [Row])] = []
        for row in try rows(type, in: connection) {
            if groups.last?.object == row.object { groups[groups.count - 1].rows.append(row) } else { groups.append((row.object, [row])) }
        }
        return groups
    }
}
