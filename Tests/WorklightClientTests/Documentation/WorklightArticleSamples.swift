import Foundation
import MobileStore
import MobileVault
import WorklightCertificates
import WorklightClient

/// The code of the articles of WorklightClient and WorklightCertificates, to be compiled: see `ArticleSampleTests`.
private enum WorklightArticleSamples {
    func overview() async throws -> WLResponse {
        let store = try Database(ConnectionProfile(path: "worklight.db"))
        let client = try WLClient(WLConfiguration(plist: "worklight.plist"), store: store)
        try await client.connect()
        let account = WLProcedureInvocationData(adapter: "demoAdapter", procedure: "getDemoAccount", parameters: ["123-456-789", "california"])
        let response = try await client.invokeProcedure(account)
        return response
    }

    func certificates(password: String, folder: String, store: Database) throws -> WLClient {
        let vault = try DataVault.createVault("certificates", password: password, in: VaultDirectory(folder))
        var configuration = try WLConfiguration(plist: "worklight.plist")
        configuration.deviceKeys = DeviceCertificates(in: vault)
        let client = try WLClient(configuration, store: store)
        return client
    }

    private final class MyInvokeProcedureDelegate: WLDelegate {
        func onSuccess(_ response: WLResponse) {}
        func onFailure(_ response: WLFailResponse) {}
    }

    private func delegates() {
        final class MyConnectDelegate: WLDelegate {
            func onSuccess(_ response: WLResponse) {
                let data = WLProcedureInvocationData(
                    adapter: "demoAdapter", procedure: "getDemoAccount", parameters: ["123-456-789", "california"])
                WLClient.shared.invokeProcedure(data, delegate: MyInvokeProcedureDelegate())
            }

            func onFailure(_ response: WLFailResponse) { print("\(response.errorCode): \(response.errorMsg)") }
        }

        WLClient.shared.connect(delegate: MyConnectDelegate())
    }

    private func decoding(_ client: WLClient, _ data: WLProcedureInvocationData) async throws -> Double {
        struct Account: Decodable { let number: String, balance: Double }

        try await client.connect()
        let account = try await client.invokeProcedure(data, as: Account.self, member: "account")
        return account.balance
    }

    private func challenges(_ client: WLClient, _ data: WLProcedureInvocationData) async throws {
        final class FormChallengeHandler: ChallengeHandler, @unchecked Sendable {
            override func isCustomResponse(_ response: WLResponse) -> Bool { response.responseText.contains("j_security_check") }

            override func handleChallenge(_ response: WLResponse) {
                submitLoginForm("j_security_check", parameters: ["j_username": "ada", "j_password": "secret"], timeout: .seconds(30))
            }

            override func onSuccess(_ response: WLResponse) {
                if isCustomResponse(response) { submitFailure(response) } else { submitSuccess(response) }
            }

            override func onFailure(_ response: WLFailResponse) { submitFailure(response) }
        }

        client.registerChallengeHandler(FormChallengeHandler(realm: "myCustomRealm"))
        try await client.invokeProcedure(data)
    }

    private func remoteHandler(_ client: WLClient) {
        final class CustomRemoteHandler: WLChallengeHandler, @unchecked Sendable {
            override func handleChallenge(_ challenge: JSONObject) {
                setMessageId(challenge["messageId"]?.string ?? "")
                submitAnswer()
            }

            override func handleFailure(_ failure: JSONObject) { print(failure["message"]?.string ?? "", failure["downloadLink"]?.string ?? "") }
        }

        client.registerChallengeHandler(CustomRemoteHandler(realm: "wl_remoteDisableRealm"))
    }

    private func offline(
        _ client: WLClient, _ data: WLProcedureInvocationData, _ order: WLProcedureInvocationData, _ delegate: any WLDelegate
    ) async throws -> WLResponse {
        let quotes = try await client.invokeProcedure(data, options: WLProcedureOptions(cache: .ifUnreachable(maximumAge: .seconds(86_400))))
        client.invokeProcedure(order, delegate: delegate, options: WLProcedureOptions(replay: .ifNotSent))
        return quotes
    }
}
