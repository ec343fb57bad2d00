internal import MobileStore

/// The objects of one model: rows of the shared table of property bags, or a table of the model's own. Runs inside of its caller's transaction.
struct ObjectTable: Sendable {
    let sourceID: Int
    let name: String
    /// The columns of a fixed schema; nil for a property bag.
    let columns: [String]?

    /// Returns the attributes of an object; nil if it does not exist.
    func attributes(of object: String, in connection: Connection) throws(StoreError) -> [String: String]? {
        var attributes: [String: String] = [:]
        if let columns {
            guard
                let row = try connection.first(
                    "SELECT \(columns.map(\.quoted).joined(separator: ", ")) FROM \(name.quoted) WHERE object = ?1", [.text(object)])
            else { return nil }
            for (column, value) in zip(columns, row) { attributes[column] = value.text }
        } else {
            let statement = try connection.statement("SELECT attrib, value FROM object_values WHERE source_id = ?1 AND object = ?2")
            try statement.bind([Value(sourceID), .text(object)])
            while try statement.step() { attributes[statement.text(0) ?? ""] = statement.text(1) }
        }
        return attributes.isEmpty ? nil : attributes
    }

    /// Writes attributes of an object, and makes the object where it does not exist. Unknown columns of a fixed schema are skipped.
    func put(_ attributes: [String: String], of object: String, in connection: Connection) throws(StoreError) {
        if let columns {
            let known = columns.filter { attributes[$0] != nil }
            guard !known.isEmpty else { return }
            let names = known.map(\.quoted)
            try connection.execute(
                """
                INSERT INTO \(name.quoted) (object, \(names.joined(separator: ", "))) VALUES (?1, \((0..<known.count).map { "?\($0 + 2)" }.joined(separator: ", ")))
                ON CONFLICT (object) DO UPDATE SET \(names.map { "\($0) = excluded.\($0)" }.joined(separator: ", "))
                """, [.text(object)] + known.map { Value(attributes[$0]) })
        } else {
            let statement = try connection.statement(Self.upsert)
            for (name, value) in attributes { try statement.run([Value(sourceID), .text(object), .text(name), .text(value)]) }
        }
    }

    /// Writes one value of a property bag: source, object, attribute, value.
    static let upsert = """
        INSERT INTO object_values (source_id, object, attrib, value) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (source_id, object, attrib) DO UPDATE SET value = excluded.value
        """
    /// Removes one value of a property bag: source, object, attribute.
    static let remove = "DELETE FROM object_values WHERE source_id = ?1 AND object = ?2 AND attrib = ?3"

    /// Removes attributes of an object, and the object with its last one.
    func remove(_ attributes: [String], of object: String, in connection: Connection) throws(StoreError) {
        guard let columns else {
            for attribute in attributes { try connection.execute(Self.remove, [Value(sourceID), .text(object), .text(attribute)]) }
            return
        }
        let known = columns.filter(attributes.contains)
        guard !known.isEmpty else { return }
        try connection.execute(
            "UPDATE \(name.quoted) SET \(known.map { "\($0.quoted) = NULL" }.joined(separator: ", ")) WHERE object = ?1", [.text(object)])
        try connection.execute(
            "DELETE FROM \(name.quoted) WHERE object = ?1 AND \(columns.map { "\($0.quoted) IS NULL" }.joined(separator: " AND "))", [.text(object)])
    }

    /// Removes an object.
    func remove(_ object: String, in connection: Connection) throws(StoreError) {
        if columns == nil {
            try connection.execute("DELETE FROM object_values WHERE source_id = ?1 AND object = ?2", [Value(sourceID), .text(object)])
        } else {
            try connection.execute("DELETE FROM \(name.quoted) WHERE object = ?1", [.text(object)])
        }
    }

    /// Removes all objects.
    func removeAll(in connection: Connection) throws(StoreError) {
        if columns == nil {
            try connection.execute("DELETE FROM object_values WHERE source_id = ?1", [Value(sourceID)])
        } else {
            try connection.execute("DELETE FROM \(name.quoted)")
        }
    }

    /// Gives an object another id. An object that already has the id keeps its values, and gets those that only the renamed one has.
    func rename(_ object: String, to new: String, in connection: Connection) throws(StoreError) {
        guard object != new, let old = try attributes(of: object, in: connection) else { return }
        let existing = try attributes(of: new, in: connection) ?? [:]
        try remove(object, in: connection)
        try put(old.filter { existing[$0.key] == nil }, of: new, in: connection)
    }

    /// Replaces the value of an attribute in all objects that have it.
    func replace(_ value: String, with new: String, in attribute: String, in connection: Connection) throws(StoreError) {
        if let columns {
            guard columns.contains(attribute) else { return }
            try connection.execute(
                "UPDATE \(name.quoted) SET \(attribute.quoted) = ?1 WHERE \(attribute.quoted) = ?2", [.text(new), .text(value)])
        } else {
            try connection.execute(
                "UPDATE object_values SET value = ?1 WHERE source_id = ?2 AND attrib = ?3 AND value = ?4",
                [.text(new), Value(sourceID), .text(attribute), .text(value)])
        }
    }

    /// Returns the number of objects.
    func count(in connection: Connection) throws(StoreError) -> Int {
        let sql = columns == nil ? "SELECT count(DISTINCT object) FROM object_values WHERE source_id = ?1" : "SELECT count(*) FROM \(name.quoted)"
        return Int(try connection.first(sql, columns == nil ? [Value(sourceID)] : [])?.first?.integer ?? 0)
    }
}

extension String {
    /// The name as an SQL identifier.
    var quoted: String { "\"" + split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\"" }
}
