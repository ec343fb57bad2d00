import Foundation
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// A package that does not fit its back end is not served, and the error names the missing part.
@Suite struct DeploymentTests {
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// The SQL that changes the back end before deployment.
        let change: String
        let code: ServerError.Code
        let message: String
    }

    static let wrong = [
        Wrong(
            testDescription: "no table", change: "DROP TABLE \"order line\"", code: .missingTable,
            message: "object \"Line\": the back end \"enterprise\""),
        Wrong(
            testDescription: "no column in the table", change: "ALTER TABLE \"order line\" RENAME COLUMN product TO article", code: .missingColumn,
            message: "object \"Line\", attribute \"product\": the table \"order line\" has no column \"product\""),
        Wrong(
            testDescription: "no column in the load", change: "ALTER TABLE \"the customers\" DROP COLUMN rate", code: .missingColumn,
            message: "object \"Customer\", attribute \"rate\": the load has no column \"rate\""),
        Wrong(
            testDescription: "a load that cannot be run", change: "ALTER TABLE \"the customers\" RENAME COLUMN region TO area", code: .statement,
            message: "load of \"Customer\""),
    ]

    @Test("ARC-09: what a binding names must be in the back end", arguments: wrong)
    func missing(_ wrong: Wrong) throws {
        let error = #expect(throws: ServerError.self) {
            _ = try TestServer(model: FieldSales.model, tables: FieldSales.tables + wrong.change)
        }
        #expect(error?.code == wrong.code)
        #expect(error?.message.contains(wrong.message) == true, "\(error?.message ?? "")")
    }

    @Test func `a back end that is not there is named with its file`() throws {
        let folder = try TemporaryDirectory()
        let error = #expect(throws: ServerError.self) { _ = try TestServer(model: FieldSales.model, folder: folder) }
        #expect(error?.code == .missingBackEnd)
        #expect(error?.message == "back end \"enterprise\": there is no file \(folder.file("enterprise.db"))")
        #expect(!FileManager.default.fileExists(atPath: folder.file("enterprise.db")))
    }

    @Test(.stateInFile) func `a cache of another release is refused`() throws {
        let folder = try TemporaryDirectory()
        let other = try Database(ConnectionProfile(path: folder.file("cache.db")))
        try other.write { _ = try $0.execute("CREATE TABLE something (x)") }
        try other.close()
        let error = #expect(throws: ServerError.self) {
            _ = try TestServer(model: FieldSales.model, tables: FieldSales.tables, folder: folder)
        }
        #expect(error?.code == .cache)
    }

    @Test func `the journal mode of a back end is left alone`() throws {
        for mode in ["delete", "wal"] {
            let server = try TestServer(model: FieldSales.model, tables: FieldSales.tables)
            try server.server.close()
            let database = try Database(ConnectionProfile(path: server.backEndPath, journal: mode == "wal" ? .wal : .unchanged))
            try database.close()
            try server.restartClosed()
            let device = try TestDevice.inRegion("NORTH", of: server)
            try device.synchronize([device.create("Customer", ["name": "New", "region": "NORTH", "credit": 1, "active": true])])
            #expect(device.rows["Customer"]?.count == 3)
            #expect(try server.backEndValue("PRAGMA journal_mode") == .text(mode))
        }
    }

    @Test func `a load that gives each key twice holds back its rows, and the log names them`() throws {
        let model = try PackageModel(
            json: FieldSales.json.replacing(
                "WHERE region = :region -- by region", with: "UNION ALL SELECT * FROM \\\"the customers\\\" WHERE region = :region"))
        let lines = Lines()
        let server = try TestServer(model: model, tables: FieldSales.tables) { $0.log = { lines.append($0) } }
        let device = try TestDevice(server)
        device.subscriptions = ["Customer": [["region": "NORTH"]]]
        let result = try device.synchronize()
        #expect(result.status == 200 && result.upserts["Customer"] == 1)
        let noted = lines.all.filter { $0.contains("expected a key that no other row has") && $0.contains("load of \"Customer\"") }
        #expect(noted.count == 2)
        #expect(try device.synchronize(groups: ["lines"]).upserts == ["Line": 3], "other objects are served")
    }

    @Test(.stateInFile, .backEndInFile) func `a model with other attributes starts the package's cache anew`() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let changed = try PackageModel(json: FieldSales.json.replacing("{\"name\": \"rate\", \"type\": \"double\", \"nullable\": true}, ", with: ""))
        try server.server.close()
        let second = try TestServer(model: changed, folder: server.folder)
        let response = try device.upload(groups: ["lines"])
        let answer = second.server.respond(
            to: .init(method: "POST", path: "/mobile/v1/synchronize", headers: ["authorization": "Bearer \(device.token)"], body: .init(response)))
        #expect(answer.status == 200)
        try second.server.close()
    }
}

/// Lines of a log.
final class Lines: @unchecked Sendable {  // its lock guards it
    private let lock = NSLock()
    private var lines: [String] = []
    func append(_ line: String) { lock.withLock { lines.append(line) } }
    var all: [String] { lock.withLock { lines } }
}
