internal import MobileModel
internal import MobileStore

/// The common state of the versions of a package, so that a row is the same row in all of them: the surrogate keys of rows, and the position up to which the
/// record of a back end was read for new keys.
///
/// **The identity of a row is the name of the package, the object and the modelled key, without the version.** An object has the key space of the same
/// object of another version if its key attributes are the same (see ``KeyShape``) and its back end is the same database. Why: a device that changes to another version, or
/// has pending changes while it does, would know its rows under keys that mean nothing there. If you break it: `SharedIdentityTests` and the
/// worlds with two versions fail.
///
///     CRM:1.0 Order -->  space 7  <-- CRM:2.0 Order           CRM:1.0 erp --> position <-- CRM:2.0 erp
///     CRM:1.0 Note  -->  space 8      CRM:2.0 Note --> space -1 (another key)
///
/// An object that an earlier release has deployed has a space of its own, under its own number; others have negative numbers, which no object has.
struct SharedIdentity: Sendable {
    /// The numbers under which `_key` has the objects' surrogate keys, by the names of the objects.
    let keySpaces: [String: Int64]
    /// The packages whose rows of `_back_end` have the positions, by the names of the back ends.
    let sources: [String: Int64]

    /// One key space, as an object uses it.
    struct Space: Sendable, Equatable {
        let space: Int64
        /// nil for a damaged record.
        let shape: KeyShape?
        let backEnd: String
    }

    /// Returns the histories of the records of operations, which distinguish databases. Reads the back ends: before a transaction of the store.
    static func histories(of package: DeployedPackage) throws -> [String: RecordHistory] {
        var histories: [String: RecordHistory] = [:]
        for backEnd in package.backEnds.values where !backEnd.isIdempotent {
            histories[backEnd.name] = try backEnd.system.read { try $0.records().map(RecordHistory.init) }
        }
        return histories
    }

    /// One version of a package that uses a back end.
    struct Version: Sendable {
        /// The package's row in `_package`.
        let id: Int64
        let backEnd: String
        /// Those of the objects of this back end, by their names.
        var keySpaces: [String: Int64] = [:]
    }

    /// Returns the versions of the package that share the position of a back end, by their identifiers.
    func versions(of backEnd: String, in connection: any StateConnection) throws -> [String: Version] {
        var versions: [String: Version] = [:]
        let rows = try connection.rows(
            """
            SELECT p.name, p.id, o.name, k.space FROM _package AS p JOIN _object AS o ON o.package = p.id JOIN _key_space AS k ON k.object = o.id
            LEFT JOIN _record_source AS s ON s.package = p.id AND s.name = k.back_end
            WHERE k.back_end = ?1 AND coalesce(s.source, p.id) = ?2
            """, [.text(backEnd), .integer(sources[backEnd] ?? 0)])
        for row in rows {
            guard let identifier = row[0].text, let id = row[1].integer, let object = row[2].text, let space = row[3].integer else { continue }
            versions[identifier, default: Version(id: id, backEnd: backEnd)].keySpaces[object] = space
        }
        return versions
    }

    // MARK: Known packages

    /// Returns the identity of a package that was deployed before. One that an earlier release has deployed keeps what it has.
    static func find(
        _ package: DeployedPackage, id: Int64, objectIDs: [String: Int64], in connection: any StateConnection
    ) throws -> SharedIdentity {
        var spaces = try spaces(ofObjects: objectIDs, in: connection).mapValues(\.space)
        for object in package.objects where spaces[object.name] == nil {
            guard let objectID = objectIDs[object.name] else { continue }
            try note(Space(space: objectID, shape: KeyShape(object), backEnd: object.binding.backEnd), of: objectID, in: connection)
            spaces[object.name] = objectID
        }
        let rows = try connection.rows("SELECT name, source FROM _record_source WHERE package = ?1", [.integer(id)])
        let found = Dictionary(rows.compactMap { row in row[0].text.flatMap { name in row[1].integer.map { (name, $0) } } }) { $1 }
        return SharedIdentity(
            keySpaces: spaces, sources: Dictionary(uniqueKeysWithValues: package.backEnds.keys.map { ($0, found[$0] ?? id) }))
    }

    /// Returns the key spaces of objects, by name; an object of an earlier release has none yet.
    static func spaces(ofObjects ids: [String: Int64], in connection: any StateConnection) throws -> [String: Space] {
        var spaces: [String: Space] = [:]
        for (name, id) in ids {
            let row = try connection.first("SELECT space, shape, back_end FROM _key_space WHERE object = ?1", [.integer(id)])
            guard let row, let space = row[0].integer else { continue }
            spaces[name] = Space(space: space, shape: row[1].text.flatMap(KeyShape.init), backEnd: row[2].text ?? "")
        }
        return spaces
    }

    // MARK: New packages

    /// Finds or makes the key spaces of a new or emptied package.
    /// - Parameter former: the spaces that the objects had before the cache was emptied.
    static func make(
        _ package: DeployedPackage, id: Int64, objectIDs: [String: Int64], former: [String: Space], _ histories: [String: RecordHistory],
        in connection: any StateConnection
    ) throws -> SharedIdentity {
        let others = try versions(of: package, besides: id, in: connection)
        var sources: [String: Int64] = [:]
        for backEnd in package.backEnds.values {
            let source = try source(of: backEnd, others, histories[backEnd.name], in: connection) ?? id
            try connection.execute(
                """
                INSERT INTO _record_source (package, name, source) VALUES (?1, ?2, ?3)
                ON CONFLICT (package, name) DO UPDATE SET source = excluded.source
                """, [.integer(id), .text(backEnd.name), .integer(source)])
            // The record may have the keys of rows that only the new version knows: it is read once more.
            try connection.execute(
                "UPDATE _back_end SET applied = 0, era = '' WHERE package = ?1 AND name = ?2", [.integer(source), .text(backEnd.name)])
            sources[backEnd.name] = source
        }
        var spaces: [String: Int64] = [:]
        for object in package.objects {
            guard let objectID = objectIDs[object.name] else { continue }
            let backEnd = object.binding.backEnd, shape = KeyShape(object)
            var space: Int64?
            for other in others where space == nil {
                space = try self.space(of: object, shape, inVersion: other, source: sources[backEnd] ?? id, in: connection)
            }
            if space == nil { space = Self.match(object, shape, former.filter { $0.value.backEnd == backEnd }) }
            let found = try space ?? newSpace(below: former.values.map(\.space).min() ?? 0, in: connection)
            try note(Space(space: found, shape: shape, backEnd: backEnd), of: objectID, in: connection)
            spaces[object.name] = found
        }
        return SharedIdentity(keySpaces: spaces, sources: sources)
    }

    /// Returns the other versions of a package, the latest one first.
    private static func versions(of package: DeployedPackage, besides id: Int64, in connection: any StateConnection) throws -> [Int64] {
        try connection.storedRows([PackageColumn.id, .name], "ORDER BY id DESC").compactMap { row in
            let other = try row.integer(.id)
            return try other != id && PackageName(row.text(.name)).name == package.model.name ? other : nil
        }
    }

    /// Returns the package that has the position in the record of a back end, if another version uses the same database.
    private static func source(
        of backEnd: ServedBackEnd, _ others: [Int64], _ history: RecordHistory?, in connection: any StateConnection
    ) throws -> Int64? {
        for other in others {
            let row = try connection.first(
                """
                SELECT h.package, h.era FROM _back_end AS b LEFT JOIN _record_source AS s ON s.package = b.package AND s.name = b.name
                JOIN _back_end AS h ON h.package = coalesce(s.source, b.package) AND h.name = b.name
                WHERE b.package = ?1 AND b.name = ?2
                """, [.integer(other), .text(backEnd.name)])
            guard let row, let source = row[0].integer else { continue }
            // Each server begins eras of its own names in a record, so that no other database has them.
            let era = row[1].text ?? ""
            if era.isEmpty || history?.reached(in: era) != nil { return source }
        }
        return nil
    }

    /// Returns the key space of the same object of another version.
    private static func space(
        of object: ObjectPlan, _ shape: KeyShape, inVersion id: Int64, source: Int64, in connection: any StateConnection
    ) throws -> Int64? {
        let rows = try connection.rows(
            """
            SELECT o.name, k.space, k.shape FROM _object AS o JOIN _key_space AS k ON k.object = o.id
            LEFT JOIN _record_source AS s ON s.package = o.package AND s.name = k.back_end
            WHERE o.package = ?1 AND k.back_end = ?2 AND coalesce(s.source, o.package) = ?3
            """, [.integer(id), .text(object.binding.backEnd), .integer(source)])
        var spaces: [String: Space] = [:]
        for row in rows {
            guard let name = row[0].text, let space = row[1].integer else { continue }
            spaces[name] = Space(space: space, shape: row[2].text.flatMap(KeyShape.init), backEnd: object.binding.backEnd)
        }
        return match(object, shape, spaces)
    }

    /// Finds an object under its name, or the name that it had, among those of another version.
    private static func match(_ object: ObjectPlan, _ shape: KeyShape, _ spaces: [String: Space]) -> Int64? {
        guard let found = spaces[object.name] ?? object.model.was.flatMap({ spaces[$0] }), let former = found.shape, shape.isSame(as: former) else {
            return nil
        }
        return found.space
    }

    /// - Parameter former: the lowest space of the emptied cache, whose keys are still there.
    private static func newSpace(below former: Int64, in connection: any StateConnection) throws -> Int64 {
        min(0, former, try connection.optionalNumber("SELECT min(space) FROM _key_space") ?? 0) - 1
    }

    private static func note(_ space: Space, of object: Int64, in connection: any StateConnection) throws {
        try connection.execute(
            "INSERT INTO _key_space (object, space, shape, back_end) VALUES (?1, ?2, ?3, ?4)",
            [.integer(object), .integer(space.space), .text(space.shape?.text ?? ""), .text(space.backEnd)])
    }

    /// Removes the keys of spaces that no object uses any more.
    static func removeUnused(_ spaces: [Int64], in connection: any StateConnection) throws {
        for space in Set(spaces) where try !connection.exists("SELECT 1 FROM _key_space WHERE space = ?1", [.integer(space)]) {
            try connection.execute("DELETE FROM _key WHERE object = ?1", [.integer(space)])
        }
    }
}

/// The name and version of a package, as in `CRM:1.0`.
struct PackageName {
    let name: Substring
    let version: Substring

    init(_ identifier: String) {
        let colon = identifier.lastIndex(of: ":") ?? identifier.endIndex
        (name, version) = (identifier[..<colon], identifier[colon...].dropFirst())
    }
}
