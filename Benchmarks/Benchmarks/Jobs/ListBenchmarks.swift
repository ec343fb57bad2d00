import BenchmarkReferences
import Foundation
import MobileObjects
import MobileStore

/// Lists of objects for a screen: the first page, parents with their children, the result of a query, and the notification of observers.
enum ListBenchmarks {
    static let all = [firstScreen, parentsChildren, queryBuilt, fanout]

    // MARK: The first page

    private static let firstScreen = Benchmark(
        id: "list.first-screen", shows: "a list of 30,000 objects is opened, and the 100 objects of its first screen are read, 500 times", limit: 3.0,
        note: "the reference reads one page of rows; the list also watches its table for changes",
        prepare: { _ = try TypedObjects.filledTable($0) },
        reference: repeated("page.c: one page of rows in C, every column read", firstPage, rounds),
        subject: Side("Item.list(in:)") { workspace, watch in
            try withItems(workspace, &watch) { package in
                try Item.list(pageSize: PagingBenchmarks.pageRows, in: package).objects(0..<PagingBenchmarks.pageRows)
            }
        })

    private static let rounds = 500
    private static let firstPage = """
        SELECT \(TypedObjects.columns) FROM "Item" WHERE "_sk" > 0 ORDER BY "_sk" LIMIT \(PagingBenchmarks.pageRows)
        """

    // MARK: A query

    private static let queryBuilt = Benchmark(
        id: "query.built", shows: "a query for 100 objects is put together from key paths and values, compiled and run, 500 times", limit: 2.0,
        note: "the reference's statement is prepared once, the query is made anew each time",
        prepare: { _ = try TypedObjects.filledTable($0) },
        reference: repeated("query.c: the same SQL, prepared once, every column read", builtQuery, rounds),
        subject: Side("Item.where(_:).sorted(by:).take(_:).find(in:)") { workspace, watch in
            try withItems(workspace, &watch) { package in
                try Item.where(\.flag == true && \.words3 > "a").sorted(by: \.id_).take(PagingBenchmarks.pageRows).find(in: package)
            }
        })

    private static let builtQuery = """
        SELECT \(TypedObjects.columns) FROM "Item" WHERE "flag" = 1 AND "words3" > 'a' ORDER BY "id", "_sk" LIMIT \(PagingBenchmarks.pageRows)
        """

    /// Runs the same statement repeatedly in C.
    private static func repeated(_ name: String, _ select: String, _ rounds: Int) -> Side {
        Side(name) { workspace, watch in
            var message = CMessage()
            let path = try TypedObjects.filledTable(workspace)
            guard let statement = br_keyset_open(path, ObjectBenchmarks.cacheBytes, select, &message.characters, CMessage.size) else {
                throw WrongResult("\(name): \(message.text)")
            }
            defer { br_keyset_close(statement) }
            var rows: Int64 = 0, sum: UInt64 = 0, isRead = true
            watch.measure {
                for _ in 0..<rounds {
                    var found: Int64 = 0, part: UInt64 = 0
                    isRead = br_keyset_all(statement, &found, &part) && isRead
                    rows += found
                    sum &+= part
                }
            }
            guard isRead else { throw WrongResult("\(name): SQLite refused") }
            return Outcome(rows: rows, checksum: sum)
        }
    }

    /// Calls `find` repeatedly and reads every attribute of its objects.
    private static func withItems(_ workspace: Workspace, _ watch: inout Stopwatch, _ find: (Bench) throws -> EntityList<Item>) throws -> Outcome {
        let package = try Bench.open(ConnectionProfile(path: TypedObjects.filledTable(workspace)))
        var rows: Int64 = 0, sum: UInt64 = 0
        try watch.measure {
            for _ in 0..<rounds {
                let items = try find(package)
                for item in items { sum &+= item.sumOfPlainAttributes &+ item.sumOfConvertedAttributes }
                rows += Int64(items.count)
            }
        }
        // The C loop sums the stored form, so the same objects are read once more for that sum.
        let items = try find(package)
        let seen = items.reduce(0 as UInt64) { $0 &+ $1.sumOfPlainAttributes &+ $1.sumOfConvertedAttributes }
        guard seen &* UInt64(rounds) == sum else { throw WrongResult("a list gave other objects than the one before") }
        let stored = items.reduce(0 as UInt64) { $0 &+ $1.sumOfPlainAttributes &+ $1.sumOfStoredForms }
        try package.closeConnection()
        return Outcome(rows: rows, checksum: stored &* UInt64(rounds))
    }

    // MARK: Parents with their children

    private static let parentsChildren = Benchmark(
        id: "list.parents-children", shows: "1,000 objects with their 10,000 children, all of them read with two statements", limit: 2.5,
        prepare: { _ = try boxes($0) },
        reference: Side("merge.c: two queries in C, stepped side by side") { workspace, watch in
            var message = CMessage()
            let parents = #"SELECT "_sk", "_pc", "_rc", "_rp", "_rf", "_ra", "id", "name", "city", "open" FROM "Box" ORDER BY "_sk""#
            let children = """
                SELECT "_sk", "_pc", "_rc", "_rp", "_rf", "_ra", "id", "boxId", "name", "quantity", "weight", "note", "_ref_box" FROM "Part"
                ORDER BY "_ref_box", "_sk"
                """
            guard let merge = br_merge_open(try boxes(workspace), ObjectBenchmarks.cacheBytes, parents, children, &message.characters, CMessage.size)
            else { throw WrongResult("merge.c: \(message.text)") }
            defer { br_merge_close(merge) }
            var boxCount: Int64 = 0, partCount: Int64 = 0, sum: UInt64 = 0
            guard watch.measure({ br_merge_run(merge, &boxCount, &partCount, &sum) }) else { throw WrongResult("merge.c: SQLite refused") }
            return Outcome(rows: boxCount + partCount, checksum: sum)
        },
        subject: Side("Box.all.prefetching(\\.parts).find(in:)") { workspace, watch in
            let package = try Bench.open(ConnectionProfile(path: boxes(workspace)))
            var rows: Int64 = 0, sum: UInt64 = 0
            try watch.measure {
                for box in try Box.all.prefetching(\.parts).find(in: package) {
                    sum &+= box.sumOfState &+ UInt64(bitPattern: box.id_) &+ box.name.sumOfBytes &+ box.city.sumOfBytes &+ (box.open ? 1 : 0)
                    rows += 1
                    for part in box.parts {
                        sum &+= part.sumOfState &+ UInt64(bitPattern: part.id_ &+ part.boxId &+ Int64(part.quantity) &+ Int64(part.weight))
                        sum &+= part.name.sumOfBytes &+ (part.note?.sumOfBytes ?? 0) &+ UInt64(bitPattern: box.surrogateKey)
                        rows += 1
                    }
                }
            }
            try package.closeConnection()
            return Outcome(rows: rows, checksum: sum)
        })

    private static let boxCount: Int64 = 1000, partsOfBox: Int64 = 10

    /// Makes the package's database once, with boxes and parts; the parts of a box are far from each other.
    @Sendable private static func boxes(_ workspace: Workspace) throws -> String {
        try workspace.file("boxes.db") { path in
            let package = try Bench.open(ConnectionProfile(path: path))
            try package.store.write { connection in
                let box = try connection.statement(#"INSERT INTO "Box" ("_sk", "id", "name", "city", "open") VALUES (?1, ?1, ?2, ?3, ?4)"#)
                for key in 1...boxCount {
                    _ = try box.run([.integer(key), .text("Box number \(key)"), .text(key % 3 == 0 ? "Dublin" : "Cork"), .integer(key % 2)])
                }
                let part = try connection.statement(
                    """
                    INSERT INTO "Part" ("_sk", "id", "boxId", "name", "quantity", "weight", "note", "_ref_box") VALUES (?1, ?1, ?2, ?3, ?4, ?5, ?6, ?2)
                    """)
                for key in 1...boxCount * partsOfBox {
                    _ = try part.run([
                        .integer(key), .integer(key % boxCount + 1), .text("Part \(key) of a box"), .integer(key % 17), .real(Double(key) / 8),
                        key % 5 == 0 ? .null : .text("handle with care, number \(key)"),
                    ])
                }
            }
            try package.closeConnection()
        }
    }

    // MARK: Observers

    private static let fanout = Benchmark(
        id: "observe.fanout", shows: "2,000 commits while 100 observers wait for changes of other tables, against the same with nobody", limit: 1.05,
        note: "each commit saves one object; an observer that is told for nothing is a wrong result",
        prepare: { _ = try TypedObjects.filledTable($0) },
        reference: commits("the same commits without observers", observers: 0),
        subject: commits("Bench.observe(_:) 100 times", observers: 100))

    private static func commits(_ name: String, observers: Int) -> Side {
        Side(name) { workspace, watch in
            try ObjectBenchmarks.onCopy(of: workspace) { path in
                let package = try Bench.open(ConnectionProfile(path: path))
                let items = try Item.page(size: ObjectBenchmarks.saves, in: package), texts = ObjectBenchmarks.newTexts
                let hasResult = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
                let tasks = (0..<observers).map { number in
                    Task.detached {
                        defer { hasEnded.signal() }
                        var results = 0
                        for try await _ in number % 2 == 0 ? package.observe(Box.all.take(10)) : package.observe(Box.where(\.open == true).take(10)) {
                            results += 1
                            hasResult.signal()
                        }
                        return results
                    }
                }
                for _ in tasks { hasResult.wait() }
                try watch.measure {
                    for (item, text) in zip(items, texts) {
                        item.words3 = text
                        try item.save()
                    }
                }
                let wasTold = hasResult.wait(timeout: .now()) == .success
                for task in tasks { task.cancel() }
                for _ in tasks { hasEnded.wait() }
                try watch.measure { try package.closeConnection() }
                if wasTold { throw WrongResult("\(name): an observer of other tables was told of a commit") }
            }
        }
    }
}

extension Entity {
    /// The sum of key and state, as in the C loops.
    fileprivate var sumOfState: UInt64 {
        UInt64(bitPattern: surrogateKey &+ replayCounter &+ replayPending &+ replayFailure &+ Int64(pendingChange.rawValue))
    }
}
