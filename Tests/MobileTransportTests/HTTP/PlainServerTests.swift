import MobileTransport
import TestSupport
import Testing

/// A server without TLS, reached by https. It answers in HTTP, or closes the connection before it has answered at all.
@Suite struct PlainServerTests {
    @Test(
        "https at a server without TLS says what to do, whether the server answers or closes",
        arguments: [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", "the server does not speak TLS on this port: use http, or the port of its https"),
            (
                "",
                "the server closed the connection where TLS begins; most probably it does not speak TLS on this port: use http, or the port of its https ("
            ),
        ])
    func message(answer: String, sentence: String) throws {
        let listener = try RawListener(answering: answer)
        let error = #expect(throws: TransportError.self) {
            _ = try HTTPTransport().send(TransportRequest(url: "https://127.0.0.1:\(listener.port)/"))
        }
        #expect(error?.code == .tls && error?.message.contains(sentence) == true, "\(error?.message ?? "")")
    }
}
