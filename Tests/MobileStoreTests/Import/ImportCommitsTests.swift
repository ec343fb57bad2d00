import MobileExecution
import MobileStore
import TestSupport
import Testing

/// Batch commits, duplicate keys, and their visibility for callers.
@Suite struct ImportCommitsTests {
    let directory: TemporaryDirectory
    let database: Database

    init() throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile())
        try database.write { _ = try $0.execute("CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, amount INTEGER CHECK (amount < 5000))") }
    }

    static func rows(_ numbers: ClosedRange<Int>) -> String { numbers.map { "[\($0),\"name\",\($0)]" }.joined(separator: ",") }

    @discardableResult
    func importing(_ json: String, _ mode: ImportMode = .upsert, _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportResult {
        try database.write { connection in
            var options = ImportOptions()
            change(&options)
            let importer = try connection.importer(into: "item", columns: ["id", "name", "amount"], mode: mode, options: options)
            try importer.push(Array(json.utf8))
            return try importer.finish()
        }
    }

    /// Counts rows through another `Database`, because on the writing thread `database` reads its own changes.
    func countElsewhere() throws -> Int64 {
        let other = try Database(directory.profile())
        return try other.read { try $0.rows("SELECT count(*) FROM item") }[0][0].integer ?? -1
    }

    func count() throws -> Int64? { try database.read { try $0.rows("SELECT count(*) FROM item") }[0][0].integer }

    @Test(arguments: [ImportCommits.rows(1000), .bytes(.kilobytes(16))], [ImportThreads.off, .on])
    func `what was committed stays when a later row is refused`(commits: ImportCommits, threads: ImportThreads) throws {
        var committed = 0
        let error = #expect(throws: StoreError.self) {
            try importing("[\(Self.rows(1...6000))]") { options in
                options.commits = commits
                options.threads = threads
                options.progress = { committed = max(committed, $0.committed) }
            }
        }
        #expect(error?.code == .constraint)
        #expect(error?.row == 5000)
        let left = try #require(try count())
        #expect(left >= Int64(committed) && left < 5000 && left % 1000 != 5 && committed >= 1000)
        #expect(try database.read { try $0.rows("SELECT max(id) FROM item") } == [[.integer(left)]])
    }

    @Test func `readers see what was committed while the import runs`() throws {
        var seen: [Int64] = []
        try importing("[\(Self.rows(1...4000))]") { options in
            options.commits = .rows(1)
            options.progress = { _ in seen.append(try countElsewhere()) }
        }
        #expect(seen.count > 2 && seen == seen.sorted() && seen.last! > 0 && seen.last! < 4000)
        #expect(try count() == 4000)
    }

    @Test func `without commits nothing is seen before the end`() throws {
        var seen: Set<Int64> = []
        let result = try importing("[\(Self.rows(1...4000))]") { options in options.progress = { _ in seen.insert(try countElsewhere()) } }
        #expect(seen == [0])
        #expect(result.committed == 0)
    }

    /// The reports to observers: the keys of each commit, and the number of rows in the table at the time of the report.
    private final class Heard: Sendable {
        let commits = SystemLock<[(keys: [Int64], rows: Int64)]>([])
        var keys: [[Int64]] { commits.withLock { $0.map(\.keys) } }

        func observe(_ database: Database) throws -> Observation {
            try database.observe(["item"]) { [unowned database] changes in
                let rows = try? database.read { try $0.rows("SELECT count(*) FROM item") }[0][0].integer
                self.commits.withLock { $0.append(((changes.tables["item"] ?? nil) ?? [], rows ?? -1)) }
            }
        }
    }

    @Test(arguments: [ImportThreads.off, .on])
    func `observers hear of each commit when it is made, like of any other`(threads: ImportThreads) throws {
        let heard = Heard()
        let observation = try heard.observe(database)
        var isToldInTime = true
        try importing("[\(Self.rows(1...4000))]") { options in
            options.commits = .rows(1000)
            options.threads = threads
            options.progress = { progress in isToldInTime = isToldInTime && heard.keys.joined().count == progress.committed }
        }
        #expect(isToldInTime)
        #expect(heard.keys.count >= 4 && Array(heard.keys.joined()) == Array(1...4000))
        var rows: Int64 = 0
        for commit in heard.commits.withLock({ $0 }) {
            rows += Int64(commit.keys.count)
            #expect(commit.rows == rows, "they see what was committed")
        }
        withExtendedLifetime(observation) {}
    }

    @Test func `observers hear nothing of what came after the last commit and was rolled back`() throws {
        let heard = Heard()
        let observation = try heard.observe(database)
        #expect(throws: StoreError.self) { try importing("[\(Self.rows(1...6000))]") { $0.commits = .rows(1000) } }
        let left = try #require(try count())
        #expect(left >= 4000 && Array(heard.keys.joined()) == Array(1...left))
        try database.write { try $0.execute("DELETE FROM item WHERE id = 1") }
        #expect(heard.keys.last == [1])
        withExtendedLifetime(observation) {}
    }

    @Test func `a commit after nothing is refused`() throws {
        for commits in [ImportCommits.rows(0), .rows(-1), .bytes(.bytes(0))] {
            let error = #expect(throws: StoreError.self) { try importing("[]") { $0.commits = commits } }
            #expect(error?.code == .misuse)
        }
    }

    @Test func `of rows with one key the last one wins in an upsert, across batches too`() throws {
        let result = try importing("[\(Self.rows(1...3000)),[1,\"second\",1],[1,\"third\",2],[2,\"again\",3]]")
        #expect((result.inserted, result.updated) == (3000, 3))
        #expect(try database.read { try $0.rows("SELECT * FROM item WHERE id < 4") } == [[1, "third", 2], [2, "again", 3], [3, "name", 3]])
    }

    @Test func `in an insert the second row with a key is an error that names it`() throws {
        let error = #expect(throws: StoreError.self) { try importing("[\(Self.rows(1...3000)),[1,\"second\",1]]", .insert) }
        #expect(error?.code == .constraint)
        #expect(error?.row == 3001)
        #expect(try count() == 0)
    }

    @Test func `a closure that is told of rows cancels by throwing, and must not use its import`() throws {
        struct Enough: Error {}
        let error = #expect(throws: StoreError.self) {
            try importing("[\(Self.rows(1...3000))]") { options in options.changes = { if $0.row == 2000 { throw Enough() } } }
        }
        #expect(error?.code == .interrupted)
        #expect(error?.cause is Enough)
        #expect(try count() == 0)
    }

    @Test func `keys are protected whatever type they come as`() throws {
        try database.write { connection in
            _ = try connection.execute(
                """
                CREATE TABLE word(code TEXT PRIMARY KEY, n); CREATE TABLE word_os(code TEXT PRIMARY KEY, n);
                INSERT INTO word VALUES ('5', 'mine'), ('x', 'mine'), ('1.5', 'mine'); INSERT INTO word_os(code) VALUES ('5'), ('x'), ('7')
                """)
            var options = ImportOptions()
            options.pending = PendingProtection(originalTable: "word_os")
            let importer = try connection.importer(into: "word", columns: ["code", "n"], options: options)
            try importer.push(Array(#"[[5,"theirs"],["x","theirs"],["5","later"],["07","new"],[1.5,"other"],[7.0,"seven"]]"#.utf8))
            let result = try importer.finish()
            #expect((result.diverted, result.inserted, result.updated) == (3, 2, 1))
            #expect(try connection.rows("SELECT * FROM word_os ORDER BY 1") == [["5", "later"], ["7", .null], ["x", "theirs"]])
        }
    }
}
