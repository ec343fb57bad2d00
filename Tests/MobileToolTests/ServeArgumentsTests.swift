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
}
