import Foundation
import MobileStore
import TestSupport
import Testing

/// The examples in the comments of `Database` are the code between the marks below, and they run.
@Suite struct DatabaseExampleTests {
    private let directory: TemporaryDirectory
    private let database: Database
    private let printed = RecordedLines()

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { connection in
            try connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, photo INTEGER)")
            try connection.execute("INSERT INTO customer (id, name, city) VALUES (1, 'Mill & Sons', 'Cork'), (2, 'Quay Books', 'Dublin')")
        }
    }

    private func print(_ line: String) { printed.add(line) }

    private func cities() throws -> [String?] {
        try database.read { try $0.rows("SELECT city FROM customer ORDER BY id").map { $0[0].text } }
    }

    @Test func `opening, writing, reading and closing`() throws {
        let path = directory.file("shop.db")
        // Example: Database.init(_:)
        var profile = ConnectionProfile(path: path)
        profile.cacheSize = .megabytes(20)
        let shop = try Database(profile)
        // Example: end
        #expect(shop.path == path && shop.settings.cacheSize.bytes <= 20_000_000)
        try shop.close()

        // Example: Database.disableMemoryCount()
        do {
            try Database.disableMemoryCount()
        } catch {
            print("\(error.code): called too late")
        }
        // Example: end
        #expect(printed.take() == ["misuse: called too late"])

        // Example: Database.write(timeout:label:interruption:_:)
        try database.write { connection in
            try connection.execute("INSERT INTO customer (id, name, city) VALUES (?, ?, ?)", [3, "Harbour Foods", "Dublin"])
            try connection.execute("UPDATE customer SET city = ? WHERE id = ?", ["Galway", 1])
        }
        // Example: end
        #expect(try cities() == ["Galway", "Dublin", "Dublin"])

        // Example: Database.read(length:timeout:label:interruption:_:)
        let names = try database.read { connection in
            try connection.rows("SELECT name FROM customer WHERE city = ? ORDER BY name", ["Dublin"]).compactMap { $0[0].text }
        }
        // Example: end
        #expect(names == ["Harbour Foods", "Quay Books"])

        let copy = directory.file("copy.db")
        // Example: Database.close()
        try database.close()
        try FileManager.default.copyItem(atPath: database.path, toPath: copy)
        // Example: end
        #expect(#expect(throws: StoreError.self) { try cities() }?.code == .closed)
        let backup = try Database(ConnectionProfile(path: copy))
        #expect(try backup.read { try $0.first("SELECT count(*) FROM customer") } == [3])
    }

    @Test func `a copy of a database in use`() throws {
        let copy = directory.file("backup.db"), isCancelled = false
        // Example: Database.backUp(to:pagesPerStep:timeout:interruption:progress:)
        try database.backUp(to: copy) { progress in
            print("\(Int(progress.fraction * 100)) %")
            return !isCancelled
        }
        // Example: end
        #expect(printed.take() == ["100 %"])
        let backup = try Database(ConnectionProfile(path: copy))
        #expect(try backup.read { try $0.first("SELECT count(*) FROM customer") } == [2])
    }

    @Test func `rows by pages`() async throws {
        try readPages()
        #expect(printed.take() == ["1: Mill & Sons", "2: Quay Books"])

        try readPage()
        #expect(printed.take() == ["2: Quay Books"])

        // Example: Database.pages(_:size:maximumBytes:readsAhead:)
        let byName = PageQuery(["id", "name"], from: "customer", orderedBy: [.init("name"), .init("id")])
        for try await page in database.pages(byName, size: 100) {
            for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
        }
        // Example: end
        #expect(printed.take() == ["1: Mill & Sons", "2: Quay Books"])
    }

    private func readPages() throws {
        // Example: Database.pages(_:_:size:maximumBytes:)
        var pages = try database.pages("SELECT id, name FROM customer ORDER BY name", size: 100)
        while let page = try pages.next() {
            for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
        }
        // Example: end
    }

    private func readPage() throws {
        // Example: Database.page(_:_:size:maximumBytes:)
        let inCity = try PageSelect(PageQuery(["id", "name"], from: "customer", where: "city = ?1", orderedBy: [.init("name")]))
        let page = try database.page(inCity, ["Dublin"], size: 20)
        for row in page { print("\(row.integer(0)): \(row.string(1) ?? "")") }
        // Example: end
    }

    @Test func `the trace, and the changes of commits`() async throws {
        try trace()
        #expect(printed.take() == ["BEGIN IMMEDIATE", "DELETE FROM customer WHERE id = 2", "COMMIT"])

        try observe()
        #expect(printed.take() == ["customers changed"])

        // Example: Database.commits(of:)
        let commits = try database.commits(of: ["customer"])
        try await database.write { try $0.execute("UPDATE customer SET city = 'Galway'") }
        for await changes in commits where changes.mayChange("customer") { break }
        // Example: end
        #expect(try cities() == ["Galway"])
    }

    private func trace() throws {
        // Example: Database.setTrace(_:withValues:)
        database.setTrace({ sql in print(sql) }, withValues: true)
        try database.write { try $0.execute("DELETE FROM customer WHERE id = ?", [2]) }
        database.setTrace(nil)
        // Example: end
    }

    private func observe() throws {
        // Example: Database.observe(_:_:)
        let observation = try database.observe(["customer"]) { changes in
            if changes.mayChange("customer") { print("customers changed") }
        }
        // Example: end
        try database.write { try $0.execute("UPDATE customer SET city = 'Cork'") }
        try database.write { try $0.execute("CREATE TABLE visit (id INTEGER PRIMARY KEY)") }
        try database.write { try $0.execute("INSERT INTO visit VALUES (1)") }
        withExtendedLifetime(observation) {}
    }

    @Test func `the space of the file`() throws {
        try database.write { connection in
            try connection.execute("CREATE TABLE picture (data BLOB); INSERT INTO picture VALUES (zeroblob(1000000)); DELETE FROM picture")
        }
        // Example: Database.tableSpace()
        for space in try database.tableSpace() {
            print("\(space.name): \(space.bytes) bytes in \(space.pages) pages")
        }
        // Example: end
        #expect(printed.take().contains("customer: \(database.settings.pageSize) bytes in 1 pages"))

        do {
            // Example: Database.fileSpace()
            let space = try database.fileSpace()
            print("\(space.freePages) of \(space.pages) pages are free, the file has \(space.bytes) bytes")
            // Example: end
            let size = Int64(space.pages * database.settings.pageSize)
            #expect(printed.take() == ["\(space.freePages) of \(space.pages) pages are free, the file has \(size) bytes"])
            #expect(space.freePages > space.pages / 4)
        }

        // Example: Database.vacuum(timeout:interruption:)
        let space = try database.fileSpace()
        if space.freePages > space.pages / 4 { try database.vacuum(timeout: .seconds(10)) }
        // Example: end
        #expect(try database.fileSpace().freePages == 0)
    }

    @Test func `large values that are not needed any more`() throws {
        try database.write { try $0.prepareLargeValues() }
        func write() throws -> Int64 {
            let writer = try LargeValueWriter(in: database)
            try writer.write([1, 2, 3])
            return try writer.finish().id
        }
        let unused = try write()
        // Example: Database.removeUnreferencedValues(referencedBy:)
        let removed = try database.removeUnreferencedValues(referencedBy: [("customer", "photo")])
        print("\(removed) photos removed")
        // Example: end
        #expect(printed.take() == ["1 photos removed"])
        #expect(#expect(throws: StoreError.self) { try LargeValueReader(unused, in: database) }?.code == .notFound)

        let photo = try write()
        var reader: LargeValueReader? = try LargeValueReader(photo, in: database)
        try database.write { try $0.removeLargeValue(photo) }
        withExtendedLifetime(reader) {}
        reader = nil
        // Example: Database.freeRemovedValues()
        let freed = try database.freeRemovedValues()
        print("the space of \(freed) photos is free")
        // Example: end
        #expect(printed.take() == ["the space of 1 photos is free"])
    }
}
