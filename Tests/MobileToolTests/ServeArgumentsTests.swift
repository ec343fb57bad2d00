import Foundation
import MobileModel
import MobileObjects
import MobileServer
import SampleCRM
import TestSupport
import Testing

@testable import mobile

/// The arguments of `mobile serve` that become settings of the server.
@Suite struct ServeArgumentsTests {
    @Test("the tokens of operators come from a file, one in each line; a file that cannot be read is an error")
    func operatorTokens() throws {
        let folder = try TemporaryDirectory(), model = folder.file("crm.mbo.json")
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try "0123456789abcdef\r\nfedcba9876543210\n\n".write(toFile: folder.file("tokens"), atomically: true, encoding: .utf8)
        func configuration(_ more: [String]) throws -> ServerConfiguration {
            try ServeArguments(["--model", model, "--cache", folder.file("cache.db")] + more).configuration()
        }
        #expect(try configuration([]).operatorTokens.isEmpty)
        #expect(try configuration(["--operator-tokens", folder.file("tokens")]).operatorTokens == ["0123456789abcdef", "fedcba9876543210"])
        #expect(throws: CommandFailure.self) { _ = try configuration(["--operator-tokens", folder.file("none")]) }
    }

    @Test("a back end that no model has is refused, with the name that the model has")
    func unknownBackEnd() throws {
        let folder = try TemporaryDirectory(), model = folder.file("crm.mbo.json")
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        let arguments = ["serve", "--model", model, "--cache", folder.file("cache.db"), "--backend", "office=" + folder.file("office.db")]
        let (status, output) = try Tool.run(arguments)
        let message = "--backend names \"office\", which no model has; the models have \"enterprise\": write --backend enterprise=FILE"
        #expect(status == 1 && output.contains(message), "\(output)")
    }

    @Test("a server without a user says so on its error stream, and one with a user does not")
    func noUsers() throws {
        let folder = try TemporaryDirectory(), model = folder.file("crm.mbo.json"), backEnd = folder.file("enterprise.db")
        try CRM.metadata.model.json.write(toFile: model, atomically: true, encoding: .utf8)
        try SampleBackEnd.create(at: backEnd, scale: 0.0001)
        func log(_ more: [String]) throws -> String {
            let arguments = ["--model", model, "--cache", folder.file("cache.db"), "--backend", "enterprise=" + backEnd] + more
            let server = try ServerProcess(arguments: arguments, log: folder.file("server.log"), executable: Tool.executable)
            try server.start()
            server.kill()
            return try String(contentsOfFile: folder.file("server.log"), encoding: .utf8)
        }
        let first = try log([])
        #expect(first.contains("there are no users yet, so no device can register: add --user NAME"), "\(first)")
        #expect(try !log(["--user", "sales", "--password-fd", "0"]).contains("no users"))
    }
}
