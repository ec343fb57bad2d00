import MobileStore
import Testing

@Suite struct JSONMessageTests {
    private static let text = #"{"header":{"pkg":"CRM:1.0","id":7},"content":{"rows":[[2,"two"]]}}"#

    private static func look(at message: JSONMessage) -> [String?] {
        [message.header["pkg"].string, message.header["id"].numberText, message.content["rows"][0][1].string]
    }

    @Test func `a message is a header and a content`() throws {
        let message = try JSONMessage(parsing: Array(Self.text.utf8))
        #expect(Self.look(at: message) == ["CRM:1.0", "7", "two"])
        #expect(try JSONMessage.messages(parsing: Array(Self.text.utf8)).map(Self.look) == [Self.look(at: message)])
        let two = try JSONMessage.messages(parsing: Array("[\(Self.text), \(Self.text)]".utf8))
        #expect(two.map(Self.look) == [Self.look(at: message), Self.look(at: message)])
        #expect(try JSONMessage.messages(parsing: Array("[]".utf8)).isEmpty)
    }

    @Test func `a content may be missing, or no object`() throws {
        #expect(try !JSONMessage(parsing: Array(#"{"header":{}}"#.utf8)).content.exists)
        #expect(try JSONMessage(parsing: Array(#"{"content":[3],"header":{}}"#.utf8)).content[0].integer == 3)
    }

    @Test func `what is written is what is read`() throws {
        let bytes = try JSONMessage.bytes(header: ["pkg": "CRM:1.0", "id": 7], content: ["rows": [[2, "two"]]])
        #expect(String(decoding: bytes, as: UTF8.self) == Self.text)
        let read = try JSONMessage(parsing: bytes)
        #expect(
            try JSONMessage.bytes(header: ["of": "another"]) { writer throws(StoreError) in try writer.value(read.content) }
                == Array(#"{"header":{"of":"another"},"content":{"rows":[[2,"two"]]}}"#.utf8))
        #expect(try JSONMessage.bytes(header: [:]) == Array(#"{"header":{},"content":{}}"#.utf8))
    }

    @Test func `a content is one value`() {
        let none = #expect(throws: StoreError.self) { try JSONMessage.bytes(header: [:]) { _ throws(StoreError) in } }
        #expect(none?.code == .misuse)
        let two = #expect(throws: StoreError.self) {
            try JSONMessage.bytes(header: [:]) { writer throws(StoreError) in
                try writer.value(1)
                try writer.value(2)
            }
        }
        #expect(two?.code == .misuse)
    }

    @Test("what is no message is refused", arguments: ["1", "[1]", "{}", #"{"header":1}"#, #"{"header":{},"body":{}}"#])
    func refused(text: String) {
        let error = #expect(throws: StoreError.self) { try JSONMessage.messages(parsing: Array(text.utf8)) }
        #expect(error?.code == .type)
    }

    @Test func `text behind the part that is looked at is checked as well`() {
        let text = #"{"header":{"pkg":"CRM:1.0"},"content":{"rows":[[2,tru]]}}"#
        let error = #expect(throws: StoreError.self) { try JSONMessage(parsing: Array(text.utf8)) }
        #expect(error?.code == .json && error?.byteOffset == 53)
    }
}
