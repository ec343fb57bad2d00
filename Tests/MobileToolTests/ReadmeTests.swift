import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// Runs the code of README.md, which is the code below.
@Suite struct ReadmeTests {
    @Test func `the sample of the README runs against a server on a device that has never synchronized`() async throws {
        let folder = try TemporaryDirectory()
        let server = try startServer(folder)
        defer { server.kill() }
        let application = try Application(identifier: "readme", profile: ConnectionProfile(path: folder.file("application.db")))
        var properties = ConnectionProperties()
        (properties.serverName, properties.portNumber) = ("127.0.0.1", server.port)
        properties.loginCredentials = LoginCredentials(user: "sales", password: ServerProcess.password)
        application.connectionProperties = properties
        try await application.register(timeout: .seconds(60))
        let path = folder.file("crm.db")
        try await prepare(path, application)

        try await sample(path, application)

        let crm = try await CRM.open(ConnectionProfile(path: path))
        let customer = try #require(try await Customer.findByName(name: "Harbour Foods", in: crm))
        #expect(customer.id_ ?? 0 > 0)
        #expect(!customer.isPending)
        try await crm.closeConnection()
        try await application.close()
    }

    @Test func `the sample of the README creates and submits without a server, and everything is there when one comes`() async throws {
        let folder = try TemporaryDirectory()
        let application = try Application(identifier: "readme", profile: ConnectionProfile(path: folder.file("application.db")))
        let path = folder.file("crm.db")
        await #expect(throws: SyncError.self) { try await sample(path, application) }
        let crm = try await CRM.open(ConnectionProfile(path: path))
        let customer = try #require(try await Customer.findByName(name: "Harbour Foods", in: crm))
        #expect(customer.state == .submitted && customer.surrogateKey > 0)
        try await crm.closeConnection()
        try await application.close()
    }

    /// Does the step that the README leaves to the reader: the subscription.
    private func prepare(_ path: String, _ application: Application) async throws {
        let crm = try await CRM.open(ConnectionProfile(path: path))
        crm.application = application
        try await crm.subscribe()
        try await crm.closeConnection()
    }

    private func sample(_ path: String, _ application: Application) async throws {
        // README begin
        let crm = try await CRM.open(ConnectionProfile(path: path))
        crm.application = application  // registered and subscribed, see the documentation of MobileSync
        let customer = Customer(in: crm)
        customer.name = "Harbour Foods"
        customer.since = LocalDate(.now)
        try await customer.save()  // row, original state and pending mark in one transaction; works offline
        try await customer.submitPending()
        try await crm.synchronize()  // replayed through the back end's own rules
        try await customer.refresh()
        if customer.state == .failed { print(try await customer.logRecords()) }  // a rejection is a result, not an exception
        // README end
        try await crm.closeConnection()
    }

    @Test func `the README shows the code that runs here`() throws {
        let source = try String(contentsOf: URL(fileURLWithPath: #filePath), encoding: .utf8)
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false)
        let begin = try #require(lines.firstIndex { $0.hasSuffix("// README begin") }),
            end = try #require(lines.firstIndex { $0.hasSuffix("// README end") })
        let code = lines[(begin + 1)..<end].map { $0.dropFirst(8) }.joined(separator: "\n")
        #expect(try String(contentsOf: Repository.file("README.md"), encoding: .utf8).contains("```swift\n\(code)\n```"))
    }

    private func startServer(_ folder: TemporaryDirectory) throws -> ServerProcess {
        let backEnd = folder.file("enterprise.db"), model = folder.file("crm.mbo.json")
        try SampleBackEnd.create(at: backEnd, scale: 0.01)
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        let server = try ServerProcess(
            arguments: [
                "--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=\(backEnd)", "--user", "sales",
                "--password-fd", "0",
            ], log: folder.file("server.log"), executable: Tool.executable)
        try server.start()
        return server
    }
}
