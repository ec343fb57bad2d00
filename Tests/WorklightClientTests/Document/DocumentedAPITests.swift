import MobileExecution
import MobileStore
import TestSupport
import Testing
import WorklightClient

/// Worklight 5.0.6, the document of the Objective-C API: calls with delegates, and each code. Further members have their tests next to the rule of the protocol
/// that they follow; the ids of the checklist name them.
@Suite struct DocumentedAPITests {
    private func server(_ reply: @escaping @Sendable (Int) throws -> Reply) throws -> StrictServer {
        try StrictServer { request, number in
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return try reply(number)
        }
    }

    /// Keeps the response of a delegate.
    private final class ResponseDelegate: WLDelegate {
        let calls = RecordedLines()
        private let kept = SystemLock<WLResponse?>(nil)
        private let first = Signal()
        var response: WLResponse? { kept.withLock { $0 } }

        func onSuccess(_ response: WLResponse) { end("onSuccess", response) }
        func onFailure(_ response: WLFailResponse) { end("onFailure", response) }
        func called() async { await first.happened() }

        private func end(_ name: String, _ response: WLResponse) {
            calls.add(name)
            kept.withLock { $0 = response }
            first.fire()
        }
    }

    @Test("WLD-03 WLD-05 WLD-21: connect and invokeProcedure report to their delegates, once")
    func delegates() async throws {
        let server = try server { $0 == 0 ? .success : .json(["isSuccessful": false, "errors": ["out of stock"]]) }
        let client = try server.client()
        // Before the connect: nothing is sent.
        let early = ResponseDelegate(), connected = ResponseDelegate(), first = ResponseDelegate(), second = ResponseDelegate()
        client.invokeProcedure(.total, delegate: early)
        await early.called()
        #expect(early.calls.all == ["onFailure"])
        #expect(server.requests.isEmpty)
        client.connect(delegate: connected)
        await connected.called()
        #expect(connected.response?.status == "200")
        client.invokeProcedure(.total, delegate: first)
        await first.called()
        #expect(first.response?.invocationResult?.response["total"] == 3)
        client.invokeProcedure(.total, delegate: second)
        await second.called()
        // A delegate may be absent.
        client.invokeProcedure(.total, delegate: nil)
        try await client.connect()
        #expect(connected.calls.all + first.calls.all + second.calls.all == ["onSuccess", "onSuccess", "onFailure"])
        let refused = try StrictServer { _, _ in .text("", status: 503) }
        let other = try refused.client(), failed = ResponseDelegate()
        other.connect(delegate: failed)
        await failed.called()
        #expect(failed.calls.all == ["onFailure"])
        #expect((failed.response as? WLFailResponse)?.errorCode == .unresponsiveHost)
    }

    @Test("WLD-27 WLD-28 WLD-29 WLD-30 WLD-31: the properties of a failure, as its delegate gets it")
    func failureProperties() async throws {
        let text = "/*-secure-\n{\"isSuccessful\":false,\"errors\":[\"out of stock\"]}*/"
        let server = try server { _ in .text(text) }
        let client = try await server.connectedClient(), delegate = ResponseDelegate()
        client.invokeProcedure(.total, delegate: delegate, options: WLProcedureOptions(invocationContext: 1))
        await delegate.called()
        let failure = try #require(delegate.response as? WLFailResponse)
        #expect(failure.status == "200")
        #expect(failure.errorCode == .procedureError)
        #expect(failure.errorMsg == "Procedure invocation errorCode.")
        #expect(failure.invocationResult?.isSuccessful == false)
        #expect(failure.invocationResult?.procedureInvocationErrors == ["out of stock"])
        #expect(failure.invocationContext as? Int == 1)
        #expect(failure.responseText == text)
        #expect(failure.getResponseJson() == ["isSuccessful": false, "errors": ["out of stock"]])
    }

    // MARK: Codes

    private func code(_ client: WLClient, _ options: WLProcedureOptions = WLProcedureOptions()) async -> WLErrorCode? {
        let delegate = ResponseDelegate()
        client.invokeProcedure(.total, delegate: delegate, options: options)
        await delegate.called()
        return (delegate.response as? WLFailResponse)?.errorCode
    }

    @Test("WLD-47: UNEXPECTED_ERROR, for an answer that is not understood", arguments: ["<html>portal</html>", ""])
    func unexpectedError(body: String) async throws {
        let server = try server { _ in .text(body) }
        #expect(await code(try server.connectedClient()) == .unexpectedError)
        #expect(WLErrorCode.unexpectedError.rawValue == 0)
    }

    @Test("WLD-48: UNRESPONSIVE_HOST, for a server that is not there, and one that cannot work")
    func unresponsiveHost() async throws {
        let server = try server { _ in .text("busy", status: 503) }
        let client = try await server.connectedClient()
        #expect(await code(client) == .unresponsiveHost)
        server.stop()
        #expect(await code(client) == .unresponsiveHost)
        #expect(WLErrorCode.unresponsiveHost.rawValue == 1)
    }

    @Test("WLD-49: REQUEST_TIMEOUT, after the time of the call")
    func requestTimeout() async throws {
        let release = Signal()
        let server = try server { _ in
            release.block()
            return .success
        }
        #expect(await code(try server.connectedClient(), WLProcedureOptions(timeout: .milliseconds(50))) == .requestTimeout)
        release.fire()
        #expect(WLErrorCode.requestTimeout.rawValue == 2)
    }

    @Test("WLD-50: PROCEDURE_ERROR, for a procedure that did not succeed")
    func procedureError() async throws {
        let server = try server { _ in .json(["isSuccessful": false]) }
        #expect(await code(try server.connectedClient()) == .procedureError)
        #expect(WLErrorCode.procedureError.rawValue == 3)
    }

    @Test("WLD-51: APP_VERSION_ACCESS_DENIAL, for a disabled version")
    func applicationVersionDenied() async throws {
        let server = try server { _ in
            .json(["WL-Authentication-Failure": ["wl_remoteDisableRealm": ["message": "Please upgrade", "downloadLink": .null]]], status: 403)
        }
        #expect(await code(try server.connectedClient()) == .applicationVersionDenied)
        #expect(WLErrorCode.applicationVersionDenied.rawValue == 4)
    }

    // MARK: Handlers

    @Test(
        "WLD-43: the time of a form is its own, and the default without one",
        arguments: [(Duration.milliseconds(50), true), (.zero, false), (.seconds(-1), false)])
    func formTimeout(timeout: Duration, isShort: Bool) async throws {
        let release = Signal()
        let server = try StrictServer { request, _ in
            if request.isLoginForm {
                if isShort { release.block() }
                return .json([:])
            }
            guard request.name == "query" else { throw StrictServer.Unscripted() }
            return .page
        }
        let client = try await server.connectedClient()
        let handler = FormHandler(
            respond: { handler, _ in handler.submitLoginForm("j_security_check", parameters: ["j_username": "u"], timeout: timeout) },
            ends: { handler, response in handler.submitFailure(response) })
        client.registerChallengeHandler(handler)
        #expect(await failure { try await client.invokeProcedure(.total) } != nil)
        release.fire()
        #expect(handler.events.all == ["challenge 200", isShort ? "failure requestTimeout" : "success 200"])
    }

    @Test("WLD-44: the procedure of a login has its own time and context")
    func adapterOptions() async throws {
        let release = Signal(), contexts = RecordedLines()
        let server = try StrictServer { request, number in
            switch request.name {
            case "/Demo/invoke":
                if number == 0 { release.block() }
                return .json(["authRequired": false, "isSuccessful": true])
            case "query": return number < 2 ? .json(["authRequired": true, "isSuccessful": true]) : .success
            default: throw StrictServer.Unscripted()
            }
        }
        let client = try await server.connectedClient()
        let isShort = SystemLock(true)
        let handler = FormHandler(
            "adapter", mark: "\"authRequired\":true",
            respond: { handler, _ in
                var options = WLProcedureOptions(invocationContext: "the-context")
                if isShort.withLock({ $0 }) { options.timeout = .milliseconds(50) }
                handler.submitAdapterAuthentication(
                    WLProcedureInvocationData(adapter: "Login", procedure: "submit", parameters: ["u", "p"]), options: options)
            },
            ends: { handler, response in
                contexts.add("\(response.invocationContext as? String ?? "none")")
                handler.submitSuccess(response)
            })
        client.registerChallengeHandler(handler)
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
        #expect(handler.events.all == ["challenge 200", "failure requestTimeout"])
        release.fire()
        isShort.withLock { $0 = false }
        try await client.invokeProcedure(.total)
        #expect(contexts.all == ["the-context"])
        let request = try #require(server.requests("/Demo/invoke").last)
        #expect(request.field("adapter") == "Login")
        #expect(request.field("procedure") == "submit")
        #expect(request.parameters == ["u", "p"])
        #expect(!String(decoding: request.body, as: UTF8.self).contains("context"))
    }

    // MARK: Log and push

    @Test(
        "WLD-60 WLD-61 WLD-62 WLD-63 WLD-64: each level logs a text, with and without metadata",
        arguments: ["INFO", "DEBUG", "ERROR", "LOG", "WARN"])
    func lines(level: String) throws {
        let server = try server { _ in .success }
        let client = try server.client(store: server.store()), printed = RecordedLines()
        client.logs.printer = { printed.add($0) }
        let logger = client.logs.logger(package: "p"), metadata: JSONObject = ["account": "123-456-789", "n": 7]
        switch level {
        case "INFO":
            logger.info("one")
            logger.info("two", metadata: metadata)
        case "DEBUG":
            logger.debug("one")
            logger.debug("two", metadata: metadata)
        case "ERROR":
            logger.error("one")
            logger.error("two", metadata: metadata)
        case "LOG":
            logger.log("one")
            logger.log("two", metadata: metadata)
        default:
            logger.warn("one")
            logger.warn("two", metadata: metadata)
        }
        let entries = try client.logs.captured().map { try JSONValue(parsing: $0) }
        #expect(entries.map { $0["level"] } == [.string(level), .string(level)])
        #expect(entries.map { $0["msg"] } == ["one", "two"])
        #expect(entries.map { $0["metadata"] } == [[:], .object(metadata)])
        #expect(printed.all == ["[\(level)] [p] one", "[\(level)] [p] two \(JSONValue.object(metadata))"])
    }

    @Test("WLD-08: a subscription without options is one with none")
    func subscription() async throws {
        let server = try StrictServer { request, _ in
            guard request.name == "notifications" else { throw StrictServer.Unscripted() }
            return .json([:])
        }
        let client = try await server.connectedClient(), first = RecordingDelegate(), second = RecordingDelegate()
        client.subscribe(token: [1], adapter: "Mail", eventSource: "inbox", eventSourceID: 7, notificationTypes: [.badge], delegate: first)
        await first.called()
        client.subscribe(
            token: [1], adapter: "Mail", eventSource: "inbox", eventSourceID: 7, notificationTypes: [.badge], delegate: second, options: [:])
        await second.called()
        let sent = server.requests("notifications").compactMap { $0.field("subscribe") }
        #expect(sent.count == 2)
        #expect(sent.first == sent.last)
        #expect(try JSONValue(parsing: sent.first ?? "") == ["alert": false, "sound": false, "badge": true])
        #expect(first.events.all + second.events.all == ["success 200", "success 200"])
    }
}
