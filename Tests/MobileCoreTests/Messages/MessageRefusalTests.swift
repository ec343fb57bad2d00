import FaultInjection
import Foundation
import MobileCore
import Testing

/// The refusals of a message.
@Suite struct MessageRefusalTests {
    /// A message and the text that contains its strings.
    private final class Message {
        private let text: UnsafeMutableBufferPointer<UInt8>
        private(set) var handle: OpaquePointer!

        init(_ text: String, depth: UInt32 = 0) throws {
            self.text = .allocate(capacity: text.utf8.count)
            _ = self.text.initialize(from: text.utf8)
            var options = mc_message_options(depth: depth, duplicates: MC_JSON_DUPLICATES_REFUSED)
            try CoreError.check { mc_message_read(self.text.baseAddress!, self.text.count, &options, &handle, $0) }
        }

        deinit {
            mc_message_free(handle)
            text.deallocate()
        }
    }

    @Test("a key that occurs twice is named where it occurs again", arguments: [1, 7, 8, 30])
    func twice(others: Int) throws {
        let long = String(repeating: "k", count: 100)
        let keys = (0..<others).map { "\"x\($0)\":1" }
        for twice in [
            ["\"\(long)\":0"] + keys + ["\"\(long)\":1", "\"\(long)\":2"], keys + ["\"b\":1", "\"a\":1", "\"b\":2", "\"a\":2", "\"b\":3"],
        ] {
            let text = "{" + twice.joined(separator: ",") + "}"
            let error = #expect(throws: CoreError.self) { _ = try Message(text) }
            #expect(error?.code == MC_ERROR_JSON && error?.message.contains("occurs twice in one object") == true)
            let key = twice.contains("\"b\":1") ? "\"b\"" : "\"\(long)\""
            let first = try #require(text.range(of: key))
            let second = try #require(text.range(of: key, range: first.upperBound..<text.endIndex))
            #expect(
                error?.message.contains("byte \(text.utf8.distance(from: text.startIndex, to: second.lowerBound)):") == true,
                "\(error?.message ?? "")")
        }
    }

    @Test func `limits are checked before a byte is read, and what is not there is not found`() throws {
        #expect(#expect(throws: CoreError.self) { try Message("1", depth: UInt32(MC_JSON_DEPTH_LIMIT) + 1) }?.code == MC_ERROR_MISUSE)
        var none: OpaquePointer?
        #expect(mc_message_read("1", Int(UInt32.max), nil, &none, nil) == MC_ERROR_LIMIT)
        let kept = try Message(#"{"a":[1],"b\b\r\f\/":2}"#), message: OpaquePointer = kept.handle
        #expect(
            mc_message_member(message, 99, "a", 1) == 0 && mc_message_member(message, 0, "b", 1) == 0 && mc_message_member(message, 0, "a", 1) == 2)
        #expect(mc_message_element(message, 99, 0) == 0 && mc_message_element(message, 2, 1) == 0 && mc_message_element(message, 2, 0) == 3)
        #expect(mc_message_member(message, 0, "b\u{8}\r\u{C}/", 5) == 5)
        #expect(mc_message_element(message, 0, 0) == 0 && mc_message_member(message, 2, "a", 1) == 0)
        withExtendedLifetime(kept) {}
        var number = 0.0
        #expect(
            !mc_json_text_to_double("", 0, &number) && !mc_json_text_to_double("1x", 2, &number) && mc_json_text_to_double("1e2", 3, &number)
                && number == 100)
    }

    @Test(
        "without memory for any one node there is no message",
        arguments: ["[\(String(repeating: "1,", count: 40))1]", "[\(String(repeating: "null,", count: 40))1]"])
    func memory(text: String) throws {
        let lost = leftOver {
            for allocation in Int64(0)... {
                var message: OpaquePointer?
                fault_memory_fail_after(allocation, false)
                let status = mc_message_read(text, text.utf8.count, nil, &message, nil)
                let hasFailed = fault_memory_has_failed()
                fault_memory_fail_after(-1, false)
                #expect(status == (hasFailed ? MC_ERROR_NO_MEMORY : MC_OK))
                mc_message_free(message)
                if !hasFailed { break }
            }
        }
        #expect(lost == 0)
    }
}
