internal import Foundation
internal import MobileStore
internal import MobileTransport
internal import WorklightClient

/// Answers requests with the parts of an input.
private final class AnsweringTransport: Transport, @unchecked Sendable {
    private let lock = NSLock()
    private let answers: [[UInt8]]
    private var next = 0
    /// The requests of the call.
    private(set) var calls = 0

    init(_ input: [UInt8]) { answers = input.split(separator: 0xFE, omittingEmptySubsequences: false).map(Array.init) }

    private static let statuses = [200, 401, 401, 403, 200, 500, 404, 302]

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let isConnect = request.url.hasSuffix("/init")
        let answer = lock.withLock { () -> [UInt8] in
            if request.url.hasSuffix("/query") { calls += 1 }
            defer { if !isConnect { next += 1 } }
            return answers[min(next, answers.count - 1)]
        }
        // The connect succeeds after a first challenge, so that the call is sent.
        if isConnect { return TransportResponse(status: 200) }
        let selector = answer.first ?? 0
        var headers: [(name: String, value: String)] = [("Set-Cookie", "JSESSIONID=1; Path=/")]
        if selector & 8 == 0 { headers.append(("WWW-Authenticate", "WL-Composite-Challenge")) }
        if selector & 16 != 0 { headers.append(("Content-Encoding", "gzip")) }
        if selector & 32 != 0 { headers.append(("Set-Cookie", String(decoding: answer.dropFirst().prefix(200), as: UTF8.self))) }
        try receive(Array(answer.dropFirst()).span.bytes)
        return TransportResponse(status: Self.statuses[Int(selector & 7)], headers: headers)
    }
}

/// Counts the callbacks of one request.
private final class CountingDelegate: WLDelegate, @unchecked Sendable {
    let done = DispatchSemaphore(value: 0)
    private let lock = NSLock()
    private var count = 0

    private func called() {
        let isFirst = lock.withLock {
            count += 1
            return count == 1
        }
        guard isFirst else { fatalError("a callback came twice") }
        done.signal()
    }

    func onSuccess(_ response: WLResponse) {
        if response.httpStatus != 200 { fatalError("a success with status \(response.status)") }
        _ = response.getResponseJson()
        if let result = response.invocationResult, !result.isSuccessful { fatalError("a success that did not succeed") }
        called()
    }

    func onFailure(_ response: WLFailResponse) {
        if response.errorCode.message.isEmpty { fatalError("a failure without a text") }
        _ = response.getResponseJson()
        _ = response.responseText
        _ = response.invocationResult?.procedureInvocationErrors
        called()
    }
}

/// Runs one input; libFuzzer calls it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let transport = AnsweringTransport(Array(UnsafeBufferPointer(start: start, count: count)))
    do {
        let client = try WLClient(
            WLConfiguration(host: "h", applicationID: "Demo", applicationVersion: "1.0"), transport: transport)
        for realm in ["a", "b"] {
            client.registerChallengeHandler(AnsweringHandler(realm: realm))
        }
        let connect = CountingDelegate(), call = CountingDelegate()
        client.connect(delegate: connect)
        connect.done.wait()
        client.invokeProcedure(WLProcedureInvocationData(adapter: "a", procedure: "p"), delegate: call)
        call.done.wait()
        if transport.calls > 11 { fatalError("\(transport.calls) requests for one call") }
    } catch { fatalError("the client cannot be made: \(error)") }
    return 0
}

/// Answers each challenge with itself.
private final class AnsweringHandler: WLChallengeHandler, @unchecked Sendable {
    override func handleChallenge(_ challenge: JSONObject) { submitChallengeAnswer(.object(challenge)) }
}
