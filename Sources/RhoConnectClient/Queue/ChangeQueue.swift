internal import MobileStore

/// The local changes of one model that the server has not confirmed. Runs inside of its caller's transaction.
///
/// A new object has one row, its *marker*; the values to send are those that the object has at that time. A changed attribute has a row with its value,
/// a destroyed object a row per attribute that it had.
///
///     marker: unsent --POST--> sending --200--> pending --link--> confirmed --end of data--> gone
///                ^                |                 |
///                +--- refused ----+                 +--create-error--> failed --delete or recreate--> gone or unsent
///                +--- no answer: uncertain; the next synchronization asks for links before it sends anything again
///
/// Invariant: rows of changes and deletions wait as long as the object's marker is not confirmed, because the server does not know the temporary id.
struct ChangeQueue: Sendable {
    let sourceID: Int
    let isPassThrough: Bool

    /// The progress of a row. RhoConnect: `sent`.
    enum Progress: Int {
        case unsent = 0
        case sending = 1
        case pending = 2
        case confirmed = 3
    }

    /// The row of a new object.
    struct Marker {
        let id: Int64
        let progress: Progress
        let isUncertain: Bool

        /// Whether the server cannot know the object: local changes need no rows of their own.
        var isUnknownToServer: Bool { progress == .unsent && !isUncertain }
    }

    func marker(of object: String, in connection: Connection) throws(StoreError) -> Marker? {
        let row = try connection.first(
            "SELECT id, sent, uncertain FROM changed_values WHERE source_id = ?1 AND object = ?2 AND update_type = 'create'",
            [Value(sourceID), .text(object)])
        guard let row, let id = row[0].integer, let progress = Progress(rawValue: Int(row[1].integer ?? 0)) else { return nil }
        return Marker(id: id, progress: progress, isUncertain: row[2].integer == 1)
    }

    /// Whether the object was destroyed, and the server does not know it yet.
    func isDestroyed(_ object: String, in connection: Connection) throws(StoreError) -> Bool {
        try connection.first(
            "SELECT 1 FROM changed_values WHERE source_id = ?1 AND object = ?2 AND update_type = 'delete'", [Value(sourceID), .text(object)]) != nil
    }

    /// Whether any change waits, new objects without confirmation included. RhoConnect: `is_changed`.
    func isChanged(in connection: Connection) throws(StoreError) -> Bool {
        try connection.first("SELECT 1 FROM changed_values WHERE source_id = ?1 LIMIT 1", [Value(sourceID)]) != nil
    }

    /// Adds the marker of a new object.
    func addCreate(of object: String, in connection: Connection) throws(StoreError) {
        try add(object, "object", nil, "create", in: connection)
    }

    /// Adds changed attributes. An older change of the same attribute that was not sent is replaced.
    func addUpdates(_ attributes: [String: String], of object: String, in connection: Connection) throws(StoreError) {
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
            try connection.execute(
                "DELETE FROM changed_values WHERE source_id = ?1 AND object = ?2 AND attrib = ?3 AND update_type = 'update' AND sent = 0",
                [Value(sourceID), .text(object), .text(name)])
            try add(object, name, value, "update", in: connection)
        }
    }

    /// Adds the deletion of an object, in place of its changes that were not sent.
    func addDelete(_ attributes: [String: String], of object: String, in connection: Connection) throws(StoreError) {
        try connection.execute(
            "DELETE FROM changed_values WHERE source_id = ?1 AND object = ?2 AND update_type <> 'create' AND sent = 0",
            [Value(sourceID), .text(object)])
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { try add(object, name, value, "delete", in: connection) }
    }

    /// Has the next synchronization upload, also without changes. RhoConnect: `pushChanges`.
    func addPush(in connection: Connection) throws(StoreError) {
        try connection.execute("DELETE FROM changed_values WHERE source_id = ?1 AND update_type = 'push_changes'", [Value(sourceID)])
        try add("", "", nil, "push_changes", in: connection)
    }

    /// Removes all rows of an object.
    func remove(_ object: String, in connection: Connection) throws(StoreError) {
        try connection.execute("DELETE FROM changed_values WHERE source_id = ?1 AND object = ?2", [Value(sourceID), .text(object)])
    }

    /// Removes all rows of the model.
    func removeAll(in connection: Connection) throws(StoreError) {
        try connection.execute("DELETE FROM changed_values WHERE source_id = ?1", [Value(sourceID)])
    }

    /// Makes a refused object a new one again; one that was destroyed meanwhile disappears.
    func recreate(_ object: String, exists: Bool, in connection: Connection) throws(StoreError) {
        guard exists else { return try remove(object, in: connection) }
        try connection.execute(
            "DELETE FROM changed_values WHERE source_id = ?1 AND object = ?2 AND update_type <> 'create'", [Value(sourceID), .text(object)])
        try connection.execute(
            """
            UPDATE changed_values SET sent = 0, uncertain = 0, failed = 0, tries = 0
            WHERE source_id = ?1 AND object = ?2 AND update_type = 'create'
            """, [Value(sourceID), .text(object)])
    }

    /// Notes that the server refused a create: it stays pending until the application decides.
    func noteFailure(of object: String, in connection: Connection) throws(StoreError) {
        try connection.execute(
            "UPDATE changed_values SET sent = 2, uncertain = 0, failed = 1 WHERE source_id = ?1 AND object = ?2 AND update_type = 'create'",
            [Value(sourceID), .text(object)])
    }

    /// Gives all rows of a new object the server's id, and confirms its marker.
    /// - Returns: false for an object that is not a new one.
    func link(_ object: String, to new: String, in connection: Connection) throws(StoreError) -> Bool {
        guard let marker = try marker(of: object, in: connection) else { return false }
        try connection.execute(
            "UPDATE changed_values SET object = ?1 WHERE source_id = ?2 AND object = ?3", [.text(new), Value(sourceID), .text(object)])
        try connection.execute("UPDATE changed_values SET sent = 3, uncertain = 0, failed = 0 WHERE id = ?1", [.integer(marker.id)])
        return true
    }

    /// Replaces the value of an attribute in waiting changes.
    func replace(_ value: String, with new: String, in attribute: String, in connection: Connection) throws(StoreError) {
        try connection.execute(
            "UPDATE changed_values SET value = ?1 WHERE source_id = ?2 AND attrib = ?3 AND value = ?4",
            [.text(new), Value(sourceID), .text(attribute), .text(value)])
    }

    /// Completes the confirmed creates, at the end of the server's data, and counts the attempts of those without a link.
    func settle(in connection: Connection) throws(StoreError) {
        try connection.execute("DELETE FROM changed_values WHERE source_id = ?1 AND sent >= 3", [Value(sourceID)])
        try connection.execute("UPDATE changed_values SET tries = tries + 1 WHERE source_id = ?1 AND sent = 2", [Value(sourceID)])
    }

    private func add(
        _ object: String, _ attribute: String, _ value: String?, _ type: String, in connection: Connection
    ) throws(StoreError) {
        try connection.execute(
            "INSERT INTO changed_values (source_id, object, attrib, value, update_type) VALUES (?1, ?2, ?3, ?4, ?5)",
            [Value(sourceID), .text(object), .text(attribute), Value(value), .text(type)])
    }
}
