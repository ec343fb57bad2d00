internal import MobileCore

extension Database {
    /// The version of the C core that the program runs with, such as `1.0.0`.
    public static var coreVersion: String { unsafe String(cString: mc_version()) }

    /// The version of the SQLite library that the program runs with, such as `3.40.1`: the system's, or the one that the program links.
    ///
    ///     print("core \(Database.coreVersion), SQLite \(Database.sqliteVersion)")
    public static var sqliteVersion: String { unsafe String(cString: mc_sqlite_version()) }
}
