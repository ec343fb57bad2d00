import MobileServer
import MobileStore
import MobileTransport
import TestSupport
import Testing
import WorklightClient

/// Answers that are cut, damaged, too long or built to harm.
@Suite struct HostileAnswerTests {
    private func client(_ fault: @escaping @Sendable (Int) -> NetworkFault?, _ reply: @escaping @Sendable (ServerRequest) -> Reply) throws -> WLClient
    {
        var conditions = NetworkConditions()
        conditions.fault = { number, _ in fault(number) }
        let transport = SimulatedTransport(
            server: { request in
                let reply = request.path.hasSuffix("init") ? Reply.connected : reply(request)
                return ServerResponse(status: reply.status, headers: reply.headers, body: .bytes(reply.body))
            }, conditions: conditions)
        var configuration = WLConfiguration(host: "h", applicationID: "Demo", applicationVersion: "1.0")
        // A heartbeat would be a request more.
        configuration.heartbeatInterval = .zero
        return try WLClient(configuration, transport: transport)
    }

    @Test func `an answer that is cut at any byte is an unexpected error, and the next call succeeds`() async throws {
        let reply = Reply.json(["isSuccessful": true, "text": "*/}{\"", "rows": [1, [2, .null]]])
        for place in 0...reply.body.count {
            let client = try client({ $0 == 1 ? .cutDownload(after: place) : nil }) { _ in reply }
            try await client.connect()
            #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError, "byte \(place)")
            try await client.invokeProcedure(.total)
        }
    }

    @Test func `a challenge that is cut at any byte fails its request only`() async throws {
        let reply = Reply.challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": "i1"], "wl_deviceNoProvisioningRealm": ["token": "t"]])
        for place in stride(from: 0, through: reply.body.count, by: 1) {
            let client = try client({ $0 == 1 ? .cutDownload(after: place) : nil }) { $0.headers["authorization"] == nil ? reply : .success }
            try await client.connect()
            #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError, "byte \(place)")
            try await client.invokeProcedure(.total)
        }
    }

    @Test func `an announced body of half its bytes is no success`() async throws {
        let whole = Reply.json(["isSuccessful": true, "a": [["b": "c"]]])
        for count in 0..<whole.body.count - 2 {
            var half = whole
            half.body = Array(whole.body[..<count])
            let client = try client({ _ in nil }) { [half] _ in half }
            try await client.connect()
            #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError, "\(count) bytes")
        }
    }

    private static let hostile: [String: [UInt8]] = [
        "the prefix alone": Array("/*-secure-\n".utf8), "the wrapper alone": Array("/*-secure-\n*/".utf8),
        "deep arrays": Array("{\"a\":".utf8) + Array(repeating: UInt8(ascii: "["), count: 1 << 20) + Array("}".utf8),
        "deep objects": Array(String(repeating: "{\"a\":", count: 100_000).utf8) + Array(String(repeating: "}", count: 100_001).utf8),
        "invalid UTF-8": Array("{\"isSuccessful\":\"".utf8) + [0xFF, 0xC0, 0x80] + Array("\"}".utf8),
        "half a surrogate": Array("{\"isSuccessful\":\"\\ud800\"}".utf8), "a zero byte": [0x7B, 0x00, 0x7D],
        "braces": Array(repeating: UInt8(ascii: "{"), count: 1 << 20) + Array(repeating: UInt8(ascii: "}"), count: 1 << 20),
        "a huge number": Array("{\"isSuccessful\":".utf8) + Array(repeating: UInt8(ascii: "9"), count: 1 << 20) + Array("}".utf8),
        "many equal keys": Array("{\"isSuccessful\":false".utf8) + Array(String(repeating: ",\"k\":1", count: 200_000).utf8) + Array("}".utf8),
        "many different keys": Array("{".utf8) + (0..<100_000).flatMap { Array("\"k\($0)\":1,".utf8) } + Array("\"isSuccessful\":0}".utf8),
        "equivalent keys": Array("{\"é\":1,\"e\u{301}\":2}".utf8),
    ]

    @Test("answers built to harm fail with a documented code", arguments: hostile.keys.sorted(), [200, 401, 403, 500])
    func hostileBodies(name: String, status: Int) async throws {
        let body = try #require(Self.hostile[name])
        var reply = Reply(status: status, body: body)
        if status == 401 { reply = reply.with("WWW-Authenticate", "WL-Composite-Challenge") }
        let client = try client({ _ in nil }) { [reply] _ in reply }
        try await client.connect()
        let found = await failure { try await client.invokeProcedure(.total) }
        let isObject = found?.getResponseJson() != nil
        let expected: WLErrorCode =
            switch status {
            case 200: isObject ? .procedureError : .unexpectedError
            case 500: isObject ? .unexpectedError : .unresponsiveHost
            default: .unexpectedError
            }
        #expect(found?.errorCode == expected)
        #expect(found?.responseText.isEmpty == false)
        _ = found?.invocationResult?.response
    }

    @Test(
        "realms and members of the wrong type do no harm",
        arguments: [
            "{\"challenges\":{\"wl_antiXSRFRealm\":null}}", "{\"challenges\":{\"wl_deviceNoProvisioningRealm\":[]}}", "{\"challenges\":{\"\":{}}}",
            "{\"challenges\":{\"wl_remoteDisableRealm\":\"x\"}}", "{\"challenges\":{\"é\":{},\"e\\u0301\":{}}}",
            "{\"challenges\":{\"wl_deviceAutoProvisioningRealm\":7}}", "{\"challenges\":{\"wl_authenticityRealm\":{\"WL-Challenge-Data\":{}}}}",
            "{\"WL-Authentication-Success\":7,\"challenges\":{\"x\":{}}}",
        ])
    func wrongTypes(text: String) async throws {
        let client = try client({ _ in nil }) { _ in Reply.text(text, status: 401).with("WWW-Authenticate", "WL-Composite-Challenge") }
        try await client.connect()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
    }

    @Test func `an answer of 50 MB is read, one of more than 64 MiB is not`() async throws {
        let rest = Array("\",\"isSuccessful\":true}*/".utf8)
        let client = try client({ _ in nil }) { request in
            let count = request.query.isEmpty && request.headers["x-long"] != nil ? 70 << 20 : 50_000_000
            return Reply(body: Array("/*-secure-\n{\"a\":\"".utf8) + Array(repeating: UInt8(ascii: "x"), count: count) + rest)
        }
        try await client.connect()
        let response = try await client.invokeProcedure(.total, options: WLProcedureOptions(timeout: .zero))
        #expect(response.invocationResult?.isSuccessful == true)
        #expect(response.body(longerThan: 50_000_000))
        client.addGlobalHeader("X-Long", value: "1")
        #expect(
            await failure { try await client.invokeProcedure(.total, options: WLProcedureOptions(timeout: .zero)) }?.errorCode == .unexpectedError)
    }

    @Test(
        "compressed answers that are damaged, cut, or far longer than they look", arguments: ["bomb", "cut", "damaged", "more", "deflate", "plain"])
    func compressed(kind: String) async throws {
        let whole = try Gzip.compress(Reply.success.body)
        let body: [UInt8] =
            switch kind {
            case "bomb": try Gzip.compress(Array(repeating: UInt8(ascii: "{"), count: 70 << 20))
            case "cut": Array(whole.dropLast(3))
            case "damaged": whole.enumerated().map { $0.offset == 20 ? ~$0.element : $0.element }
            case "more": whole + [1]
            case "deflate": whole
            default: Reply.success.body
            }
        let client = try client({ _ in nil }) { _ in Reply(body: body).with("Content-Encoding", kind == "deflate" ? "deflate" : "gzip") }
        try await client.connect()
        #expect(await failure { try await client.invokeProcedure(.total) }?.errorCode == .unexpectedError)
    }
}

extension WLResponse {
    fileprivate func body(longerThan count: Int) -> Bool { responseText.utf8.count > count }
}
