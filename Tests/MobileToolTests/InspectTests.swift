import Foundation
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

@testable import mobile

/// `mobile inspect` reads a file that the object layer made, without its model.
@Suite struct InspectTests {
    private static let model = PackageModel(
        name: "Notes", version: "2.1", backEnds: [BackEndModel(name: "none")],
        objects: [
            ObjectModel(
                name: "Note", attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "text", type: .string)],
                primaryKey: ["id"], operations: OperationModel.plain, binding: BackEndBinding(backEnd: "none", table: "note")),
            ObjectModel(
                name: "Draft", isLocal: true, attributes: [AttributeModel(name: "id", type: .long), AttributeModel(name: "text", type: .string)],
                primaryKey: ["id"]),
        ])

    /// Makes a database with three created notes, one of them submitted, and a draft.
    private func withDatabase(_ body: (String) throws -> Void) throws {
        let folder = try TemporaryDirectory()
        let path = folder.file("notes.db")
        let package = try PackageDatabase(model: Self.model, profile: ConnectionProfile(path: path))
        try package.write("grant keys") { try $0.grantKeyRange(first: 1, last: 100) }
        for (name, count) in [("Note", 3), ("Draft", 1)] {
            for id in 1...count {
                let note = try package.entity(name).newObject()
                try note.setValue(.integer(Int64(id)), "id")
                try note.setValue(.string("note \(id)"), "text")
                try note.create()
                if name == "Note", id == 1 { try note.submitPending() }
            }
        }
        try package.closeConnection()
        try body(path)
    }

    @Test func `objects, pending changes and the outbox are counted`() throws {
        try withDatabase { path in
            let report = try ClientDatabaseReport(path: path)
            #expect(report.package == "Notes:2.1")
            #expect(report.entities.map(\.name) == ["Note", "Draft"])
            #expect(report.entities.map(\.rows) == [3, 1])
            #expect(report.entities[0].pending == ["C": 3])
            #expect(report.entities[0].submitted == 1)
            #expect(report.entities[1].isLocal)
            #expect(report.outboxCount == 1)
            #expect(report.outbox[0][1...3] == ["Note", 1, "C"])
            #expect(!report.isSubscribed)
        }
    }

    @Test func `rows that the server holds back are shown`() throws {
        try withDatabase { path in
            #expect(try ClientDatabaseReport(path: path).json["staleRows"]?.object?.isEmpty == true)
            let package = try PackageDatabase(model: Self.model, profile: ConnectionProfile(path: path))
            try package.write("stale rows") { transaction in
                try transaction.setStaleRows(["Note": [2, 1]], ofGroup: "default")
                try transaction.setStaleRows(["Note": [3]], ofGroup: "other")
            }
            #expect(try package.staleRows["Note"].map(Set.init) == [1, 2, 3])
            try package.closeConnection()
            let report = try ClientDatabaseReport(path: path)
            #expect(report.json["staleRows"]?["Note"]?.array?.compactMap(\.integer) == [1, 2, 3])
            let line = "held back by the server: the present version of 3 rows of Note (1, 2, 3); a value of the back end does not fit its attribute"
            #expect(report.lines.contains(line))
        }
    }

    @Test func `the statistics of any database tell its settings, what reading it costs, and how full its pages are`() throws {
        try withDatabase { path in
            let report = try TuningReport(path: path)
            #expect(report.settings.pageSize == 4096 && report.settings.isReadOnly)
            #expect(report.looks[0].pages.misses > 0)
            #expect(report.looks[1].pages.misses == report.looks[0].pages.misses, "all of it fits into the cache")
            let lines = report.lines.joined(separator: "\n")
            for part in ["4,096 bytes, of the file", "10.0 MB", "at 1,000 pages", "the second time", "Note_os"] {
                #expect(lines.contains(part), "\(part)")
            }
            #expect(try Tool.run(["inspect", "--stats", path]).output.contains("synchronous"))
            #expect(try Tool.run(["inspect", "--stats"]).status != 0)
        }
    }

    @Test func `the lines name page size, cache and space per table`() throws {
        try withDatabase { path in
            let lines = try ClientDatabaseReport(path: path).lines.joined(separator: "\n")
            #expect(lines.contains("of 4,096 bytes"))
            #expect(lines.contains("cache 10.0 MB"))
            #expect(lines.contains("objects, 3 rows pending:"))
            #expect(lines.contains("outbox, 1 operation to be sent:"))
            #expect(lines.contains("Note_os"))
        }
    }

    @Test func `a database of others is refused and left as it is`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("other.db")
        var profile = ConnectionProfile(path: path)
        profile.journal = .unchanged
        let other = try Database(profile)
        try other.write { _ = try $0.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY)") }
        try other.close()
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(throws: NotAClientDatabase.self) { try ClientDatabaseReport(path: path) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test func `a file that is not there is not made`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("missing.db")
        #expect(throws: StoreError.self) { try ClientDatabaseReport(path: path) }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func `pending changes are listed with their values and the reason why they wait, for people and for scripts`() throws {
        try withDatabase { path in
            let first = try PendingReport(path: path)
            #expect(first.changes.map(\.kind) == ["create", "create", "create"] && first.changes.map(\.object) == ["Note", "Note", "Note"])
            let submitted = /submitted as operation \d+: waits for a synchronization/
            #expect(first.changes[0].reason.wholeMatch(of: submitted) != nil)
            #expect(first.changes.dropFirst().allSatisfy { $0.reason == "not submitted: waits for submitPending" })
            let lines = try Tool.run(["inspect", "--pending", path])
            #expect(lines.status == 0 && lines.output.contains("3 rows pending") && lines.output.contains("  text: \"note 2\"\n"), "\(lines.output)")
            let scripts = try Tool.run(["inspect", "--json", "--pending", path])
            guard case .array(let changes) = try JSONValue(parsing: Array(scripts.output.utf8)) else { throw CommandFailure("no array") }
            #expect(changes.count == 3 && changes[1]["new"]?["text"] == "note 2" && changes[1]["change"] == "create")
            let report = try JSONValue(parsing: Array(Tool.run(["inspect", path, "--json"]).output.utf8))
            #expect(report["package"] == "Notes:2.1" && report["outboxCount"] == 1 && report["objects"]?.description.contains("Draft") == true)
            #expect(try Tool.run(["inspect", "--stats", "--json", path]).status == 64)
        }
    }

    @Test func `updates have the old and the new value, deletions the old ones, and a rejection its reason`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("notes.db"), profile = ConnectionProfile(path: path)
        func execute(_ sql: String) throws {
            let database = try Database(profile)
            try database.write { _ = try $0.execute(sql) }
            try database.close()
        }
        try PackageDatabase(model: Self.model, profile: profile).closeConnection()
        try execute(#"INSERT INTO "Note" ("_sk", "id", "text") VALUES (1, 1, 'note 1'), (2, 2, 'note 2'), (3, 3, 'note 3')"#)
        let package = try PackageDatabase(model: Self.model, profile: profile)
        let notes = try package.entity("Note").findAll().sorted { $0.surrogateKey < $1.surrogateKey }
        try notes[0].setValue(.string("new"), "text")
        try notes[0].update()
        try notes[1].delete()
        try notes[2].setValue(.string(String(repeating: "x", count: 100)), "text")
        try notes[2].update()
        var record = notes[2].newLogRecord(level: .error, message: "too long")
        try record.save()
        try package.closeConnection()
        try execute(#"UPDATE "Note" SET "_rf" = 7 WHERE "_sk" = 3; UPDATE "Note_os" SET "_rf" = 7 WHERE "_sk" = 3"#)
        let changes = try PendingReport(path: path).changes
        #expect(changes.map(\.kind) == ["update", "delete", "update"])
        #expect(
            changes[0].assignments.map(\.column) == ["text"] && changes[0].assignments[0].old?.json == "note 1"
                && changes[0].assignments[0].new?.json == "new")
        #expect(changes[1].assignments.map(\.old?.json) == [2, "note 2"] && changes[1].assignments.allSatisfy { $0.new == nil })
        #expect(changes[2].reason.hasPrefix("rejected by the server, code ") && changes[2].reason.hasSuffix(": too long"))
        #expect(try PendingReport(path: path).lines.contains { $0.hasSuffix("... (100 characters)") })
    }
}

/// Pending values of types whose stored form is not the one that people write.
@Suite struct PendingValueTests {
    private static let model = PackageModel(
        name: "Travel", backEnds: [BackEndModel(name: "none")],
        objects: [
            ObjectModel(
                name: "Expense",
                attributes: [
                    AttributeModel(name: "id", type: .long), AttributeModel(name: "amount", type: .decimal, precision: 8, scale: 2),
                    AttributeModel(name: "paid", type: .boolean), AttributeModel(name: "day", type: .date),
                    AttributeModel(name: "receipt", type: .bigBinary, isNullable: true), AttributeModel(name: "note", type: .bigString, isNullable: true),
                ], primaryKey: ["id"], operations: OperationModel.plain, binding: BackEndBinding(backEnd: "none", table: "expense"))
        ])

    @Test func `decimals have their point, and large values show their length`() throws {
        let folder = try TemporaryDirectory(), path = folder.file("travel.db")
        let package = try PackageDatabase(model: Self.model, profile: ConnectionProfile(path: path))
        let expense = try package.entity("Expense").newObject()
        try expense.setValue(1, "id")
        try expense.setValue(.decimal(#require(Decimal(string: "812.40"))), "amount")
        try expense.setValue(true, "paid")
        try expense.setValue(.date(#require(LocalDate("2026-11-25"))), "day")
        try expense.create()
        for (attribute, bytes) in [("receipt", 2_621_440), ("note", 3)] {
            try [UInt8](repeating: 65, count: bytes).withUnsafeBytes { try Data($0).write(to: URL(filePath: folder.file(attribute))) }
        }
        try expense.bigBinary("receipt").copyFromFile(folder.file("receipt"))
        try expense.bigString("note").copyFromFile(folder.file("note"))
        try expense.update()
        try package.closeConnection()
        let lines = try PendingReport(path: path).lines
        for line in ["  amount: 812.40", "  paid: true", "  day: \"2026-11-25\"", "  receipt: 2,621,440 bytes", "  note: 3 characters"] {
            #expect(lines.contains(line), "\(lines)")
        }
        let json = try PendingReport(path: path).json.description
        #expect(json.contains("\"amount\":812.40") || json.contains("\"amount\": 812.40"), "\(json)")
        #expect(try PendingReport(path: path).changes[0].assignments.first { $0.column == "receipt" }?.new?.json == ["bytes": 2_621_440])
    }
}

@Suite struct FormatTests {
    @Test(
        "numbers are grouped and rounded for people",
        arguments: [
            (Format.count(30_000), "30,000"), (Format.count(-1_234_567), "-1,234,567"), (Format.count(1, "row"), "1 row"),
            (Format.count(0, "row"), "0 rows"), (Format.bytes(999), "999 B"), (Format.bytes(20_480), "20.5 KB"),
            (Format.bytes(2_000_000), "2.0 MB"), (Format.time(.microseconds(812)), "0.8 ms"), (Format.time(.milliseconds(1240)), "1.24 s"),
            (Format.rate(30_000, "rows", in: .milliseconds(37)), "811,000 rows/s"), (Format.rate(3, "rows", in: .seconds(1)), "3 rows/s"),
        ])
    func numbers(text: String, expected: String) {
        #expect(text == expected)
    }

    @Test func `a table has its numbers to the right and no blanks at the ends`() {
        #expect(
            Terminal.table([["name", "rows"], ["Customer", "30,000"], ["Note", "1"]]) == [
                "  name        rows", "  Customer  30,000", "  Note           1",
            ])
    }
}
