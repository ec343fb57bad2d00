import MobileModel
import MobileServer
import MobileStore
import TestSupport
import Testing

/// Operations that the back end can neither do nor refuse at present. They are answered and not recorded, and come again.
@Suite struct DeferredOperationTests {
    /// Runs `body` while another process writes to the back end.
    private func whileLocked<R>(_ server: TestServer, _ body: () throws -> R) throws -> R {
        try server.backEnd { connection in
            _ = try connection.execute(server.backEndDatabase == nil ? "UPDATE folder SET name = name" : "LOCK TABLE folder IN EXCLUSIVE MODE")
            return try body()
        }
    }

    private func bench() throws -> RejectedParentTests.Bench {
        try RejectedParentTests.Bench(server: Folders.server { $0.connectionTimeout = .milliseconds(500) })
    }

    @Test("ERR-01 ERR-09: where the back end is busy, operations are deferred with code 409, without a record, and done when they come again")
    func busy() throws {
        let bench = try bench()
        let upload = [bench.folder(1, key: 0, name: "one"), bench.folder(2, key: 1, name: "")]
        let answer = try whileLocked(bench.client.server) { try bench.synchronize(upload) }
        #expect(answer.outcomes == ["deferred 409", "deferred 409"])
        #expect(
            answer.results.map { $0["message"]?.string } == [
                "the back end is busy; try again", "not tried, because an earlier operation was deferred: the back end is busy; try again",
            ])
        #expect(!answer.frames.contains { $0.letter == "L" }, "a log record is about a decision")
        #expect(try bench.client.server.backEndValue("SELECT count(*) FROM mobile_processed_operation") == 0)
        #expect(try bench.synchronize(upload).outcomes == ["accepted 200", "rejected 412"])
        #expect(try bench.client.server.backEndValue("SELECT count(*) FROM folder WHERE name = 'one'") == 1)
    }

    @Test(
        "a deferred batch defers all that follows it on its back end, so that nothing overtakes it; what was done before stays done", .backEndInFile)
    func order() throws {
        let bench = try bench()
        let first = [bench.folder(1, key: 0, name: "one")]
        #expect(try bench.synchronize(first).outcomes == ["accepted 200"])
        // The outcome of the second operation cannot be read: its batch is deferred, and with it the ones that would find no obstacle.
        #expect(try bench.synchronize([bench.folder(2, key: 1, name: "two")]).outcomes == ["accepted 200"])
        try bench.client.server.backEnd {
            _ = try $0.execute("CREATE TABLE kept AS SELECT outcome FROM mobile_processed_operation WHERE operation = 2")
            _ = try $0.execute("UPDATE mobile_processed_operation SET outcome = x'05' WHERE operation = 2")
        }
        let upload =
            first + [
                bench.folder(2, key: 1, name: "two"), bench.folder(3, key: 2, name: "three"), bench.note(4, key: 3, in: 1),
                bench.note(5, key: 4, in: 0),
            ]
        #expect(
            try bench.synchronize(upload).outcomes == ["accepted 200", "deferred 503", "deferred 503", "deferred 503", "deferred 503"])
        #expect(try bench.notes() == 0)
        try bench.client.server.backEnd {
            _ = try $0.execute("UPDATE mobile_processed_operation SET outcome = (SELECT outcome FROM kept) WHERE operation = 2")
        }
        #expect(Set(try bench.synchronize(upload).outcomes) == ["accepted 200"])
        #expect(
            try bench.client.server.backEndValue("SELECT group_concat(name) FROM (SELECT name FROM folder WHERE id > 1 ORDER BY id)")
                == "one,two,three")
    }

    @Test("where a rejection cannot be recorded, nothing is decided", .backEndInFile)
    func unrecordedRejection() throws {
        let bench = try bench()
        try bench.client.server.backEnd {
            _ = try $0.execute("CREATE TRIGGER full BEFORE INSERT ON mobile_processed_operation BEGIN SELECT RAISE(ABORT, 'no room'); END")
        }
        let upload = [bench.folder(1, key: 0, name: "")]
        #expect(try bench.synchronize(upload).outcomes == ["deferred 503"])
        try bench.client.server.backEnd { _ = try $0.execute("DROP TRIGGER full") }
        #expect(try bench.synchronize(upload).outcomes == ["rejected 412"])
    }

    @Test("an operation whose row or parent was deferred on another back end is deferred as well, also on one that is well", .backEndInFile)
    func otherBackEnd() throws {
        let folder = try TemporaryDirectory(), notes = folder.file("notes.db")
        let other = try Database(ConnectionProfile(path: notes, journal: .unchanged))
        defer { try? other.close() }
        try other.write { _ = try $0.execute("CREATE TABLE note (id INTEGER PRIMARY KEY AUTOINCREMENT, folder INTEGER, text TEXT, above INTEGER)") }
        let model = try PackageModel(
            json: Folders.json.replacing("IDEMPOTENT", with: "false").replacing(
                "\"backEnds\": [", with: #""backEnds": [{"name": "notes", "kind": "sqlite"}, "#
            )
            .replacing(#"{"backEnd": "enterprise", "table": "note""#, with: #"{"backEnd": "notes", "table": "note""#))
        let bench = try RejectedParentTests.Bench(
            server: TestServer(model: model, tables: Folders.tables, folder: folder) {
                $0.connectionTimeout = .milliseconds(500)
                $0.packages = [PackageDeployment(model, backEnds: ["enterprise": folder.file("enterprise.db"), "notes": notes])]
            })
        func note(_ id: Int64, _ refs: String = "") -> String {
            #"{"id": \#(id), "mbo": "Note", "change": "C", "key": \#(bench.keys.lowerBound + id), "attributes": {"text": "x"}\#(refs)}"#
        }
        let child = note(3, #", "refs": {"folder": \#(bench.keys.lowerBound)}"#)
        let answer = try whileLocked(bench.client.server) {
            try bench.synchronize([bench.folder(1, key: 0, name: "one"), note(2), child, note(4)])
        }
        #expect(answer.outcomes == ["deferred 409", "accepted 200", "deferred 409", "deferred 409"])
        #expect(answer.results[2]["message"]?.string == "not done, because the creation of the row of \"Folder\" that it needs was deferred")
        #expect(
            try bench.synchronize([bench.folder(1, key: 0, name: "one"), child, note(4)]).outcomes == [
                "accepted 200", "accepted 200", "accepted 200",
            ])
        #expect(try other.read { try $0.rows("SELECT folder FROM note ORDER BY id") } == [[.null], [2], [.null]])
    }
}
