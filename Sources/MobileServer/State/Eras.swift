internal import MobileCrypto
internal import MobileStore

/// The eras of the server's state. A store that was restored from an older backup has lost its last era, or the end of one: so each device that knows
/// better shows it by its token, and no operator has to report it.
///
///     era a: version 1 .. 5 | backup | 6, 7                  devices know (7, a)
///                           restored | era b: version 6, 7    (7, a) does not hold, because a ended with 5
///
/// Each open of an SQLite store begins an era, and so does each other history of a PostgreSQL database: a system identifier, a timeline or a database
/// that is not the one of the last era. `mobile admin restored` begins one in any store.
struct Eras: Sendable {
    let clock: @Sendable () -> Int64
    let random: @Sendable (Int) -> [UInt8]

    init(_ configuration: ServerConfiguration) { (clock, random) = (configuration.clock, configuration.random) }

    /// Begins an era when a server opens its store, unless the engine knows that the data continue as they were.
    func open(in connection: any StateConnection) throws {
        if connection.dialect.keepsHistory { _ = try current(in: connection) } else { _ = try begin(in: connection) }
    }

    /// Returns the name of the present era. Begins one if the engine's data have another history than before, also under a running server.
    func current(in connection: any StateConnection) throws -> String {
        let history = try connection.historyID()
        let last = try connection.first("SELECT name, history FROM _era ORDER BY id DESC LIMIT 1")
        if let name = last?[0].text, last?[1].text == history { return name }
        return try begin(in: connection)
    }

    /// Begins an era. Surrogate keys and versions of log records continue above those that the lost end of the former era can have granted.
    @discardableResult
    func begin(in connection: any StateConnection) throws -> String {
        let name = random(8).hexadecimal, next = try PackageCache.nextKey(in: connection)
        // A counter beyond its limit was set from outside, see PackageCache.repairNextKey.
        let low = next > PackageCache.lastCounter ? firstKey : next
        let high = max(low, firstKey)
        try PackageCache.raiseNextKey(to: high, in: connection)
        // Versions of log records continue above those that clients may have of the lost end. The clock is ahead of a version per millisecond.
        try connection.execute("UPDATE _log_table SET version = ?1 WHERE version < ?1", [.integer(clock())])
        try connection.execute(
            "INSERT INTO _era (name, history, low, high, made) VALUES (?1, ?2, ?3, ?4, ?5)",
            [.text(name), .text(try connection.historyID()), .integer(low), .integer(high), .integer(clock())])
        return name
    }

    /// The first key of a new counter, above those of all earlier ones, even if their store is lost: a device may still hold rows of an earlier life.
    /// 4096 keys per millisecond since 2025 leave enough room, and the numbers stay below 2^53 until the year 2094.
    var firstKey: Int64 { max(1, clock() - 1_735_689_600_000) << 12 }
}
