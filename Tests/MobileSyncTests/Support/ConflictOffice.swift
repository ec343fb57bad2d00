import Foundation
import MobileCrypto
import MobileExecution
import MobileModel
import MobileObjects
import MobileStore
import MobileTransport
import TestSupport
import Testing

@testable import MobileServer
@testable import MobileSync

/// A server over a back end with notes, tasks and memos. Notes and tasks refuse conflicts, and are in one group; of memos the last writer wins. The back
/// end counts the changes of each row.
final class Office: Sendable {
    let directory: TemporaryDirectory
    private let server = SystemLock<MobileServer?>(nil)
    private let configuration: ServerConfiguration
    let network: SimulatedTransport
    private let backEnd: Database
    let model: PackageModel
    /// The clock of the phones.
    let clock = VirtualClock(start: .seconds(1_900_000_000))

    static func model(_ conflicts: ConflictRule) throws -> PackageModel {
        func object(_ name: String, _ rule: String, _ attributes: String = "", _ members: String = "") -> String {
            """
            {"name": "\(name)", "attributes": [\(attributes)
               {"name": "id", "type": "long", "generated": true}, {"name": "text", "type": "string", "length": 40},
               {"name": "place", "type": "string", "length": 20, "default": "shelf"}, {"name": "revision", "type": "long"},
               {"name": "isDone", "type": "boolean"}, {"name": "price", "type": "decimal", "default": 0}, {"name": "due", "type": "dateTime", "nullable": true},
               {"name": "weight", "type": "double", "nullable": true}],
             "primaryKey": ["id"], "operations": ["create", "update", "delete"]\(rule)\(members),
             "binding": {"backEnd": "enterprise", "table": "\(name.lowercased())"}}
            """
        }
        let rule = conflicts == .refuse ? ", \"conflicts\": \"refuse\"" : ""
        let tasks =
            ", \"relationships\": [{\"name\": \"note\", \"target\": \"Note\", \"cardinality\": \"manyToOne\", \"mapping\": {\"noteId\": \"id\"}}]"
        return try PackageModel(
            json: """
                {"format": 2, "name": "Office", "version": "1.0", "backEnds": [{"name": "enterprise"}],
                 "synchronizationGroups": [{"name": "default"}, {"name": "side"}],
                 "objects": [\(object("Note", rule)), \(object("Task", rule, #"{"name": "noteId", "type": "long", "nullable": true},"#, tasks)),
                   \(object("Memo", "", "", #", "synchronizationGroup": "side""#))]}
                """)
    }

    /// - Parameters:
    ///   - usesSegments: whether downloads of two rows and more come as segments.
    ///   - notesOfPlace: whether phones subscribe to the notes of a place; otherwise each has all notes.
    init(conflicts: ConflictRule = .refuse, usesSegments: Bool = false, notesOfPlace: Bool = false) throws {
        directory = try TemporaryDirectory()
        var model = try Self.model(conflicts)
        if notesOfPlace {
            model.objects[0].synchronizationParameters = [ParameterModel(name: "place", type: .string)]
            model.objects[0].binding?.load = "SELECT id, text, place, revision, isDone, price, due, weight FROM note WHERE place = :place"
        }
        self.model = model
        let path = directory.file("enterprise.db")
        backEnd = try Database(ConnectionProfile(path: path, journal: .unchanged))
        for table in ["note", "memo", "task"] {
            try backEnd.write { connection in
                _ = try connection.execute(
                    """
                    CREATE TABLE \(table) (
                        id INTEGER PRIMARY KEY AUTOINCREMENT, text TEXT NOT NULL, place TEXT NOT NULL, revision INTEGER NOT NULL DEFAULT 0,
                        isDone INTEGER NOT NULL DEFAULT 1, price NUMERIC NOT NULL DEFAULT 12.50, due DATETIME DEFAULT '2026-11-23 06:05:00',
                        weight REAL DEFAULT 7\(table == "task" ? ", noteId INTEGER DEFAULT 1" : ""));
                    CREATE TRIGGER \(table)_revision AFTER UPDATE OF text, place\(table == "task" ? ", noteId" : "") ON \(table)
                    BEGIN UPDATE \(table) SET revision = old.revision + 1 WHERE id = new.id; END;
                    INSERT INTO \(table) (id, text, place, revision) VALUES (1, 'one', 'shelf', 0), (2, 'two', 'shelf', 0), (3, 'three', 'shelf', 0);
                    """)
            }
        }
        var configuration = ServerConfiguration(
            cachePath: directory.file("cache.db"), packages: [PackageDeployment(model, backEnds: ["enterprise": path])],
            users: [TestBench.user: TestBench.password])
        configuration.passwordParameters = .init(n: 16)
        configuration.connectionTimeout = .milliseconds(50)
        if usesSegments { configuration.segmentRules.leastRows = 2 }
        self.configuration = configuration
        let opened = try MobileServer(configuration), server = server
        server.withLock { $0 = opened }
        network = SimulatedTransport(server: { request in server.withLock { $0 }!.respond(to: request) }, seed: 1)
    }

    func phone(_ name: String, model: PackageModel? = nil, synchronizes: Bool = true) throws -> Phone {
        try Phone(name, model ?? self.model, directory.file(name), network, clock, synchronizes: synchronizes)
    }

    func run(_ statements: String...) throws {
        try backEnd.write { connection in for statement in statements { _ = try connection.execute(statement) } }
    }

    /// Saves the rows of the back end.
    func backUp() throws { try FileManager.default.copyItem(atPath: directory.file("enterprise.db"), toPath: directory.file("backup.db")) }

    /// Puts the back end back to the rows that were saved, while the server is closed.
    func restore() throws {
        try server.withLock { $0 }?.close()
        let handle = try #require(FileHandle(forWritingAtPath: directory.file("enterprise.db")))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(contentsOf: URL(filePath: directory.file("backup.db"))))
        try handle.close()
        let opened = try MobileServer(configuration)
        server.withLock { $0 = opened }
    }

    /// Copies the database of a phone to another one.
    func copy(_ phone: Phone, to name: String) throws -> Phone {
        try phone.package.closeConnection()
        try FileManager.default.createDirectory(atPath: directory.file(name), withIntermediateDirectories: true)
        try FileManager.default.copyItem(atPath: phone.package.databasePath, toPath: directory.file(name) + "/office.db")
        let copy = try self.phone(name, synchronizes: false)
        try copy.application.register(timeout: .seconds(60))
        return copy
    }

    /// Runs `body` while another application writes to the back end.
    func whileBusy<R>(_ body: () throws -> R) throws -> R {
        try backEnd.write { connection in
            _ = try connection.execute("UPDATE memo SET weight = 8 WHERE id = -1")
            return try body()
        }
    }

    /// The rows of a table in the form of ``Phone/rows(_:)``.
    func rows(_ table: String) throws -> [String] {
        try backEnd.read { try $0.rows("SELECT id || ' ' || text || ' at ' || place FROM \(table)").compactMap { $0[0].text }.sorted() }
    }

    func count(_ table: String) throws -> Int64? { try backEnd.read { try $0.first("SELECT count(*) FROM \(table)")?[0].integer } }

    /// The texts of the note and the memo with this key.
    func texts(_ id: Int64) throws -> [String?] {
        try ["note", "memo"].map { table in try backEnd.read { try $0.first("SELECT text FROM \(table) WHERE id = \(id)")?[0].text } }
    }
}

/// A device.
final class Phone: Sendable {
    let name: String
    let application: Application
    let package: PackageDatabase

    init(_ name: String, _ model: PackageModel, _ directory: String, _ network: SimulatedTransport, _ clock: VirtualClock, synchronizes: Bool) throws
    {
        self.name = name
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        application = try Application(
            identifier: "Office", profile: ConnectionProfile(path: directory + (synchronizes ? "/application.db" : "/other.db")), transport: network,
            retryPolicy: RetryPolicy(initialDelay: .seconds(3600), maximumDelay: .seconds(3600)))
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example", loginCredentials: LoginCredentials(user: TestBench.user, password: TestBench.password))
        package = try PackageDatabase(
            model: model, profile: ConnectionProfile(path: directory + "/office.db"), environment: Environment(now: { clock.date }))
        package.application = application
        guard synchronizes else { return }
        try application.register(timeout: .seconds(60))
        try package.subscribe()
        try package.synchronize()
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

    /// Synchronizes all groups, or one. All operations are sent in any case.
    /// - Returns: the numbers of accepted and rejected operations.
    func synchronize(_ group: String? = nil) throws -> [Int] {
        let result = try package.synchronize(group)
        return [Int(result.operationsAccepted), Int(result.operationsRejected)]
    }

    /// Synchronizes; the server does everything, but the answer does not arrive.
    func loseAnswer(of office: Office) { lose(.cutResponse, office) }
    func loseUpload(of office: Office) { lose(.cutUpload(after: 10), office) }

    private func lose(_ fault: NetworkFault, _ office: Office) {
        office.network.conditions.fault = { _, _ in fault }
        #expect(throws: SyncError.self) { try self.package.synchronize() }
        office.network.conditions.fault = { _, _ in nil }
    }

    func rows(_ object: String) throws -> [String] {
        try package.entity(object).findAll().map { try "\($0.value("id")) \($0.value("text")) at \($0.value("place"))" }.sorted()
    }
}
