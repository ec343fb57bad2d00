internal import MobileProtocol
internal import MobileStore

/// The surrogate keys of a package: the next one, and those that a client may assign to rows that it creates.
///
/// Keys are unique in one cache. All its packages share the counter, because a device that changes to another version of its package keeps the keys
/// that it was granted.
///
/// Keys from ``ClaimedKeyRange/lowest`` on are those of ranges that clients made. **The counter never follows them**, and never comes so far itself:
/// granted ranges and claimed ones cannot overlap. A claim is a row of `_key_range` for package 0, since it holds for all packages.
extension PackageCache {
    /// The counter does not come this far in the life of a machine. A higher value was set from outside, and is not followed.
    static let lastCounter = ClaimedKeyRange.lowest - (1 << 32)
    /// The package number of claimed ranges.
    private static let everyPackage: Int64 = 0

    /// The only row of `_counter`.
    private static let counter = Value.text("surrogate key")

    /// Returns the first unused surrogate key.
    static func nextKey(in connection: any StateConnection) throws -> Int64 {
        try connection.optionalNumber("SELECT next FROM _counter WHERE name = ?1", [counter]) ?? 1
    }

    /// Marks all keys below `next` as used.
    static func raiseNextKey(to next: Int64, in connection: any StateConnection) throws {
        try connection.execute(
            """
            INSERT INTO _counter (name, next) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET next = excluded.next WHERE _counter.next < excluded.next
            """, [counter, .integer(next)])
    }

    /// Takes unused keys, which no other client receives. The row of the counter is locked until the transaction ends.
    /// - Throws: ``ServerError/Code/cache`` if there are not enough keys.
    func takeKeys(_ count: Int64, in connection: any StateConnection) throws -> (first: Int64, last: Int64) {
        // A store that was restored under this process continues above the keys that it has lost.
        _ = try eras.current(in: connection)
        let first = try connection.number("SELECT next FROM _counter WHERE name = ?1" + connection.dialect.lock, [Self.counter])
        let next = try Self.key(first, plus: count)
        try Self.raiseNextKey(to: next, in: connection)
        return (first, next - 1)
    }

    /// Marks the key of an existing row as used, unless it is of a client's own range.
    func keepFree(from key: Int64, in connection: any StateConnection) throws {
        if key < Self.lastCounter { try Self.raiseNextKey(to: key + 1, in: connection) }
    }

    static func key(_ key: Int64, plus count: Int64) throws(ServerError) -> Int64 {
        let (sum, overflow) = key.addingReportingOverflow(count)
        guard !overflow, sum <= ClaimedKeyRange.lowest else {
            throw ServerError(.cache, "the surrogate keys are used up: \(key) is the next one, \(count) are needed")
        }
        return sum
    }

    /// Moves the counter above the keys that rows have, and back from a value that it cannot have reached by itself.
    /// - Parameter firstKey: the start of the counter in a new cache.
    func repairNextKey(firstKey: Int64, in connection: any StateConnection) throws {
        if try Self.nextKey(in: connection) > Self.lastCounter {
            let last = try connection.optionalNumber("SELECT max(last) FROM _key_range WHERE last < ?1", [.integer(Self.lastCounter)]) ?? 0
            try connection.execute("UPDATE _counter SET next = ?2 WHERE name = ?1", [Self.counter, .integer(max(firstKey, last + 1))])
        }
        for space in Set(identity.keySpaces.values) {
            let last = try connection.optionalNumber(
                "SELECT max(sk) FROM _key WHERE object = ?1 AND sk < ?2", [.integer(space), .integer(Self.lastCounter)])
            if let last { try keepFree(from: last, in: connection) }
        }
        let limit = [Value.integer(Self.lastCounter)]
        for query in ["SELECT max(sk) FROM _row WHERE sk < ?1", "SELECT max(last) FROM _key_range WHERE last < ?1"] {
            if let last = try connection.optionalNumber(query, limit) { try keepFree(from: last, in: connection) }
        }
    }

    /// Whether a client may assign this key to a new row: it was granted to this client or is in a range that the client claimed, for any version of
    /// the package, or it is older than this cache, or of a life of the store
    /// that a restored backup has lost. In the last two cases the store cannot know the owner of the grant; the replay refuses the key of another row.
    func mayGive(_ key: Int64, client: String, in connection: any StateConnection) throws -> Bool {
        let granted = try connection.optionalNumber(
            "SELECT last FROM _key_range WHERE client = ?1 AND first <= ?2 ORDER BY first DESC LIMIT 1", [.text(client), .integer(key)])
        if let granted, key <= granted { return true }
        let oldest =
            try connection.optionalNumber("SELECT min(first) FROM _key_range WHERE package <> ?1", [.integer(Self.everyPackage)])
            ?? Self.nextKey(in: connection)
        if key > 0 && key < oldest { return true }
        return try connection.exists("SELECT 1 FROM _era WHERE low <= ?1 AND high > ?1", [.integer(key)])
    }

    /// Records a range that a client made, unless it is recorded already.
    /// - Returns: whether the range is this client's.
    func claim(_ first: Int64, client: String, now: Int64, in connection: any StateConnection) throws -> Bool {
        _ = try connection.execute(
            """
            INSERT INTO _key_range (package, first, last, client, granted) VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (package, first) DO NOTHING
            """,
            [.integer(Self.everyPackage), .integer(first), .integer(first + (ClaimedKeyRange.size - 1)), .text(client), .integer(now)])
        return try isClaimed(first, client: client, in: connection)
    }

    /// Whether the client has claimed this range before.
    func isClaimed(_ first: Int64, client: String, in connection: any StateConnection) throws -> Bool {
        try connection.first(
            "SELECT 1 FROM _key_range WHERE package = ?1 AND first = ?2 AND client = ?3",
            [.integer(Self.everyPackage), .integer(first), .text(client)]) != nil
    }

    /// The number of ranges that the client has claimed so far.
    func claims(of client: String, in connection: any StateConnection) throws -> Int64 {
        try connection.number(
            "SELECT count(*) FROM _key_range WHERE client = ?1 AND package = ?2", [.text(client), .integer(Self.everyPackage)])
    }
}
