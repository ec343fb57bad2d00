import Foundation
import MobileExecution
import MobileTransport
import Testing

@testable import WorklightClient

/// The parts of a request: cookies, forms, addresses.
@Suite struct RequestFieldTests {
    @Test(
        "the server and the path of an address, which decide about cookies",
        arguments: [
            ("http://h:10080/Demo/apps?x=/y", "h", "/Demo/apps"), ("HTTPS://Shop.Example", "shop.example", "/"), ("http://h?x=1", "h", "/"),
            ("http://kim:secret@h:80/a", "h", "/a"), ("http://kim@mail@h/a", "h", "/a"), ("https://[::1]:8443/a", "[::1]", "/a"),
            ("http://kim:p@[FE80::1]/", "[fe80::1]", "/"), ("http://h/@/a:b", "h", "/@/a:b"), ("http://[::1", "[", "/"),
        ])
    func address(url: String, host: String, path: String) {
        let target = RequestTarget(url)
        #expect(target.host == host)
        #expect(target.path == path)
        #expect(target.isSecure == url.lowercased().hasPrefix("https"))
    }

    @Test func `the field of cookies follows time and jar`() {
        var jar = CookieJar()
        let target = RequestTarget("http://h/a/b"), other = RequestTarget("http://h/c")
        #expect(jar.field(for: target, now: 0) == nil)
        jar.set(WLCookie(name: "session", value: "1", domain: "h"), now: 0)
        #expect(jar.field(for: target, now: 0) == "session=1")
        jar.set(WLCookie(name: "short", value: "2", domain: "h", path: "/a", expires: 100), now: 0)
        // Longer paths first, and each request its own.
        for _ in 0..<2 {
            #expect(jar.field(for: target, now: 10) == "short=2; session=1")
            #expect(jar.field(for: other, now: 10) == "session=1")
        }
        #expect(jar.field(for: target, now: 99.9) == "short=2; session=1")
        #expect(jar.field(for: target, now: 100) == "session=1")
        // A clock that was set back.
        #expect(jar.field(for: target, now: 50) == "short=2; session=1")
        jar.set(WLCookie(name: "session", value: "3", domain: "h"), now: 50)
        #expect(jar.field(for: target, now: 50) == "short=2; session=3")
        #expect(jar.field(for: RequestTarget("http://other/a/b"), now: 50) == nil)
        jar.startOver()
        #expect(jar.field(for: target, now: 50) == nil)
    }

    /// Answers each request with an empty object, and notes its cookies.
    private final class NotingTransport: Transport {
        let cookies = SystemLock<[String?]>([])

        func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
            cookies.withLock { $0.append(request.headers.first { $0.name == "Cookie" }?.value) }
            try receive(Array("{}".utf8).span.bytes)
            return TransportResponse(status: 200)
        }
    }

    @Test("cookies without a server are for that of the configuration", arguments: ["h", "kim@h", "kim:secret@h", "[::1]"])
    func configuredHost(host: String) async throws {
        let transport = NotingTransport()
        var configuration = WLConfiguration(host: host, applicationID: "Demo", applicationVersion: "1.0")
        configuration.heartbeatInterval = .zero
        let client = try WLClient(configuration, transport: transport)
        try await client.connect(cookieExtractor: WLCookieExtractor([WLCookie(name: "web", value: "1")]))
        #expect(transport.cookies.withLock { $0 } == ["web=1"])
    }

    @Test func `forms are encoded byte by byte`() {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        let texts = ["", "plain", "a b&c=d+e", String(decoding: Array<UInt8>(0...127), as: UTF8.self), "Füße 漢字 👩‍👩‍👧", String(repeating: "é", count: 5000)]
        for text in texts {
            let expected = text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
            #expect(String(decoding: FormEncoding.body([("n", text), ("", "")]), as: UTF8.self) == "n=\(expected)&=")
        }
        // Texts that Foundation keeps in two bytes a character.
        let bridged = NSString(string: "ü & x").appending("!")
        #expect(String(decoding: FormEncoding.body([("n", bridged)]), as: UTF8.self) == "n=%C3%BC%20%26%20x%21")
    }

    @Test func `no two values of the field x are the same`() throws {
        var first = CacheBuster(), second = CacheBuster(), values = Set<String>()
        for _ in 0..<5000 {
            for value in [first.next(), second.next()] {
                #expect(values.insert(value).inserted)
                #expect(value.utf8.count == 18 && value.hasPrefix("0.") && value.dropFirst(2).allSatisfy { $0.isASCII && $0.isNumber })
            }
        }
        // Spread over the whole range.
        let mean = values.compactMap { Double($0) }.reduce(0, +) / 10_000
        #expect(values.count == 10_000 && (0.45...0.55).contains(mean))
    }
}
