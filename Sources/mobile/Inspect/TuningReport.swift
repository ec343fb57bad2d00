import Foundation
import MobileStore

/// `mobile inspect --stats`: the settings in force and the cost of reading the whole file; for any SQLite database, not only a client's.
struct TuningReport {
    let path: String
    let settings: Database.Settings
    let file: Database.FileSpace
    /// The size in bytes of the write-ahead log, a file next to the database; `nil`: there is none.
    let logFile: Int?
    /// The largest first. Empty if SQLite was built without `dbstat`.
    let space: [Database.TableSpace]
    /// The statistics after a first pass over all pages, and after a second one: pages that did not fit into the cache are read again.
    let looks: [Database.Statistics]

    /// - Throws: `StoreError` if the file cannot be read.
    init(path: String) throws {
        (settings, file, space, looks) = try withInspectedDatabase(path) { database in
            let looks = try (0..<2).map { _ in try Self.look(database) }
            return (database.settings, try database.fileSpace(), try database.tableSpaceWhereKnown(), looks)
        }
        self.path = path
        logFile = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
    }

    /// Reads every table, and returns the statistics of the connections so far.
    private static func look(_ database: Database) throws -> Database.Statistics {
        try database.read { connection in
            // The names come from the schema, so quoting suffices.
            let tables = try connection.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0").compactMap { $0[0].text }
            for table in tables { _ = try connection.first("SELECT count(*) FROM \"\(table.replacing("\"", with: "\"\""))\" NOT INDEXED") }
        }
        return database.statistics
    }

    /// The report as lines of text.
    var lines: [String] { ["\(path):"] + Terminal.table(settingRows) + [""] + Terminal.table(costRows) + [""] + Terminal.table(spaceRows) }

    private var settingRows: [[String]] {
        let journal = settings.journalMode + (logFile.map { ", log file \(Format.bytes($0))" } ?? "")
        return [
            ["setting", "in force here", "to tune"],
            ["page size", "\(Format.count(settings.pageSize)) bytes, of the file", "pageSize, of a new file"],
            ["cache per connection", Format.bytes(settings.cacheSize.bytes), "cacheSize"],
            ["memory map", settings.memoryMapSize.bytes == 0 ? "off" : Format.bytes(settings.memoryMapSize.bytes), "memoryMapSize"],
            ["journal", journal, "journal, journalSizeLimit"],
            [
                "checkpoint", settings.checkpointPages == 0 ? "never by itself" : "at \(Format.count(settings.checkpointPages)) pages",
                "checkpointPages",
            ],
            ["log limit", settings.logLimit.bytes == 0 ? "none" : Format.bytes(settings.logLimit.bytes), "logLimit"],
            ["synchronous", "\(settings.synchronous)", "synchronous"],
            ["secure delete", settings.secureDelete ? "on" : "off", "secureDelete"],
            ["statement cache", Format.count(settings.statementCacheSize, "statement"), "statementCacheSize"],
            ["connections", "1 writer, \(Format.count(settings.maxConnections, "reader"))", "maxConnections"],
        ]
    }

    private var costRows: [[String]] {
        let second = looks[1].pages, first = looks[0].pages
        return [
            ["reading every table", "pages read", "found in cache"],
            ["the first time", Format.count(first.misses), Format.count(first.hits)],
            ["the second time", Format.count(second.misses - first.misses), Format.count(second.hits - first.hits)],
        ]
    }

    private var spaceRows: [[String]] {
        let rows = space.prefix(ClientDatabaseReport.listedLines).map { entry in
            [
                entry.name, Format.count(entry.pages), Format.bytes(entry.bytes),
                "\(100 * entry.unused / max(entry.bytes, 1)) %", Format.bytes(entry.payload / Int64(max(entry.pages, 1))),
            ]
        }
        let free = ["(free pages)", Format.count(file.freePages), Format.bytes(file.freePages * file.pageSize), "100 %", "0 B"]
        return [["table or index", "pages", "space", "unused", "per page"]] + rows + (file.freePages > 0 ? [free] : [])
    }
}
