import MobileExecution
import MobileStore
import MobileTransport
import TestSupport
import Testing
import WorklightClient

/// Worklight protocol, section 11.
@Suite struct ErrorCodeTests {
    @Test(
        "WL-151 WL-152 WL-153: the code of a response that is no success",
        arguments: [
            (500, "", WLErrorCode.unresponsiveHost), (503, "<html></html>", .unresponsiveHost),
            (500, "{\"errorCode\":\"REQUEST_TIMEOUT\"}", .requestTimeout),
            (500, "{\"a\":1}", .unexpectedError), (500, "{\"errorCode\":\"AUTHENTICATION_REQUIRED\"}", .unresponsiveHost),
            (404, "{\"errorCode\":\"AUTHENTICATION_REQUIRED\"}", .unexpectedError), (409, "{\"errorCode\":\"no such name\"}", .requestTimeout),
            (500, "{\"errorCode\":7}", .unresponsiveHost), (500, "{\"errorCode\":null}", .unexpectedError),
            (404, "", .unexpectedError), (407, "", .unexpectedError), (408, "", .requestTimeout), (409, "", .requestTimeout),
            (410, "", .requestTimeout),
            (429, "", .requestTimeout), (499, "", .requestTimeout), (400, "", .unexpectedError), (302, "", .unexpectedError),
            (201, "{}", .unexpectedError),
            (204, "", .unexpectedError), (403, "{\"errorCode\":\"APP_VERSION_ACCESS_DENIAL\"}", .applicationVersionDenied),
            (403, "{\"errorCode\":\"APP_VERSION_ACCESS_NOTIFY\"}", .applicationVersionNotify),
            (500, "{\"errorCode\":\"PROCEDURE_ERROR\"}", .procedureError),
            (400, "{\"errorCode\":\"UNRESPONSIVE_HOST\"}", .unresponsiveHost), (500, "{\"errorCode\":\"UNEXPECTED_ERROR\"}", .unexpectedError),
        ])
    func mapping(status: Int, body: String, code: WLErrorCode) async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .text(status == 204 ? "" : body, status: status)
        }
        let client = try await server.connectedClient()
        let found = await failure { try await client.invokeProcedure(.total) }
        #expect(found?.errorCode == code)
        #expect(found?.status == String(status))
        #expect(found?.httpStatus == status)
    }

    @Test("WL-155 WLD-27 WLD-28 WLD-32: the text of the answer comes before that of the code; the numbers are those of the document")
    func messages() async throws {
        let server = try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return number == 0 ? .json(["errorCode": "UNRESPONSIVE_HOST", "errorMsg": "the host sleeps"], status: 500) : .text("", status: 500)
        }
        let client = try await server.connectedClient()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorMsg == "the host sleeps")
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorMsg == "The service is currently not available.")
        let documented: [WLErrorCode] = [.unexpectedError, .unresponsiveHost, .requestTimeout, .procedureError, .applicationVersionDenied]
        #expect(documented.map(\.rawValue) == [0, 1, 2, 3, 4])
        let names = ["UNEXPECTED_ERROR", "UNRESPONSIVE_HOST", "REQUEST_TIMEOUT", "PROCEDURE_ERROR", "APP_VERSION_ACCESS_DENIAL"]
        #expect(documented.map(\.wireName) == names)
        for code in WLErrorCode.allCases {
            #expect(WLFailResponse.getErrorMessage(from: code) == code.message)
            #expect(!code.message.isEmpty)
        }
    }

    @Test("WL-156 WLD-33 WLD-34: codes and texts of JSON answers, also without any")
    func json() {
        #expect(WLFailResponse.getWLErrorCode(from: nil) == .unexpectedError)
        #expect(WLFailResponse.getWLErrorCode(from: [:]) == .unexpectedError)
        #expect(WLFailResponse.getWLErrorCode(from: ["errorCode": "REQUEST_TIMEOUT"]) == .requestTimeout)
        #expect(WLFailResponse.getWLErrorCode(from: ["errorCode": 3]) == .unexpectedError)
        #expect(WLFailResponse.getErrorMessage(from: nil as JSONObject?) == WLErrorCode.unexpectedError.message)
        #expect(WLFailResponse.getErrorMessage(from: [:] as JSONObject) == WLErrorCode.unexpectedError.message)
        #expect(WLFailResponse.getErrorMessage(from: ["errorCode": "REQUEST_TIMEOUT"] as JSONObject) == "Request timed out.")
        #expect(WLFailResponse.getErrorMessage(from: ["errorMsg": "m", "errorCode": "REQUEST_TIMEOUT"] as JSONObject) == "m")
    }

    @Test("WL-154: no connection is an unresponsive host, no answer a timeout")
    func transport() async throws {
        let release = Signal()
        let server = try StrictServer { request, _ in
            if request.name == "query" { release.block() }
            throw StrictServer.Unscripted()
        }
        let client = try await server.connectedClient()
        let late = await failure { try await client.invokeProcedure(.total, options: WLProcedureOptions(timeout: .milliseconds(50))) }
        release.fire()
        #expect(late?.errorCode == .requestTimeout)
        #expect(late?.status == "500")
        #expect(late?.httpStatus == nil)
        #expect(late?.responseText == "")
        server.stop()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unresponsiveHost)
        let nowhere = try WLClient(
            WLConfiguration(host: "no-such-host.invalid", applicationID: "Demo", applicationVersion: "1.0"))
        #expect(await failure { try await nowhere.connect() }?.errorCode == .unresponsiveHost)
    }

    @Test(
        "WL-154: failures of TLS and of the protocol",
        arguments: [
            (TransportError.Code.tls, false, WLErrorCode.unresponsiveHost), (.cannotConnect, false, .unresponsiveHost),
            (.timeout, true, .unresponsiveHost),
            (.timeout, false, .requestTimeout), (.interrupted, false, .unexpectedError), (.cancelled, false, .unexpectedError),
            (.responseTooLong, false, .unexpectedError), (.other, false, .unexpectedError),
        ])
    func failures(code: TransportError.Code, isBefore: Bool, expected: WLErrorCode) async throws {
        let client = try WLClient(
            WLConfiguration(host: "h", applicationID: "Demo", applicationVersion: "1.0"), transport: FailingTransport(code: code, isBefore: isBefore))
        #expect(await failure { try await client.connect() }?.errorCode == expected)
    }
}

/// A network on which each request fails in the same way.
private struct FailingTransport: Transport {
    let code: TransportError.Code
    let isBefore: Bool

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        throw isBefore ? TransportError(code, "no", isBeforeConnection: true) : TransportError(code, "no")
    }
}
