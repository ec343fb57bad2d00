import Foundation
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import TestSupport
import Testing

/// Runs the code of the article Testing, which is the code between the marks below.
@Suite struct TestingArticleTests {
    // Testing: model
    static let model = Result {
        try PackageModel(
            json: """
                {"format": 1, "name": "Tasks", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Task", "primaryKey": ["id"], "operations": ["create", "update", "delete"],
                    "attributes": [{"name": "id", "type": "long"}, {"name": "title", "type": "string"}, {"name": "done", "type": "boolean"}],
                    "binding": {"backEnd": "enterprise", "table": "task"}}]}
                """)
    }
    // Testing: end

    // Testing: server
    /// A server with its back end in a folder, on a free port of this machine.
    final class Ground {
        let folder: String
        let backEnd: Database
        private let server: MobileServer
        private let http: HTTPServer

        init(folder: String) throws {
            self.folder = folder
            backEnd = try Database(ConnectionProfile(path: folder + "/enterprise.db"))
            try backEnd.write { connection in
                try connection.execute("CREATE TABLE task (id INTEGER PRIMARY KEY, title TEXT NOT NULL CHECK (title <> ''), done INTEGER NOT NULL)")
                try connection.execute("INSERT INTO task VALUES (1, 'Visit Harbour Foods', 0)")
            }
            let package = PackageDeployment(try TestingArticleTests.model.get(), backEnds: ["enterprise": folder + "/enterprise.db"])
            server = try MobileServer(
                ServerConfiguration(cachePath: folder + "/server.db", packages: [package], users: ["sam": "correct horse"]))
            http = try HTTPServer(serving: server)
        }

        /// Registers a device, whose databases are in memory.
        func device() throws -> PackageDatabase {
            let application = try Application(identifier: "tasks", profile: .inMemory())
            application.connectionProperties = ConnectionProperties(
                serverName: "127.0.0.1", portNumber: Int(http.port), loginCredentials: LoginCredentials(user: "sam", password: "correct horse"))
            try application.register(timeout: .seconds(30))
            let tasks = try PackageDatabase(model: try TestingArticleTests.model.get(), profile: .inMemory())
            tasks.application = application
            try tasks.subscribe()
            try tasks.synchronize()
            return tasks
        }

        func stop() throws {
            http.stop()
            try server.close()
            try backEnd.close()
        }
    }
    // Testing: end

    @Test func `the recipe works as the article says`() throws {
        let directory = try TemporaryDirectory()

        // Testing: test
        let ground = try Ground(folder: directory.path)
        let office = try ground.device(), field = try ground.device()

        // Offline: the change waits on its device.
        let task = try field.entity("Task").load(try field.entity("Task").findAll()[0].surrogateKey)
        try task.setValue(true, "done")
        try task.save()
        try task.submitPending()
        #expect(task.state == .submitted)
        #expect(try ground.backEnd.read { try $0.first("SELECT done FROM task")?[0] } == 0)

        // Online: the back end has it, and then the other device.
        try field.synchronize()
        #expect(try ground.backEnd.read { try $0.first("SELECT done FROM task")?[0] } == 1)
        try office.synchronize()
        #expect(try office.entity("Task").findAll()[0].value("done") == true)

        // A change that the back end refuses.
        try office.entity("Task").update { try $0.setValue("", "title") }
        try office.entity("Task").submit(Query())
        let result = try office.synchronize()
        #expect(result.operationsRejected == 1)
        #expect(try office.logRecords().contains { $0.message.contains("title") })
        // Testing: end
        for package in [office, field] {
            try package.application?.stopConnection(timeout: .seconds(10))
            try package.application?.close()
            try package.close()
        }
        try ground.stop()
    }

    @Test func `a preview needs no server`() throws {
        let model = try Self.model.get()
        // Testing: preview
        let tasks = try PackageDatabase(model: model, profile: .inMemory())
        let task = try GenericEntity("Task", in: tasks)
        try task.setValue("Visit Harbour Foods", "title")
        try task.create()
        // Testing: end
        #expect(try tasks.entity("Task").findAll().count == 1)
        try tasks.close()
    }

    @Test func `the article shows the code that runs here, part by part`() throws {
        let article = try String(contentsOf: Repository.file("Sources/MobileSync/MobileSync.docc/Testing.md"), encoding: .utf8)
        var part: [String]?
        var parts = 0
        for line in try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        {
            let mark = line.drop { $0 == " " }
            if mark.hasPrefix("// Testing: end"), let code = part {
                let indent = code.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                let text = code.map { String($0.dropFirst(indent)) }.joined(separator: "\n")
                #expect(article.contains("```swift\n\(text)\n```"))
                part = nil
                parts += 1
            } else if mark.hasPrefix("// Testing: ") {
                part = []
            } else {
                part?.append(String(line))
            }
        }
        #expect(parts == 4)
    }
}
