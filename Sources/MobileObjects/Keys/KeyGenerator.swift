import MobileStore

/// Surrogate keys for new objects. They are unique across server and devices, and the server accepts them. SMP 2.3: the generated `KeyGenerator`.
///
/// Keys come from ranges that the server grants; two of them are kept, so that there is a reserve when the first one is used up. Before the first
/// grant, and when the granted keys are used up offline, they come from ranges that the database makes itself (`OwnKeyRange`).
public struct KeyGenerator: Sendable {
    private let database: PackageDatabase

    init(_ database: PackageDatabase) { self.database = database }

    /// Returns the next key; each call returns another one. Objects that are created without a key take one. SMP 2.3: `generateId`.
    /// - Throws: ``ObjectError/Code/keysUsedUp`` when the server has to see the rows of 1,024 ranges of this database first.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func generateID() throws -> Int64 {
        try database.write("generate a key") { try $0.nextSharedKey() }
    }

    /// Does the same without blocking a cooperative thread.
    public func generateID() async throws -> Int64 {
        try await database.write("generate a key") { try $0.nextSharedKey() }
    }

    /// The number of granted keys that are left; 0 before the first grant.
    public var keysLeft: Int64 {
        get throws {
            try database.read { connection in
                try connection.number(
                    "SELECT coalesce(sum(\"last\" - \"next\" + 1), 0) FROM \"_key_range\" WHERE \"first\" < ?1", [.integer(OwnKeyRange.lowest)])
            }
        }
    }

    /// Adds a range that the server granted to the rest of earlier ones. A known range is not changed.
    /// - Throws: ``ObjectError/Code/invalidValue`` when the range is empty, not positive, has keys that only clients make, or overlaps another one.
    package func grant(first: Int64, last: Int64, in transaction: Transaction) throws {
        guard first > 0, last >= first, last < OwnKeyRange.lowest else {
            throw ObjectError(.invalidValue, "key range \(first) to \(last): expected numbers from 1 to 2^62 - 1, the first not above the last")
        }
        let connection = transaction.connection
        if try connection.first("SELECT 1 FROM \"_key_range\" WHERE \"first\" = ?1 AND \"last\" = ?2", [.integer(first), .integer(last)]) != nil {
            return
        }
        if let other = try connection.storedRow(
            [KeyRangeColumn.first, .last], "WHERE \"first\" <= ?2 AND \"last\" >= ?1", [.integer(first), .integer(last)])
        {
            throw ObjectError(
                .invalidValue, "key range \(first) to \(last): it overlaps \(try other.integer(.first)) to \(try other.integer(.last))")
        }
        // Used ranges are kept until there are two others, because a server that repeats a grant must find the range known.
        try connection.execute(
            """
            DELETE FROM "_key_range" WHERE "next" > "last" AND "first" < ?1
                AND "first" NOT IN (SELECT "first" FROM "_key_range" WHERE "first" < ?1 ORDER BY "first" DESC LIMIT 2)
            """, [.integer(OwnKeyRange.lowest)])
        try connection.execute(
            "INSERT INTO \"_key_range\" (\"first\", \"last\", \"next\") VALUES (?1, ?2, ?1)", [.integer(first), .integer(last)])
    }
}

/// Keys and ids that are unique on this device. SMP 1.5.3: `LocalKeyGenerator`.
public struct LocalKeyGenerator: Sendable {
    private let database: PackageDatabase

    init(_ database: PackageDatabase) { self.database = database }

    /// Returns the next key of this database; each call returns another one. SMP 1.5.3: `generateId`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func generateID() throws -> Int64 {
        try database.write("generate a local key") { try $0.nextLocalKey() }
    }

    /// Does the same without blocking a cooperative thread.
    public func generateID() async throws -> Int64 {
        try await database.write("generate a local key") { try $0.nextLocalKey() }
    }

    /// Returns a random GUID such as `3f2504e0-4f89-41d3-9a0c-0305e82c3301`, for a new object that needs a text as primary key.
    /// SMP 1.5.3: `generateGuid`.
    public func generateGUID() -> String { database.environment.randomGUID() }
}

extension PackageDatabase {
    /// The generator of surrogate keys that the server accepts.
    public final var keyGenerator: KeyGenerator { KeyGenerator(self) }
    /// The generator of keys that are unique on this device.
    public final var localKeyGenerator: LocalKeyGenerator { LocalKeyGenerator(self) }
}

extension Transaction {
    /// Adds a range of surrogate keys that the server granted.
    package func grantKeyRange(first: Int64, last: Int64) throws {
        try database.keyGenerator.grant(first: first, last: last, in: self)
    }

    func newSurrogateKey(for entity: EntityMetadata) throws -> Int64 {
        entity.isLocal ? try nextLocalKey() : try nextSharedKey()
    }

    func nextLocalKey() throws -> Int64 { try PackageSettings(connection).next(.localKey, atLeast: 1) }

    /// Takes a key that no other device takes. Granted keys come first, because all of them are lower than those of this database's own ranges.
    func nextSharedKey() throws -> Int64 {
        if let key = try nextKeyOfKnownRanges() { return key }
        try makeKeyRange()
        guard let key = try nextKeyOfKnownRanges() else { throw ObjectError(.corrupt, "the table of key ranges lost its new range") }
        return key
    }

    private func nextKeyOfKnownRanges() throws -> Int64? {
        try connection.first(
            """
            UPDATE "_key_range" SET "next" = "next" + 1
            WHERE "first" = (SELECT min("first") FROM "_key_range" WHERE "next" <= "last") RETURNING "next" - 1
            """)?.first?.integer
    }
}
