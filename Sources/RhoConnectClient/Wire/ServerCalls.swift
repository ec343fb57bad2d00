internal import MobileStore
internal import MobileTransport

/// Requests to the server within one run: session, client id, and errors in the documented codes.
struct ServerCalls {
    let core: ClientCore
    let address: ServerAddress
    let settings: RhoConnectClient.Settings
    let cancellation: TransportCancellation
    /// The session as a `Cookie` value; nil without one.
    var session: String?
    var clientID = ""

    init(_ core: ClientCore, _ cancellation: TransportCancellation) throws(RhoConnectError) {
        let (address, settings) = core.withState { ($0.address, $0.settings) }
        guard let address else { throw RhoConnectError(.runtime, "there is no server: call setSyncServer first") }
        guard settings.pageSize > 0 else { throw RhoConnectError(.runtime, "page size \(settings.pageSize): use 1 or more") }
        (self.core, self.address, self.settings, self.cancellation) = (core, address, settings, cancellation)
    }

    /// An answered request.
    struct Answer {
        let body: [UInt8]
        /// The session that the response set.
        let session: String?
    }

    /// Sends a request.
    /// - Throws: ``RhoConnectErrorCode/network`` without a response, ``RhoConnectErrorCode/unauthorized`` for a status of 401,
    ///   ``RhoConnectErrorCode/remoteServer`` for all others but 200, ``RhoConnectErrorCode/cancelledByUser``.
    func send(
        _ method: String, _ url: String, json: [UInt8]? = nil, headers: [(name: String, value: String)] = [], body: TransportRequest.Body? = nil
    ) throws(RhoConnectError) -> Answer {
        var headers = headers
        if let session { headers.append(("Cookie", session)) }
        if json != nil { headers.append(("Content-Type", "application/json")) }
        // The protocol has no "Expect": a server that does not know it would cost a second per upload.
        if json != nil || body != nil { headers.append(("Expect", "")) }
        if !clientID.isEmpty, address.style == .version4 { headers.append(("X-RhoConnect-CLIENT-ID", clientID)) }
        var request = TransportRequest(method: method, url: url, headers: headers, body: body ?? json.map { .bytes($0) } ?? .none)
        request.expects = .any
        request.cancellation = cancellation
        request.totalTimeout = settings.requestTimeout
        request.stallTimeout = settings.requestTimeout
        let name = "\(method) \(request.urlWithoutQuery)"
        let response: TransportResponse, bytes: [UInt8]
        do { (response, bytes) = try core.transport.send(request, maximumLength: settings.maximumResponse.bytes) } catch {
            core.log(.warning, "\(name): \(error)")
            throw Self.failure(of: error)
        }
        core.log(.trace, "\(name): \(response.status), \(bytes.count) bytes")
        guard response.status == 200 else { throw Self.refusal(response.status, bytes) }
        return Answer(body: bytes, session: SessionCookie.value(in: response))
    }

    /// The error of a status that is not 200; its message is the body.
    static func refusal(_ status: Int, _ body: [UInt8]) -> RhoConnectError {
        RhoConnectError(status == 401 ? .unauthorized : .remoteServer, String(decoding: body, as: UTF8.self))
    }

    /// The error of a request without a complete response.
    static func failure(of error: any Error) -> RhoConnectError {
        guard let error = error as? TransportError else { return RhoConnectError(error) }
        switch error.code {
        case .cancelled: return RhoConnectError(.cancelledByUser, error.message, cause: error)
        case .responseTooLong: return RhoConnectError(.unexpectedServerResponse, error.message, cause: error)
        case .badRequest: return RhoConnectError(.runtime, error.message, cause: error)
        default: return RhoConnectError(.network, error.message, cause: error)
        }
    }
}

/// The session in a response's cookies.
enum SessionCookie {
    static let name = "rhoconnect_session"

    /// The cookie as a `Cookie` field sends it back; nil without one. Its value is opaque.
    static func value(in response: TransportResponse) -> String? {
        for field in response.headers where field.name.isField("Set-Cookie") {
            let pair = field.value.prefix { $0 != ";" }
            guard pair.hasPrefix(name + "="), pair.count > name.count + 1 else { continue }
            return pair + ";"
        }
        return nil
    }
}
