import MobileTransport
import Testing

@Suite struct FieldNameTests {
    @Test(
        "names of header fields are the same in either case of ASCII letters",
        arguments: [
            ("Set-Cookie", "set-cookie", true), ("", "", true), ("ETAG", "eTag", true), ("X[", "x{", false), ("X@", "x`", false), ("a", "ab", false),
            ("É", "é", false), ("K", "\u{212A}", false), ("Content-Type", "Content_Type", false),
        ])
    func sameName(first: String, second: String, isSame: Bool) {
        #expect(first.isField(second) == isSame)
        #expect(second.isField(first) == isSame)
        #expect((TransportResponse(status: 200, headers: [(first, "v")]).header(second) == "v") == isSame)
    }
}
