import MobileStore

/// The ranges of surrogate keys that a database makes itself, for rows that are created before the first grant, and when the granted keys are used up.
///
///     bit 63   62   61 ............... 16   15 ........ 0
///         0    1    46 random bits          counted
///
/// **A key may be used before the server knows its range, because the random bits make another owner of the range improbable.** Every upload claims
/// the ranges, and the server refuses a range that another client claimed first (two copies of one database): see
/// ``Transaction/renumberKeys(ofRefusedRanges:)``.
///
/// They are rows of `_key_range` above ``lowest``; the server grants only keys below it.
enum OwnKeyRange {
    /// The lowest key of these ranges.
    static let lowest: Int64 = 1 << 62
    /// The number of keys of a range.
    static let size: Int64 = 1 << 16
    /// The maximum number of ranges at a time, which is what an upload can claim.
    static let limit = 1024
    /// The number of different ranges.
    private static let count: Int64 = 1 << 46

    /// Returns the first key of the range with these random bits. The last range has no use: its last key has no successor in 64 bits.
    static func first(_ random: UInt64) -> Int64 {
        lowest + Int64(random & UInt64(count - 1)) % (count - 1) * size
    }

    /// Returns the first key of the next range.
    static func first(after first: Int64) -> Int64 {
        lowest + ((first - lowest) / size + 1) % (count - 1) * size
    }
}

extension PackageDatabase {
    /// The first keys of the ranges that this database made itself and has taken keys of, for the upload's claims.
    ///
    /// **All of them are claimed in each upload, also those that the server has confirmed.** Why: a server whose database was lost or restored then
    /// knows them again before it sees an operation, and a copy of this database that got a client id of its own finds out that they are not its own.
    package final var keyClaims: [Int64] {
        get throws {
            try read { connection in
                try connection.keys(
                    "SELECT \"first\" FROM \"_key_range\" WHERE \"first\" >= ?1 AND \"next\" > \"first\" ORDER BY \"first\"",
                    [.integer(OwnKeyRange.lowest)])
            }
        }
    }
}

extension Transaction {
    /// Adds a range that this database makes itself.
    /// - Throws: ``ObjectError/Code/keysUsedUp`` for more ranges than an upload can claim.
    func makeKeyRange() throws {
        // Also those that are forgotten now, so that the next range is another one.
        let known = Set(
            try connection.keys("SELECT \"first\" FROM \"_key_range\" WHERE \"first\" >= ?1", [.integer(OwnKeyRange.lowest)]))
        let count = try known.count - forgetSettledKeyRanges()
        guard count < OwnKeyRange.limit else {
            throw ObjectError(
                .keysUsedUp, "no surrogate key: \(count) ranges of keys wait for the server; submit the pending changes and synchronize")
        }
        var first = OwnKeyRange.first(database.environment.random())
        while known.contains(first) { first = OwnKeyRange.first(after: first) }
        let size = min(max(database.environment.ownKeyRangeSize, 1), OwnKeyRange.size)
        try connection.execute(
            "INSERT INTO \"_key_range\" (\"first\", \"last\", \"next\") VALUES (?1, ?2, ?1)", [.integer(first), .integer(first + size - 1)])
    }

    /// Removes the used-up ranges of this database whose rows are all settled: the server knows these rows without the claim.
    /// - Returns: the number of removed ranges.
    private func forgetSettledKeyRanges() throws -> Int {
        let spent = try connection.keys(
            "SELECT \"first\" FROM \"_key_range\" WHERE \"first\" >= ?1 AND \"next\" > \"last\"", [.integer(OwnKeyRange.lowest)])
        let settled = try spent.filter { try !isPending(inRangeFrom: $0) }
        for first in settled { try connection.execute("DELETE FROM \"_key_range\" WHERE \"first\" = ?1", [.integer(first)]) }
        return settled.count
    }

    private func isPending(inRangeFrom first: Int64) throws -> Bool {
        let range: [Value] = [.integer(first), .integer(first + OwnKeyRange.size - 1)]
        let tables = metadata.storedEntities.filter { !$0.isLocal }.map { ($0.sql.originalTable, "\"_sk\"") } + [("\"_outbox\"", "\"sk\"")]
        return try tables.contains { table, key in
            try connection.first("SELECT 1 FROM \(table) WHERE \(key) BETWEEN ?1 AND ?2 LIMIT 1", range) != nil
        }
    }
}

// MARK: Renumbered rows

extension Connection {
    /// Returns the key that a row has since it was renumbered; nil for a key that was not given up.
    func renumberedKey(_ key: Int64) throws -> Int64? {
        try PackageSettings(self).renumberedKey(key)
    }
}

extension Transaction {
    /// Checks that a row was not renumbered since its object was read.
    /// - Throws: ``ObjectError/Code/stale``.
    func requireCurrentKey(_ verb: String, _ entity: EntityMetadata, _ key: Int64) throws {
        guard database.hasRenumberedRows, let current = try connection.renumberedKey(key) else { return }
        throw ObjectError(
            .stale, "\(verb) of \(entity.name) \(key): its surrogate key is \(current) now; refresh and try again")
    }
}
