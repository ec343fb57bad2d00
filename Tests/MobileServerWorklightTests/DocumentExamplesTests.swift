import MobileServer
import MobileServerWorklight
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// The examples of the Worklight 5.0.6 document, as the tutorial shows them.
@Suite struct DocumentExamplesTests {
    private final class MyInvokeProcedureDelegate: WLDelegate {
        let lines = RecordedLines()
        let done = Signal()

        func onSuccess(_ response: WLResponse) {
            lines.add("Response status is \(response.status)")
            lines.add(
                "success: \(response.invocationResult?.isSuccessful ?? false), data: \(JSONValue.object(response.invocationResult?.response ?? [:]))")
            done.fire()
        }

        func onFailure(_ response: WLFailResponse) {
            lines.add("Response status is \(response.status). Error code \(response.errorCode) (\(response.errorMsg)).")
            done.fire()
        }
    }

    private final class MyConnectDelegate: WLDelegate {
        let invocation = MyInvokeProcedureDelegate()

        func onSuccess(_ response: WLResponse) {
            let data = WLProcedureInvocationData(
                adapter: "demoAdapter", procedure: "getDemoAccount", parameters: ["123-456-789", "california"])
            WLClient.shared.invokeProcedure(data, delegate: invocation)
        }

        func onFailure(_ response: WLFailResponse) { invocation.onFailure(response) }
    }

    private func liveFace() throws -> LiveFace {
        try LiveFace(
            Face { configuration in
                let account = WorklightProcedure { invocation in
                    ["account": ["number": invocation.parameters[0], "state": invocation.parameters[1], "balance": .number("12.5")]]
                }
                var guarded = account
                guarded.realm = "form"
                configuration.adapters.append(
                    WorklightAdapter("demoAdapter", procedures: ["getDemoAccount": account, "getGuardedAccount": guarded]))
            })
    }

    @Test("WLD-01: example 1, a procedure without authentication, over the shared client")
    func example1() async throws {
        let live = try liveFace()
        WLClient.setShared(try WLClient(live.configuration()))
        defer { WLClient.setShared(nil) }
        let delegate = MyConnectDelegate()
        WLClient.shared.connect(delegate: delegate)
        await delegate.invocation.done.happened()
        #expect(
            delegate.invocation.lines.all == [
                "Response status is 200",
                "success: true, data: {\"account\":{\"number\":\"123-456-789\",\"state\":\"california\",\"balance\":12.5},\"isSuccessful\":true}",
            ])
        #expect(OCLogger.getInstance(package: "p") === OCLogger.getInstance(package: "p"))
    }

    private final class FormChallengeHandler: ChallengeHandler, @unchecked Sendable {
        override func isCustomResponse(_ response: WLResponse) -> Bool { response.responseText.contains("j_security_check") }

        override func handleChallenge(_ response: WLResponse) {
            submitLoginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "right"], timeout: .seconds(30))
        }

        override func onSuccess(_ response: WLResponse) {
            if isCustomResponse(response) { submitFailure(response) } else { submitSuccess(response) }
        }

        override func onFailure(_ response: WLFailResponse) { submitFailure(response) }
    }

    private struct Account: Decodable, Equatable {
        let number: String
        let balance: Double
    }

    @Test("WLD-02 WLD-15: example 2, a procedure with authentication, with a result of the application's own type")
    func example2() async throws {
        let live = try liveFace()
        let client = try WLClient(live.configuration())
        client.registerChallengeHandler(FormChallengeHandler(realm: "myCustomRealm"))
        try await client.connect()
        let data = WLProcedureInvocationData(adapter: "demoAdapter", procedure: "getGuardedAccount", parameters: ["123-456-789", "california"])
        #expect(try await client.invokeProcedure(data, as: Account.self, member: "account") == Account(number: "123-456-789", balance: 12.5))
    }

    private final class CustomRemoteHandler: WLChallengeHandler, @unchecked Sendable {
        let lines = RecordedLines()

        override func handleChallenge(_ challenge: JSONObject) {
            lines.add(challenge["message"]?.string ?? "")
            setMessageId(challenge["messageId"]?.string ?? "")
            submitAnswer()
        }

        override func handleFailure(_ failure: JSONObject) {
            lines.add("\(failure["message"]?.string ?? "") \(failure["downloadLink"]?.string ?? "")")
        }
    }

    @Test("WLD-16: example, customizing remote disable and notify")
    func remoteDisable() async throws {
        let live = try liveFace()
        let administration = live.face.server.administration
        try administration.set(.notify(message: "Maintenance", id: "17"), application: "Demo", environment: "iOSnative", version: "1.0")
        let client = try WLClient(live.configuration())
        let handler = CustomRemoteHandler(realm: "wl_remoteDisableRealm")
        client.registerChallengeHandler(handler)
        try await client.connect()
        try administration.set(
            .disabled(message: "Please upgrade", link: "https://example.org"), application: "Demo", environment: "iOSnative", version: "1.0")
        do {
            try await client.invokeProcedure(WLProcedureInvocationData(adapter: "Stock", procedure: "echo"))
            Issue.record("a disabled version works")
        } catch let failure as WLFailResponse { #expect(failure.errorCode == .applicationVersionDenied) }
        #expect(handler.lines.all == ["Maintenance", "Please upgrade https://example.org"])
    }
}
