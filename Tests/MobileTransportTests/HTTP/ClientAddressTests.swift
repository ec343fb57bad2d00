import Testing

@testable import MobileServer

/// The client's address where a proxy forwards its requests.
@Suite struct ClientAddressTests {
    @Test(
        "the last address that no trusted proxy has is the client's; a client cannot choose it",
        arguments: [
            ("10.0.0.9", "1.2.3.4", "10.0.0.9"),  // no trusted proxy
            ("127.0.0.1", "1.2.3.4", "1.2.3.4"), ("127.0.0.1", "6.6.6.6, 1.2.3.4", "1.2.3.4"), ("127.0.0.1", "6.6.6.6,1.2.3.4, ::1", "1.2.3.4"),
            ("127.0.0.1", "2001:db8::1", "2001:db8::1"), ("127.0.0.1", "::1, 127.0.0.1", "::1"), ("127.0.0.1", "", "127.0.0.1"),
            ("127.0.0.1", "1.2.3.4, evil\u{1B}[2J", "127.0.0.1"), ("127.0.0.1", "1.2.3.4, ", "127.0.0.1"),
            ("127.0.0.1", "1.2.3.4, " + String(repeating: "1", count: 46), "127.0.0.1"), ("127.0.0.1", "unknown, ::1", "::1"),
        ])
    func forwarded(peer: String, header: String, expected: String) {
        #expect(ClientAddress.of(peer: peer, headers: ["x-forwarded-for": header], trusting: ["127.0.0.1", "::1"]) == expected)
        #expect(ClientAddress.of(peer: peer, headers: [:], trusting: ["127.0.0.1", "::1"]) == peer)
        #expect(ClientAddress.of(peer: peer, headers: ["x-forwarded-for": header], trusting: []) == peer)
    }
}
