internal import MobileStore

/// The surrogate keys of a package: the next one, and those that a client may assign to rows that it creates.
///
/// Keys are unique in one cache. All its packages share the counter, because a device that changes to another version of its package keeps the keys
/// that it was granted.
extension PackageCache {
    /// The lowest key that no server assigned: the counter does not follow a device that uses such a key.
    static let implausibleKey: Int64 = 1 << 62
    /// The counter does not come this far in the life of a machine. A higher value was set from outside.
    private static let lastCounter = Int64.max - (1 << 32)

    /// Returns the first unused surrogate key.
    func nextKey(in connection: Connection) throws -> Int64 {
        try connection.optionalNumber("SELECT max(next_key) FROM _package") ?? 1
    }

    /// Marks all keys below `next` as used.
    func setNextKey(_ next: Int64, in connection: Connection) throws {
        _ = try connection.execute("UPDATE _package SET next_key = ?2 WHERE id = ?1 AND next_key < ?2", [.integer(id), .integer(next)])
    }

    /// Takes unused keys, which no other client receives.
    /// - Throws: ``ServerError/Code/cache`` if there are not enough keys.
    func takeKeys(_ count: Int64, in connection: Connection) throws -> (first: Int64, last: Int64) {
        let first = try nextKey(in: connection)
        let last = try Self.key(first, plus: count - 1)
        try setNextKey(Self.key(last, plus: 1), in: connection)
        return (first, last)
    }

    /// Marks the key of an existing row as used, regardless of its origin.
    func keepFree(from key: Int64, in connection: Connection) throws {
        if key < Self.implausibleKey { try setNextKey(key + 1, in: connection) }
    }

    static func key(_ key: Int64, plus count: Int64) throws(ServerError) -> Int64 {
        let (sum, overflow) = key.addingReportingOverflow(count)
        guard !overflow else { throw ServerError(.cache, "the surrogate keys are used up: \(key) is the next one, \(count) are needed") }
        return sum
    }

    /// Moves the counter above the keys that rows have, and back from a value that it cannot have reached by itself.
    /// - Parameter firstKey: the start of the counter in a new cache.
    func repairNextKey(above objects: [ObjectPlan], firstKey: Int64, in connection: Connection) throws {
        _ = try connection.execute(
            """
            UPDATE _package SET next_key = max(?1, coalesce((SELECT max(last) + 1 FROM _key_range AS r WHERE r.package = _package.id AND last < ?2), 1))
            WHERE next_key > ?3
            """, [.integer(firstKey), .integer(Self.implausibleKey), .integer(Self.lastCounter)])
        for object in objects {
            let last = try connection.optionalNumber("SELECT max(_sk) FROM \(object.keyTable) WHERE _sk < ?1", [.integer(Self.implausibleKey)])
            if let last { try keepFree(from: last, in: connection) }
        }
    }

    /// Whether a client may assign this key to a new row: it was granted to this client, for any version of the package, or it is older than this
    /// cache. In the second case the cache cannot know the owner of the grant.
    func mayGive(_ key: Int64, client: String, in connection: Connection) throws -> Bool {
        let granted = try connection.optionalNumber(
            "SELECT last FROM _key_range WHERE client = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1", [.text(client), .integer(key)])
        if let granted, key <= granted { return true }
        let oldest = try connection.optionalNumber(
            """
            SELECT coalesce(min((SELECT min(first) FROM _key_range AS r WHERE r.package = p.id)), max(p.next_key)) FROM _package AS p
            """)
        return key > 0 && key < oldest ?? 0
    }
}
