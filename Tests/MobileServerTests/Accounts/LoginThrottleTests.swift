import Foundation
import MobileExecution
import MobileProtocol
import MobileServer
import TestSupport
import Testing

/// Protection against guessed passwords and activation codes.
@Suite struct LoginThrottleTests {
    private let clock = VirtualClock(start: .seconds(1_800_000_000))

    private func server(_ adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }) throws -> TestServer {
        let clock = clock
        return try FieldSales.server {
            $0.clock = { clock.milliseconds }
            adjust(&$0)
        }
    }

    /// Registers from an address.
    /// - Returns: 200, or the code of the failure.
    private func code(
        _ server: TestServer, _ user: String, _ password: String, from address: String, activation: String? = nil, device: String? = nil,
        method: MessageMethod = .register
    ) throws -> Int64 {
        try Self.code(server.server, user, password, from: address, activation: activation, device: device, method: method)
    }

    private static func code(
        _ server: MobileServer, _ user: String, _ password: String, from address: String, activation: String? = nil, device: String? = nil,
        method: MessageMethod = .register
    ) throws -> Int64 {
        let message = Message(
            MessageHeader(method: method, id: "1", application: "crm", device: device ?? user),
            content: Credentials(user: user, password: password, activationCode: activation))
        let response = server.respond(
            to: ServerRequest(method: "POST", path: Endpoint.messages, remoteAddress: address, body: Spool(Message.bytes([message]))))
        let answer = try Message.messages(parsing: TestServer.bytes(of: response))[0]
        return answer.header.method.isFailure ? try answer.content(as: ProtocolFailure.self).code : 200
    }

    /// Returns the number of seconds until the server checks a guess again; the guess is wrong.
    private func wait(_ server: TestServer, _ user: String, from address: String) throws -> Int {
        var seconds = 0
        while try code(server, user, "guess", from: address) == 503 {
            clock.advance(by: .milliseconds(1000))
            seconds += 1
            if seconds > 7200 { break }
        }
        return seconds
    }

    @Test("LGN-01: who guesses waits longer each time; the right password of another address gets in meanwhile")
    func growingDelays() throws {
        let server = try server()
        var waits: [Int] = []
        for _ in 0..<14 { waits.append(try wait(server, "ada", from: "10.0.0.1")) }
        #expect(waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256])
        #expect(try code(server, "ada", "secret", from: "10.0.0.1") == 503, "not looked at")
        #expect(try code(server, "ada", "secret", from: "10.0.0.2") == 200)
        #expect(try code(server, "bob", "other", from: "10.0.0.1") == 200, "another user of the same address")
        clock.advance(by: .milliseconds(512_000))
        #expect(try code(server, "ada", "secret", from: "10.0.0.1") == 200)
        #expect(try wait(server, "ada", from: "10.0.0.1") == 0, "all is forgiven")
    }

    @Test("a delay ends somewhere, and what is long ago is forgotten")
    func longestDelay() throws {
        let server = try server()
        for _ in 0..<18 { _ = try wait(server, "ada", from: "10.0.0.1") }
        #expect(try wait(server, "ada", from: "10.0.0.1") == 900)
        clock.advance(by: .days(1))
        for _ in 0..<5 { #expect(try wait(server, "ada", from: "10.0.0.1") == 0) }
    }

    @Test("an address that tries many users waits for all of them; one of IPv6 is its network", arguments: ["10.0.0.1", "2001:db8:1:2::1"])
    func manyUsers(_ address: String) throws {
        let server = try server()
        var refused = 0
        for number in 0..<60 where try code(server, "user\(number)", "guess", from: address) == 503 { refused += 1 }
        #expect(refused == 30)
        #expect(try code(server, "ada", "secret", from: address) == 503)
        #expect(try code(server, "ada", "secret", from: "10.0.0.2") == 200)
        #expect(try code(server, "ada", "secret", from: "2001:db8:1:2:ffff::9") == (address.contains(":") ? 503 : 200))
    }

    @Test("REG-34: an activation code is guessed as slowly as a password")
    func activationCodes() throws {
        let server = try server { $0.activationCodes = ["carl": "4711"] }
        let codes = try (0..<8).map { try code(server, "carl", "", from: "10.0.0.1", activation: "\($0)") }
        #expect(codes == [401, 401, 401, 401, 401, 503, 503, 503])
        #expect(try code(server, "carl", "", from: "10.0.0.1", activation: "4711") == 503)
        #expect(try code(server, "carl", "", from: "10.0.0.2", activation: "4711") == 200)
    }

    @Test("REG-21 REG-34: an activation code is used up by the registration of one device, which may have to ask twice")
    func oneRegistration() throws {
        let server = try server { $0.activationCodes = ["carl": "4711"] }
        for _ in 0..<2 { #expect(try code(server, "carl", "", from: "", activation: "4711", device: "phone") == 200) }
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "tablet") == 401)
        try server.restart()
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "tablet") == 401, "used up for good")
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "phone", method: .login) == 401, "it registers, and no more")
    }

    @Test("REG-34: an activation code takes the place of the one before")
    func replacedCode() throws {
        let codes = TestSecret("4711")
        let server = try FieldSales.server { $0.activationCodes = ["carl": codes.current] }
        codes.current = "4712"
        try server.restart()
        #expect(try code(server, "carl", "", from: "", activation: "4711") == 401)
        #expect(try code(server, "carl", "", from: "", activation: "4712") == 200)
    }

    @Test("LGN-01: guesses that come all at once are not looked at all at once")
    func parallelGuesses() throws {
        let guesses = 20, begun = SystemLock((count: -1, holdsOne: false)), all = DispatchSemaphore(value: 0), answered = DispatchSemaphore(value: 0)
        let server = try FieldSales.server {
            $0.limits.logins = 1
            $0.clock = {
                begun.withLock { begun in
                    guard begun.count >= 0 else { return }
                    begun.count += 1
                    if begun.count == guesses { all.signal() }
                }
                return 1_800_000_000_000
            }
            $0.random = { count in
                // The check of the first guess, of a user who does not exist, lasts until all others have begun.
                let isFirst = begun.withLock { begun in
                    guard begun.count >= 0, !begun.holdsOne else { return false }
                    begun.holdsOne = true
                    return true
                }
                if isFirst { all.wait() }
                return [UInt8](repeating: 7, count: count)
            }
        }
        begun.withLock { $0.count = 0 }
        let served = server.server, codes = SystemLock<[Int64]>([])
        for _ in 0..<guesses {
            Thread.detachNewThread {
                let code = try? Self.code(served, "eve", "guess", from: "10.0.0.1")
                codes.withLock { $0.append(code ?? 0) }
                answered.signal()
            }
        }
        for _ in 0..<guesses { answered.wait() }
        #expect(codes.withLock { $0.sorted() } == Array(repeating: 401, count: 5) + Array(repeating: 503, count: 15))
    }

    @Test("REG-34: an activation code expires")
    func expiry() throws {
        let server = try server { $0.activationCodes = ["carl": "4711"] }
        clock.advance(by: .days(3) - .milliseconds(1))
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "phone") == 200)
        clock.advance(by: .milliseconds(1))
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "phone") == 401)
        try server.restart()
        #expect(try code(server, "carl", "", from: "", activation: "4711", device: "phone") == 401, "the time runs from when it was first there")
    }
}
