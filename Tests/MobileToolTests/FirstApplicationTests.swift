import Foundation
import MobileModel
import MobileServer
import MobileStore
import TestSupport
import Testing

@testable import mobile

/// The article *Your first application* and its files in `Samples`.
@Suite struct FirstApplicationTests {
    private func text(_ path: String) throws -> String { try String(contentsOf: Repository.file(path), encoding: .utf8) }

    private func article() throws -> String { try text("Sources/MobileSync/MobileSync.docc/FirstApplication.md") }

    /// Makes the database of the sample, as `sqlite3` does.
    private func makeDatabase(at path: String) throws {
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        let script = try text("Sources/Samples/records.sql").split(separator: "\n").filter {
            !["BEGIN;", "COMMIT;", "PRAGMA foreign_keys = ON;"].contains($0)
        }
        try database.write { _ = try $0.execute(script.joined(separator: "\n")) }
        try database.close()
    }

    @Test func `the article shows the files of the sample, and the model is what the tool makes of the database`() throws {
        let article = try article()
        for file in ["Package.swift", "Sources/Shop/Shop.swift"] {
            let code = try text("Sources/Samples/FirstApplication/" + file).trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(article.contains("```swift\n\(code)\n```"), "\(file)")
        }
        let folder = try TemporaryDirectory()
        try makeDatabase(at: folder.file("records.db"))
        let (status, output) = try Tool.run(
            ["model", "--from", folder.file("records.db"), "--name", "Records", "--output", folder.file("records.mbo.json")])
        #expect(status == 0 && output.contains("7 objects, 12 relationships") && article.contains("7 objects, 12 relationships"))
        let made = try String(contentsOfFile: folder.file("records.mbo.json"), encoding: .utf8)
        #expect(try made == text("Sources/Samples/FirstApplication/Sources/Shop/records.mbo.json"))
    }

    /// The command of the README.
    @Test func `the demonstration goes through the sample, with a rule of the model and with a refusal of the database`() throws {
        let folder = try TemporaryDirectory(), model = Repository.file("Sources/Samples/FirstApplication/Sources/Shop/records.mbo.json").path
        try makeDatabase(at: folder.file("records.db"))
        let (status, output) = try Tool.run(["demo", "--model", model, "--backend", folder.file("records.db")])
        #expect(status == 0, "\(output)")
        #expect(output.contains("refused at once: Album.price: -1 is not allowed: at least 0.01"))
        #expect(output.contains("a constraint was found: Customer.email = "), "\(output)")
        #expect(output.contains("checked: 1 rejected") && output.contains("checked: both devices have the same"))
    }

    @Test func `the application of the article prints what the article says, and runs again`() throws {
        let folder = try TemporaryDirectory(), model = Repository.file("Sources/Samples/FirstApplication/Sources/Shop/records.mbo.json").path
        try makeDatabase(at: folder.file("records.db"))
        let server = try ServerProcess(
            arguments: [
                "--model", model, "--cache", folder.file("server.db"), "--backend", "enterprise=\(folder.file("records.db"))", "--user", "sales",
                "--password-fd", "0",
            ], log: folder.file("server.log"), executable: Tool.executable)
        try server.start()
        defer { server.kill() }
        let article = try article()
        for isFirst in [true, false] {
            let application = ChildProcess(), output = Pipe()
            application.executableURL = Program.built("Shop")
            application.currentDirectoryURL = URL(fileURLWithPath: folder.path)
            application.arguments = [String(server.port)]
            application.standardOutput = output
            try application.run()
            let printed = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            application.waitUntilExit()
            #expect(application.terminationStatus == 0)
            #expect(article.contains("```\n\(printed)```"), "\(isFirst ? "first" : "second") run: \(printed)")
        }
        let back = try Database(ConnectionProfile(path: folder.file("records.db"), journal: .unchanged))
        defer { try? back.close() }
        #expect(try back.read { try $0.first("SELECT email FROM customers WHERE customer_id = 1") } == ["aoife@example.com"])
    }
}
