import Foundation
import MobileModelCommands
import MobileModel
import MobileObjects
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileServerWorklight
import MobileStore
import MobileSync
import MobileTransport
import MobileVault
import RhoConnectClient
import Testing

@testable import MobileCrypto
@testable import WorklightClient

/// Every public error says what failed, why, and what to do about it.
@Suite struct LocalizedErrorTests {
    /// The public error types: the compiler checks the conformance.
    private static let types: [String: any LocalizedError.Type] = [
        "BackEndFailure": BackEndFailure.self, "CryptoError": CryptoError.self, "DataVaultError": DataVaultError.self,
        "DeploymentUnit.Failure": DeploymentUnit.Failure.self, "E2ETraceUploadError": E2ETraceUploadError.self, "ModelError": ModelError.self,
        "ObjectError": ObjectError.self, "ProtocolError": ProtocolError.self, "RhoConnectAdapterError": RhoConnectAdapterError.self,
        "RhoConnectError": RhoConnectError.self, "ServerError": ServerError.self, "StoreError": StoreError.self, "SyncError": SyncError.self,
        "TransportError": TransportError.self, "WLConfigurationError": WLConfigurationError.self, "WLFailResponse": WLFailResponse.self,
        "WorklightProcedureError": WorklightProcedureError.self,
    ]

    /// Errors of the types whose codes have rows in the article, by the heading of their table. Those of the message service are in `ErrorsArticleTests`.
    private static let makers: [String: @Sendable (String) -> any LocalizedError] = [
        "ServerError.Code": { ServerError(.init(rawValue: $0), "the message") },
        "ProtocolError.Code": { ProtocolError(.init(rawValue: $0), "the message") },
        "TransportError.Code": { TransportError(.init(rawValue: $0), "the message") },
        "CryptoError.Code": { CryptoError(.init(rawValue: $0), "the message") },
        "WLConfigurationError.Code": { WLConfigurationError(.init(rawValue: $0), "the message") },
    ]

    private func expect(_ error: any LocalizedError, says text: String, code: String? = nil, _ location: SourceLocation = #_sourceLocation) {
        let type = String(describing: Swift.type(of: error))
        #expect((error as any Error).localizedDescription.contains(text), "\(type)", sourceLocation: location)
        #expect(
            error.failureReason?.isEmpty == false && error.recoverySuggestion?.hasSuffix(".") == true, "\(type) \(code ?? "")",
            sourceLocation: location)
        if let code {
            let printed = String(reflecting: error)
            let tail = "(\(type) \(code)). \(error.recoverySuggestion ?? "")"
            #expect(printed.contains(text) && printed.hasSuffix(tail), "\(printed)", sourceLocation: location)
        }
    }

    @Test func `every public type of errors is a LocalizedError`() throws {
        let found = try SourceReader.checkout.get().errorTypes
        #expect(found == Set(Self.types.keys), "missing or gone: \(found.symmetricDifference(Self.types.keys).sorted())")
    }

    @Test func `the remedies of errors outside of the message service are those of the article`() throws {
        var checked = 0, maker: (@Sendable (String) -> any LocalizedError)?
        for line in try SourceReader.article("Errors") {
            if line.hasPrefix("#") { maker = line.hasPrefix("### `") ? Self.makers[String(line.dropFirst(5).dropLast())] : nil }
            guard let maker, line.hasPrefix("| `") else { continue }
            let cells = SourceReader.cells(of: line), code = cells[0].replacing("`", with: "")
            let error = maker(code)
            expect(error, says: "the message", code: code)
            #expect(error.recoverySuggestion == cells.last?.replacing("`", with: "").replacing(/<doc:(\w+)>/) { "the article \($0.1)" }, "\(code)")
            checked += 1
        }
        #expect(checked == 39)
    }

    @Test func `numbered codes of the other clients have remedies, those of the article`() throws {
        let remedies = Set(try SourceReader.article("Errors").filter { $0.hasPrefix("| ") }.compactMap { SourceReader.cells(of: $0).last })
        for code in 0...12 {
            let error = RhoConnectError(.init(rawValue: code), "the message")
            expect(error, says: "the message", code: "\(code)")
            #expect(remedies.contains(error.recoverySuggestion ?? ""), "\(code)")
        }
        for code in WLErrorCode.allCases {
            let error = WLFailResponse(code, "the message", cause: TransportError(.timeout, "no answer within 5 s"))
            expect(error, says: "the message", code: code.wireName)
            #expect(error.failureReason == "no answer within 5 s")
            #expect(remedies.contains { $0.replacing("`", with: "") == error.recoverySuggestion }, "\(code)")
        }
    }

    @Test func `a problem of a model brings its own suggestion`() throws {
        let misspelt = #expect(throws: ModelError.self) {
            _ = try PackageModel(
                json: """
                    {"format": 1, "name": "Notes", "objects": [{"name": "Note", "local": true, "primaryKey": ["tetx"],
                      "attributes": [{"name": "text", "type": "string", "length": 10}]}]}
                    """)
        }
        let error = try #require(misspelt)
        #expect(error.localizedDescription.contains("tetx") && error.recoverySuggestion == "did you mean \"text\"?")
        #expect(String(reflecting: error).hasSuffix("(ModelError \(error.code.rawValue)). did you mean \"text\"?"))
        let broken = #expect(throws: ModelError.self) { _ = try PackageModel(json: "{") }
        #expect(broken?.recoverySuggestion?.isEmpty == false)
    }

    @Test func `errors whose text is an application's or a back end's`() throws {
        expect(RhoConnectAdapterError("no stock"), says: "no stock")
        expect(WorklightProcedureError("no stock"), says: "no stock")
        for failure in [
            BackEndFailure.refused("no stock", detail: "CHECK stock"), .busy(), .outOfReach(), .outcomeUnknown(detail: "connection lost"),
        ] {
            expect(failure, says: failure.message)
            #expect(failure.failureReason == (failure.detail.isEmpty ? failure.message : failure.detail))
        }
        let unit = #expect(throws: DeploymentUnit.Failure.self) { _ = try DeploymentUnit(Data("no unit".utf8), file: "unit.xml") }
        expect(try #require(unit), says: "unit.xml")
    }
}
