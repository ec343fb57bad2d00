import Foundation
import MobileExecution
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing
import WorklightClient

@testable import mobile

/// `mobile admin worklight` on the state of a face that serves in another process.
@Suite struct WorklightAdminTests {
    @Test(arguments: PostgreSQLInstallation.runsTests ? [false, true] : [false])
    func `a version is disabled, gets a message and works again, while the server runs`(isPostgreSQL: Bool) async throws {
        let serving = try WorklightServing(isPostgreSQL: isPostgreSQL)
        try serving.server.start()
        func admin(_ arguments: String...) throws -> String {
            let result = try Tool.run(["admin"] + serving.state + ["worklight"] + arguments)
            #expect(result.status == 0, "\(result.output)")
            return result.output
        }
        let call = WLProcedureInvocationData(adapter: "Shop", procedure: "add", parameters: [20, 22])
        let client = try serving.client()
        try await client.connect()
        try await client.invokeProcedure(call)

        #expect(try admin("version", "Demo", "iOSnative", "1.0", "disable", "Please \u{1B}upgrade", "https://example.com") == "")
        let failure = await #expect(throws: WLFailResponse.self) { try await client.invokeProcedure(call) }
        #expect(failure?.errorCode == .applicationVersionDenied)
        let listed = try admin("versions")
        #expect(listed.contains("disable") && listed.contains("https://example.com") && !listed.contains("\u{1B}"), "\(listed)")
        // The decision about a version precedes that about all.
        #expect(try admin("version", "Demo", "iOSnative", "--all", "disable", "Closed") == "")
        #expect(try admin("version", "Demo", "iOSnative", "1.0", "active") == "")
        try await client.invokeProcedure(call)
        #expect(try admin("version", "Demo", "iOSnative", "1.0", "notify", "17", "Closed on Sunday") == "")
        let messages = RecordedLines()
        var configuration = serving.configuration()
        configuration.showMessage = { message, dismissed in
            messages.add(message)
            dismissed()
        }
        let told = try WLClient(configuration)
        try await told.connect()
        #expect(messages.all == ["Closed on Sunday"])

        client.logActivity("opened")
        #expect(try eventually { try admin("activities").contains("opened") })
        #expect(try admin("log") == "")
        serving.server.stop(SIGTERM)
    }

    @Test func `certificates of a device are withdrawn and readmitted, and lists are JSON for scripts`() throws {
        let serving = try WorklightServing()
        try serving.server.start()
        func admin(_ arguments: String...) throws -> (status: Int32, output: String) {
            try Tool.run(["admin"] + serving.state + ["worklight"] + arguments)
        }
        for entity in ["app:Demo", "device", "group:shop"] { #expect(try admin("withdraw", entity, "D-1") == (0, "")) }
        #expect(try admin("readmit", "device", "D-1") == (0, ""))
        let list = try JSONValue(parsing: admin("withdrawn", "--json").output).array ?? []
        #expect(list.map { $0["entity"] } == ["app:Demo", "device", "group:shop"])
        #expect(list.map { $0["isReadmitted"] } == [.boolean(false), .boolean(true), .boolean(false)])
        #expect(list.allSatisfy { $0["device"] == "D-1" && $0["withdrawn"]?.string?.hasSuffix("Z") == true })
        for (number, list) in ["versions", "activities", "log"].enumerated() { #expect(try admin(list, "--json") == (0, "[]\n"), "\(number)") }

        let unknown = try admin("readmit", "device", "D-2")
        #expect(unknown.status == 1 && unknown.output.contains("D-2"))
        for wrong in [
            [], ["nothing"], ["withdraw", "device"], ["withdraw", "app:", "D-1"], ["withdraw", "devices", "D-1"], ["withdraw", "device:x", "D-1"],
            ["version", "Demo", "iOSnative", "1.0"], ["version", "Demo", "iOSnative", "1.0", "notify", "17"], ["version", "Demo", "iOSnative", "", "active"],
            ["version", "Demo", "iOSnative", "1.0", "active", "now"], ["log", "D-1", "D-2"],
        ] {
            let refused = try Tool.run(["admin"] + serving.state + ["worklight"] + wrong)
            #expect(refused.status == 64 && refused.output.hasPrefix("admin: "), "\(wrong)")
        }
        let missing = serving.folder.file("missing.db")
        #expect(try Tool.run(["admin", "--cache", missing, "worklight", "versions"]).status == 1)
        #expect(!FileManager.default.fileExists(atPath: missing))
        serving.server.stop(SIGTERM)
    }
}
