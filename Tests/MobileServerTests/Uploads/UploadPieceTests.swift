import Foundation
import MobileCrypto
import MobileExecution
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Uploads that arrive in pieces.
@Suite struct UploadPieceTests {
    private func send(
        _ server: TestServer, _ method: String, _ id: String, _ device: TestDevice, _ bytes: [UInt8] = [], _ fields: [String: Int] = [:]
    )
        -> ServerResponse
    {
        var headers = ["authorization": "Bearer \(device.token)"]
        for (name, value) in fields { headers[name] = String(value) }
        return server.server.respond(to: ServerRequest(method: method, path: Endpoint.uploads + id, headers: headers, body: Spool(bytes)))
    }

    private func put(_ server: TestServer, _ id: String, _ device: TestDevice, _ bytes: [UInt8], _ range: Range<Int>, of length: Int? = nil)
        -> ServerResponse
    {
        send(
            server, "PUT", id, device, Array(bytes[range]),
            [Endpoint.uploadOffset: range.lowerBound, Endpoint.uploadLength: length ?? bytes.count])
    }

    private func offset(_ response: ServerResponse) -> String? {
        response.headers.first { $0.name == "Upload-Offset" }.map { "\(response.status) \($0.value)" }
    }

    /// Makes an upload that creates a picture.
    private func upload(_ device: TestDevice, bytes: Int) throws -> (bytes: [UInt8], id: String) {
        let operation = device.create("Picture", ["title": "large"])
        let content = (0..<bytes).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 9) }
        let upload = try device.upload([operation], large: [operation.id: ["content": content]])
        return (upload, try SHA256.digest(of: upload).hexadecimal)
    }

    private func synchronize(_ server: TestServer, _ device: TestDevice, _ id: String) -> Int {
        let response = server.server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(device.token)", Endpoint.uploadID: id]))
        _ = try? TestServer.bytes(of: response)
        return response.status
    }

    @Test("pieces make an upload; a repeated synchronization with it does its operations once")
    func pieces() throws {
        let server = try Folders.server(), device = try TestDevice(server)
        try device.synchronize()
        let (bytes, id) = try upload(device, bytes: 800_000)
        #expect(send(server, "HEAD", id, device).status == 404 && synchronize(server, device, id) == 409)
        #expect(offset(put(server, id, device, bytes, 0..<300_000)) == "204 300000")
        #expect(offset(send(server, "HEAD", id, device)) == "200 300000" && synchronize(server, device, id) == 409)
        #expect(offset(put(server, id, device, bytes, 100..<300_000)) == "409 300000", "a wrong offset")
        #expect(offset(put(server, id, device, bytes, 300_001..<400_000)) == "409 300000", "a gap")
        try server.restart()
        #expect(offset(put(server, id, device, bytes, 300_000..<bytes.count)) == "204 \(bytes.count)")
        #expect(offset(put(server, id, device, bytes, 0..<10)) == "204 \(bytes.count)", "a late copy")
        let twice = [synchronize(server, device, id), synchronize(server, device, id)]
        #expect(twice == [200, 200])
        #expect(try server.backEndValue("SELECT count(*) || ' ' || sum(length(content)) FROM picture") == .text("1 800000"))
        #expect(send(server, "DELETE", id, device).status == 204 && send(server, "HEAD", id, device).status == 404)
    }

    @Test("bytes that do not have the digest of the name are thrown away, and can be sent again")
    func wrongDigest() throws {
        let server = try Folders.server(), device = try TestDevice(server)
        let (bytes, id) = try upload(device, bytes: 1000)
        var damaged = bytes
        damaged[500] ^= 1
        #expect(put(server, id, device, damaged, 0..<700).status == 204)
        #expect(put(server, id, device, damaged, 700..<bytes.count).status == 400 && send(server, "HEAD", id, device).status == 404)
        #expect(put(server, id, device, bytes, 0..<bytes.count).status == 204 && synchronize(server, device, id) == 200)
    }

    @Test("a name that is no digest, a piece without its place, an upload of another user or device, and one that is too long are refused")
    func refusals() throws {
        let server = try Folders.server { $0.limits.uploadBytes = 5000 }, device = try TestDevice(server)
        let others = [try TestDevice(server, name: "tablet"), try TestDevice(server, name: "phone 2", user: "bob", password: "other")]
        let (bytes, id) = try upload(device, bytes: 1000)
        for name in ["", "x", "../../etc/passwd", String(repeating: "A", count: 64), String(repeating: "g", count: 64)] {
            #expect(send(server, "HEAD", name, device).status == 400, "\(name)")
        }
        #expect(send(server, "PUT", id, device, bytes).status == 400 && send(server, "POST", id, device).status == 405)
        #expect(put(server, id, device, bytes, 0..<500, of: 5001).status == 413 && put(server, id, device, bytes, 0..<500, of: 499).status == 413)
        #expect(put(server, id, device, bytes, 0..<500).status == 204)
        for other in others {
            #expect(send(server, "HEAD", id, other).status == 404 && offset(put(server, id, other, bytes, 500..<bytes.count)) == "409 0")
            #expect(send(server, "DELETE", id, other).status == 204 && offset(send(server, "HEAD", id, device)) == "200 500")
        }
        #expect(put(server, id, device, bytes, 500..<bytes.count).status == 204)
        for other in others { #expect(synchronize(server, other, id) == 409) }
        let stranger = server.server.admit(ServerRequest(method: "PUT", path: Endpoint.uploads + id))
        guard case .answer(let answer) = stranger else {
            Issue.record("a body without a session is accepted")
            return
        }
        #expect(answer.status == 401)
        #expect(try server.backEndValue("SELECT count(*) FROM picture") == .integer(0))
    }

    @Test("the uploads of a user are limited; those that nobody continues are removed")
    func limits() throws {
        let now = MovingTime()
        let server = try Folders.server {
            $0.limits.uploadsPerUser = 2
            $0.limits.uploadLifetime = .seconds(3600)
            $0.clock = { now.milliseconds }
        }
        let device = try TestDevice(server), bob = try TestDevice(server, name: "tablet", user: "bob", password: "other")
        let uploads = try (0..<4).map { try upload(device, bytes: 1000 + $0) }
        func begin(_ number: Int, _ device: TestDevice) -> Int { put(server, uploads[number].id, device, uploads[number].bytes, 0..<100).status }
        #expect(begin(0, device) == 204 && begin(1, device) == 204 && begin(2, device) == 429 && begin(2, bob) == 204)
        #expect(send(server, "DELETE", uploads[0].id, device).status == 204 && begin(2, device) == 204 && begin(3, device) == 429)
        now.advance(.seconds(7200))
        #expect(begin(3, device) == 204 && send(server, "HEAD", uploads[1].id, device).status == 404)
    }
}

/// The system's time, and what a test adds to it.
private final class MovingTime: Sendable {
    private let added = SystemLock<Duration>(.zero)

    var milliseconds: Int64 { SystemEnvironment.milliseconds() + Int64(added.withLock { $0 } / .milliseconds(1)) }
    func advance(_ time: Duration) { added.withLock { $0 += time } }
}
