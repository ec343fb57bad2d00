import MobileStore
import TestSupport

/// A database of 250 cities: ten names, indexed, and populations, every seventh of them unknown.
struct Cities {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile { $0.maxConnections = 2 })
        try database.write { connection in
            try connection.execute("CREATE TABLE city(id INTEGER PRIMARY KEY, name TEXT, people INTEGER); CREATE INDEX city_name ON city(name)")
            let insert = try connection.statement("INSERT INTO city VALUES (?, ?, ?)")
            for id in 1...250 { try insert.run([.integer(Int64(id)), .text("city \(id % 10)"), id % 7 == 0 ? .null : .integer(Int64(id % 5))]) }
        }
    }
}
