import Foundation
import MobileCrypto
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import TestSupport
import Testing

@testable import MobileSync

/// Two devices and another application that change the same rows. Notes refuse conflicts; of memos the last writer wins.
@Suite struct ConflictTests {
    private let office: Office
    private let one: Phone
    private let two: Phone

    init() throws {
        office = try Office()
        (one, two) = (try office.phone("one"), try office.phone("two"))
    }

    @Test("CBK-08: of two devices the second is refused, with the row of the first; cancel takes that; of memos the last writer wins")
    func twoDevices() throws {
        for object in ["Note", "Memo"] {
            try one.edit(object, 1, "one").submitPending()
            try two.edit(object, 1, "two").submitPending()
        }
        #expect(try one.synchronize() == [2, 0] && two.synchronize() == [1, 1])
        let note = try two.load("Note", 1), conflict = try #require(try note.conflict())
        #expect(try note.value("text") == "two" && note.state == .failed && !conflict.isGone)
        #expect(conflict.row?["text"] == "one" && conflict.row?["place"] == "shelf" && conflict.row?["revision"] == 1
                && conflict.row?["isDone"] == true)
        #expect(try note.logRecords().map(\.code) == [583] && two.load("Memo", 1).conflict() == nil)
        #expect(try office.texts(1) == ["one", "two"])
        // Sent again as it is, it is refused again; cancelled, it is the server's.
        try note.submitPending()
        #expect(try note.conflict() == nil && two.synchronize() == [0, 1] && two.load("Note", 1).conflict() != nil)
        try note.refresh()
        try note.cancelPending()
        #expect(try note.value("text") == "one" && note.conflict() == nil && !note.isPending)
        // From there the user enters it again.
        try two.edit("Note", 1, "two after all").submitPending()
        #expect(try two.synchronize() == [1, 0] && office.texts(1) == ["two after all", "two"])
    }

    @Test("another application edits and deletes: an edit and a delete here are refused, the row of a deleted one is gone")
    func otherApplication() throws {
        try one.edit("Note", 1, "mine").submitPending()
        let delete = try one.load("Note", 2)
        try delete.delete()
        try delete.submitPending()
        try one.edit("Note", 3, "mine").submitPending()
        try office.run("UPDATE note SET place = 'office' WHERE id < 3", "DELETE FROM note WHERE id = 3")
        #expect(try one.synchronize() == [0, 3])
        let edited = try one.load("Note", 1), gone = try one.load("Note", 3)
        #expect(try edited.conflict()?.row?["place"] == "office" && delete.conflict()?.row?["place"] == "office")
        #expect(try gone.conflict()?.isGone == true)
        for object in [edited, delete, gone] { try object.cancelPending() }
        #expect(try one.rows("Note") == ["1 one at office", "2 two at office"] && !one.package.hasPendingOperations())
        #expect(try office.texts(1) == ["one", "one"])
    }

    @Test("an import between the edit and its submission hides no conflict; an edit after it is based on the imported row")
    func importBetween() throws {
        let first = try one.edit("Note", 1, "mine"), second = try one.edit("Note", 2, "mine")
        try office.run("UPDATE note SET place = 'office' WHERE id < 3")
        #expect(try one.synchronize() == [0, 0])
        try second.refresh()
        try second.setValue("mine, knowing the office's", "text")
        try second.update()
        for object in [first, second] { try object.submitPending() }
        #expect(try one.synchronize() == [1, 1])
        #expect(try first.conflict()?.row?["place"] == "office" && office.texts(1) == ["one", "one"])
        #expect(try one.rows("Note").contains("2 mine, knowing the office's at office"))
    }

    @Test("a device's own operations are no conflict: edited again while submitted, and with lost answers, although the back end computes a value")
    func chain() throws {
        for step in 1...3 {
            try one.edit("Note", 1, "step \(step)").submitPending()
            if step < 3 { one.loseAnswer(of: office) }
        }
        #expect(try one.synchronize() == [3, 0] && office.texts(1) == ["step 3", "one"])
        try one.edit("Note", 1, "step 4").submitPending()
        let again = try one.edit("Note", 1, "step 5")
        #expect(try one.synchronize() == [1, 0])
        // The answer to step 4 is there, and the server still knows what step 5 follows.
        try one.edit("Note", 2, "other").submitPending()
        #expect(try one.synchronize() == [1, 0])
        try again.refresh()
        try again.submitPending()
        #expect(try one.synchronize() == [1, 0] && office.texts(1) == ["step 5", "one"] && !one.package.hasPendingOperations())
        // Created, changed and deleted before the first answer comes.
        let new = try GenericEntity("Note", in: one.package)
        try new.setValue("new", "text")
        try new.save()
        try new.submitPending()
        one.loseAnswer(of: office)
        try new.setValue("newer", "text")
        try new.update()
        try new.submitPending()
        try new.delete()
        try new.submitPending()
        #expect(try one.synchronize() == [3, 0] && office.count("note") == 3)
    }

    @Test("operations of a model without the rule are taken over when the model gets it")
    func upgraded() throws {
        let office = try Office(conflicts: .lastWriter), phone = try office.phone("one")
        try phone.edit("Note", 1, "submitted").submitPending()
        try phone.edit("Note", 2, "edited")
        try phone.package.close()
        let other = try office.phone("one", model: Office.model(.refuse), synchronizes: false)
        let taken = try #require(try other.package.outbox.first?.original)
        #expect(taken["text"] == "one" && taken["isDone"] == true && taken["price"]?.double == 12.5 && taken["id"] == nil)
        try other.load("Note", 2).submitPending()
        #expect(try other.package.outbox.map { $0.original?["text"] } == ["one", "two"])
        for id in 1...2 { try other.load("Note", Int64(id)).cancelPending() }
        #expect(try other.package.read { try $0.first("SELECT count(*) FROM \"_basis\"") }?[0] == .integer(0))
    }

    // MARK: Random histories

    /// The rule, with versions instead of values.
    private struct Rule {
        struct Operation {
            let id: Int64, row: Int64, base: Int?, follows: Int64?, text: String
        }

        /// By row: the version, the text and the place.
        var rows: [Int64: (version: Int, text: String, place: String)] = [1: (0, "one", "shelf"), 2: (0, "two", "shelf"), 3: (0, "three", "shelf")]
        var versions = 0
        /// By device and operation: whether it was accepted, and the version that it left.
        var outcomes: [String: (isAccepted: Bool, left: Int?)] = [:]

        mutating func change(_ row: Int64, text: String? = nil, place: String? = nil) {
            guard let before = rows[row] else { return }
            versions += 1
            rows[row] = (versions, text ?? before.text, place ?? before.place)
        }

        /// Does the operations of an upload, each once.
        mutating func replay(_ operations: [Operation], of device: String) {
            for operation in operations where outcomes["\(device) \(operation.id)"] == nil {
                let left = operation.follows.flatMap { outcomes["\(device) \($0)"]?.left }, version = rows[operation.row]?.version
                let isAccepted = version != nil && (version == operation.base || version == left)
                if isAccepted { change(operation.row, text: operation.text) }
                outcomes["\(device) \(operation.id)"] = (isAccepted, isAccepted ? rows[operation.row]?.version : left)
            }
        }
    }

    private final class Side {
        let phone: Phone
        var known: [Int64: Int] = [1: 0, 2: 0, 3: 0], base: [Int64: Int] = [:], follows: [Int64: Int64] = [:], outbox: [Rule.Operation] = []

        init(_ phone: Phone) { self.phone = phone }
    }

    @Test("random histories of two devices and another application, with lost uploads and answers, as the rule says", arguments: 0..<8)
    func histories(seed: Int) throws {
        var random = SeededGenerator(seed: UInt64(seed) &+ 77), rule = Rule()
        let sides = [Side(one), Side(two)]
        for step in 0..<60 {
            let side = sides[Int.random(in: 0...1, using: &random)], phone = side.phone, row = Int64.random(in: 1...3, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                try office.run("UPDATE note SET place = 'place \(step)' WHERE id = \(row)")
                rule.change(row, place: "place \(step)")
            case 1 where step > 40:
                try office.run("DELETE FROM note WHERE id = \(row)")
                rule.rows[row] = nil
            case 2...4:
                guard try phone.find("Note", row) != nil else { continue }
                try phone.edit("Note", row, "\(phone.name) \(step)")
                side.base[row] = side.known[row] ?? side.base[row]
                // Next to it, without the rule.
                try phone.edit("Memo", row, "\(phone.name) \(step)").submitPending()
            case 5...6:
                guard let object = try phone.find("Note", row), object.isPending else { continue }
                let before = object.replayPending
                try object.submitPending()
                guard object.replayPending != before, case let text = try object.value("text").description else { continue }
                side.outbox.append(
                    .init(id: object.replayPending, row: row, base: side.base[row], follows: side.follows[row], text: text))
                side.follows[row] = object.replayPending
            case 7:
                guard let object = try phone.find("Note", row), object.state == .failed else { continue }
                try object.cancelPending()
            case 8:
                rule.replay(side.outbox, of: phone.name)
                phone.loseAnswer(of: office)
            case 9: phone.loseUpload(of: office)
            default: try synchronize(side, &rule, seed: seed, step: step)
            }
            for key in [Int64(1), 2, 3] where try phone.find("Note", key)?.isPending != true { (side.base[key], side.follows[key]) = (nil, nil) }
        }
        for side in sides { try synchronize(side, &rule, seed: seed, step: 99) }
        for side in sides {
            try side.phone.package.cancelPendingOperations()
            _ = try side.phone.synchronize()
        }
        let expected = rule.rows.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text) at \($0.value.place)" }
        #expect(try one.rows("Note") == expected && two.rows("Note") == expected, "seed \(seed)")
        #expect(try one.rows("Memo") == two.rows("Memo") && one.package.outbox.isEmpty)
    }

    private func synchronize(_ side: Side, _ rule: inout Rule, seed: Int, step: Int) throws {
        let memos = try side.phone.package.outbox.count { $0.entity == "Memo" }
        rule.replay(side.outbox, of: side.phone.name)
        let accepted = side.outbox.count { rule.outcomes["\(side.phone.name) \($0.id)"]?.isAccepted == true }
        let counts = try side.phone.synchronize()
        #expect(counts == [accepted + memos, side.outbox.count - accepted], "seed \(seed), step \(step)")
        side.outbox = []
        side.known = rule.rows.mapValues(\.version)
    }
}

/// A server over a back end with notes and memos. The back end counts the changes of each row.
private final class Office: Sendable {
    let directory: TemporaryDirectory
    let server: MobileServer
    let network: SimulatedTransport
    private let backEnd: Database
    private let model: PackageModel

    static func model(_ conflicts: ConflictRule) throws -> PackageModel {
        func object(_ name: String, _ rule: String) -> String {
            """
            {"name": "\(name)", "attributes": [
               {"name": "id", "type": "long", "generated": true}, {"name": "text", "type": "string", "length": 40},
               {"name": "place", "type": "string", "length": 20, "default": "shelf"}, {"name": "revision", "type": "long"},
               {"name": "isDone", "type": "boolean"}, {"name": "price", "type": "decimal", "default": 0}, {"name": "due", "type": "dateTime", "nullable": true},
               {"name": "weight", "type": "double", "nullable": true}],
             "primaryKey": ["id"], "operations": ["create", "update", "delete"]\(rule),
             "binding": {"backEnd": "enterprise", "table": "\(name.lowercased())"}}
            """
        }
        let rule = conflicts == .refuse ? ", \"conflicts\": \"refuse\"" : ""
        return try PackageModel(
            json: """
                {"format": 2, "name": "Office", "version": "1.0", "backEnds": [{"name": "enterprise"}],
                 "objects": [\(object("Note", rule)), \(object("Memo", ""))]}
                """)
    }

    init(conflicts: ConflictRule = .refuse) throws {
        directory = try TemporaryDirectory()
        model = try Self.model(conflicts)
        let path = directory.file("enterprise.db")
        backEnd = try Database(ConnectionProfile(path: path, journal: .unchanged))
        for table in ["note", "memo"] {
            try backEnd.write { connection in
                _ = try connection.execute(
                    """
                    CREATE TABLE \(table) (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, place TEXT NOT NULL, revision INTEGER NOT NULL DEFAULT 0,
                        isDone INTEGER NOT NULL DEFAULT 1, price NUMERIC NOT NULL DEFAULT 12.50, due DATETIME DEFAULT '2026-11-23 06:05:00',
                        weight REAL DEFAULT 7);
                    CREATE TRIGGER \(table)_revision AFTER UPDATE OF text, place ON \(table)
                    BEGIN UPDATE \(table) SET revision = old.revision + 1 WHERE id = new.id; END;
                    INSERT INTO \(table) (id, text, place, revision) VALUES (1, 'one', 'shelf', 0), (2, 'two', 'shelf', 0), (3, 'three', 'shelf', 0);
                    """)
            }
        }
        var configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"), packages: [PackageDeployment(model, backEnds: ["enterprise": path])],
            users: [TestBench.user: TestBench.password])
        configuration.passwordParameters = .init(n: 16)
        let server = try MobileServer(configuration)
        self.server = server
        network = SimulatedTransport(server: { server.respond(to: $0) }, seed: 1)
    }

    func phone(_ name: String, model: PackageModel? = nil, synchronizes: Bool = true) throws -> Phone {
        try Phone(name, model ?? self.model, directory.file(name), network, synchronizes: synchronizes)
    }

    func run(_ statements: String...) throws {
        try backEnd.write { connection in for statement in statements { _ = try connection.execute(statement) } }
    }

    func count(_ table: String) throws -> Int64? { try backEnd.read { try $0.first("SELECT count(*) FROM \(table)")?[0].integer } }

    /// The texts of the note and the memo with this key.
    func texts(_ id: Int64) throws -> [String?] {
        try ["note", "memo"].map { table in try backEnd.read { try $0.first("SELECT text FROM \(table) WHERE id = \(id)")?[0].text } }
    }
}

private final class Phone: Sendable {
    let name: String
    let application: Application
    let package: PackageDatabase

    init(_ name: String, _ model: PackageModel, _ directory: String, _ network: SimulatedTransport, synchronizes: Bool) throws {
        self.name = name
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        application = try Application(
            identifier: "Office", profile: ConnectionProfile(path: directory + (synchronizes ? "/application.db" : "/other.db")), transport: network,
            retryPolicy: RetryPolicy(initialDelay: .seconds(3600), maximumDelay: .seconds(3600)))
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: TestBench.user, password: TestBench.password))
        package = try PackageDatabase(model: model, profile: ConnectionProfile(path: directory + "/office.db"))
        package.application = application
        guard synchronizes else { return }
        try application.register(timeout: .seconds(60))
        try package.subscribe()
        try package.synchronize("default")
    }

    func find(_ object: String, _ id: Int64) throws -> GenericEntity? { try package.entity(object).findByPrimaryKey(.integer(id)) }
    func load(_ object: String, _ id: Int64) throws -> GenericEntity { try #require(try find(object, id)) }

    @discardableResult
    func edit(_ object: String, _ id: Int64, _ text: String) throws -> GenericEntity {
        let object = try load(object, id)
        try object.setValue(.string(text), "text")
        try object.update()
        return object
    }

    /// Synchronizes.
    /// - Returns: the numbers of accepted and rejected operations.
    func synchronize() throws -> [Int] {
        let result = try package.synchronize("default")
        return [Int(result.operationsAccepted), Int(result.operationsRejected)]
    }

    /// Synchronizes; the server does everything, but the answer does not arrive.
    func loseAnswer(of office: Office) { lose(.cutResponse, office) }
    func loseUpload(of office: Office) { lose(.cutUpload(after: 10), office) }

    private func lose(_ fault: NetworkFault, _ office: Office) {
        office.network.conditions.fault = { _, _ in fault }
        #expect(throws: SyncError.self) { try self.package.synchronize("default") }
        office.network.conditions.fault = { _, _ in nil }
    }

    func rows(_ object: String) throws -> [String] {
        try package.entity(object).findAll().map { try "\($0.value("id")) \($0.value("text")) at \($0.value("place"))" }.sorted()
    }
}
