internal import Foundation
internal import MobileExecution
internal import MobileTransport
internal import TestSupport

/// A moment within a synchronization.
enum Moment: Equatable, CaseIterable {
    /// Before its first request, or its second.
    case firstRequest, secondRequest
    /// When a part of its upload is on the way.
    case upload
    /// When the first byte of an answer arrives.
    case answer
    /// While the server works on it: when a transaction is open in PostgreSQL.
    case transaction
}

/// The network of one device over HTTP. It breaks where a step says so, and lets something happen at a moment of a synchronization.
final class HTTPNetwork: DeviceNetwork {
    private struct State {
        var fault: NetworkFault?
        /// The last uploads.
        var copies: [Copy] = []
        var requests = 0, hasOverrun = false
        var event: (moment: Moment, action: @Sendable () -> Void)?
    }

    private struct Copy {
        let url: String
        let headers: [(name: String, value: String)]
        let body: [UInt8]
    }

    private let http = HTTPTransport()
    private let port: @Sendable () -> UInt16
    private let state = SystemLock(State())

    /// The number of requests after which a synchronization fails: one with long texts of 10 MB needs 15.
    static let mostRequests = 60
    /// The time after which a request fails. Each lasts less than a second, unless the server waits for a lock that is never given back.
    private static let patience = Duration.seconds(30)

    init(port: @escaping @Sendable () -> UInt16) { self.port = port }

    // MARK: Steps

    func fail(_ fault: NetworkFault) { state.withLock { $0.fault = fault } }
    func repair() { state.withLock { $0.fault = nil } }

    func sendAgain(_ pick: Int) -> Bool {
        let copies = state.withLock { $0.copies }
        guard !copies.isEmpty else { return false }
        let copy = copies[pick % copies.count]
        var request = TransportRequest(method: "POST", url: copy.url, headers: copy.headers, body: .bytes(copy.body))
        request.totalTimeout = Self.patience
        _ = try? http.send(request) { _ in }
        return true
    }

    func begin() { state.withLock { ($0.requests, $0.hasOverrun) = (0, false) } }
    var hasOverrun: Bool { state.withLock { $0.hasOverrun } }

    /// A synchronization begins; `action` runs once, at this moment.
    func begin(_ moment: Moment, _ action: @escaping @Sendable () -> Void) {
        begin()
        state.withLock { $0.event = (moment, action) }
    }

    /// The synchronization is over.
    /// - Returns: whether the action has run.
    func end() -> Bool {
        state.withLock { state in
            defer { state.event = nil }
            return state.event == nil
        }
    }

    private func happen(_ moment: Moment) {
        let action = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.event?.moment == moment else { return nil }
            defer { state.event = nil }
            return state.event?.action
        }
        action?()
    }

    // MARK: Requests

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let (number, fault) = state.withLock { state in
            state.requests += 1
            if state.requests > Self.mostRequests { state.hasOverrun = true }
            return (state.requests, state.fault)
        }
        guard number <= Self.mostRequests else {
            throw TransportError(.other, "\(request.method) \(request.urlWithoutQuery): more than \(Self.mostRequests) requests")
        }
        if number <= 2 { happen(number == 1 ? .firstRequest : .secondRequest) }
        if fault == .refuse { throw TransportError(.cannotConnect, "no server listens") }
        var request = request
        var url = URLComponents(string: request.url)
        url?.host = "127.0.0.1"
        url?.port = Int(port())
        request.url = url?.string ?? request.url
        request.totalTimeout = Self.patience
        request.body = body(request, fault)
        let cut = TransportError(.interrupted, "\(request.method) \(request.urlWithoutQuery): the connection broke")
        var received = 0
        let response = try http.send(request) { piece in
            if received == 0 { happen(.answer) }
            var piece = piece
            if case .cutDownload(let limit) = fault {
                guard received < limit else { throw cut }
                piece = piece.extracting(first: limit - received)
            }
            received += piece.byteCount
            if fault != .cutResponse { try receive(piece) }
        }
        switch fault {
        case .cutResponse, .cutDownload, .cutUpload: throw cut
        default: return response
        }
    }

    /// The body as it is sent: a copy is kept of an upload, and it may break off.
    private func body(_ request: TransportRequest, _ fault: NetworkFault?) -> TransportRequest.Body {
        var pieces: () throws -> [UInt8]?, announced: Int?
        let isStream: Bool
        switch request.body {
        case .stream(let length, let next): (pieces, announced, isStream) = (next, length, true)
        case .bytes(let bytes) where request.method == "PUT":
            // A piece of a long upload.
            var rest = bytes[...]
            pieces = {
                guard !rest.isEmpty else { return nil }
                defer { rest = rest.dropFirst(65_536) }
                return Array(rest.prefix(65_536))
            }
            (announced, isStream) = (bytes.count, false)
        default: return request.body
        }
        var sent: [UInt8] = [], count = 0
        return .stream(length: announced) {
            let piece = try pieces()
            if count > 0 || piece == nil { self.happen(.upload) }
            guard var piece else {
                if isStream { self.keep(Copy(url: request.url, headers: request.headers, body: sent)) }
                return nil
            }
            if case .cutUpload(let limit) = fault {
                guard count < limit else { throw TransportError(.interrupted, "the connection broke during the upload") }
                piece = Array(piece.prefix(limit - count))
            }
            count += piece.count
            if isStream { sent += piece }
            return piece
        }
    }

    private func keep(_ copy: Copy) {
        state.withLock { state in
            state.copies.append(copy)
            if state.copies.count > 6 { state.copies.removeFirst() }
        }
    }
}
