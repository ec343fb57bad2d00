import Foundation
import Testing

/// The command line knows no password.
@Suite struct AccountCommandTests {
    @Test("a password on the command line is refused, and not repeated")
    func commandLine() throws {
        let result = try Tool.run(["serve", "--model", "x", "--cache", "x.db", "--user", "ada:secret"])
        #expect(result.status == 64 && result.output.contains("without a colon") && !result.output.contains("secret"))
        #expect(!FileManager.default.fileExists(atPath: "x.db"))
    }
}
