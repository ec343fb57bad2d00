internal import MobileStore

/// The surrogate keys of a package: which one is given next, and which ones a client may give to rows that it creates.
///
/// Keys are unique in one cache: its packages count together, because a device that goes over to another version of its package
/// keeps the keys that it was granted.
extension PackageCache {
    /// A key from here on was not given by a server: no counter goes above it because somebody says that a row has such a key.
    static let implausibleKey: Int64 = 1 << 62
    /// The counter does not come this far in the life of a machine; where it stands here, somebody has put it there.
    private static let lastCounter = Int64.max - (1 << 32)

    /// The first surrogate key that nobody has.
    func nextKey(in connection: Connection) throws -> Int64 {
        try connection.optionalNumber("SELECT max(next_key) FROM _package") ?? 1
    }

    /// All keys below `next` are somebody's from now on.
    func setNextKey(_ next: Int64, in connection: Connection) throws {
        _ = try connection.execute("UPDATE _package SET next_key = ?2 WHERE id = ?1 AND next_key < ?2", [.integer(id), .integer(next)])
    }

    /// Takes keys that nobody has, and that nobody else gets.
    /// - Throws: ``ServerError/Code/cache`` where there are not so many.
    func takeKeys(_ count: Int64, in connection: Connection) throws -> (first: Int64, last: Int64) {
        let first = try nextKey(in: connection)
        let last = try Self.key(first, plus: count - 1)
        try setNextKey(Self.key(last, plus: 1), in: connection)
        return (first, last)
    }

    /// A row has this key, whoever gave it: it is not given again.
    func keepFree(from key: Int64, in connection: Connection) throws {
        if key < Self.implausibleKey { try setNextKey(key + 1, in: connection) }
    }

    static func key(_ key: Int64, plus count: Int64) throws(ServerError) -> Int64 {
        let (sum, overflow) = key.addingReportingOverflow(count)
        guard !overflow else { throw ServerError(.cache, "the surrogate keys are used up: \(key) is the next one, \(count) are needed") }
        return sum
    }

    /// Brings the counter above the keys that rows have, and back from where no counter can have come by itself.
    /// - Parameter firstKey: where it would begin in a new cache.
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

    /// Whether a client may give this key to a new row: it was granted to this client, for whatever version of the package, or it is older
    /// than this cache, which then cannot know to whom it was granted.
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
