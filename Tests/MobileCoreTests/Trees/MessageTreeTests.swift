import Foundation
import MobileCore
import MobileCoreTrees
import MobileJansson
import TestSupport
import Testing

/// Messages as trees of jansson, by the rules of this reader.
@Suite struct MessageTreeTests {
    /// A tree, and the value of its root.
    private final class Tree {
        let root: UnsafeMutablePointer<json_t>

        init(_ text: some Collection<UInt8>, depth: UInt32 = 0, duplicates: mc_json_duplicates = MC_JSON_DUPLICATES_REFUSED) throws {
            var options = mc_message_options(depth: depth, duplicates: duplicates)
            let bytes = Array(text)
            var root: UnsafeMutablePointer<json_t>?
            do {
                try CoreError.check { mc_message_read_tree(bytes, bytes.count, &options, &root, $0) }
            } catch {
                #expect(root == nil)
                throw error
            }
            self.root = root!
        }

        convenience init(_ text: String, duplicates: mc_json_duplicates = MC_JSON_DUPLICATES_REFUSED) throws {
            try self.init(text.utf8, duplicates: duplicates)
        }

        deinit { json_decref(root) }

        func equals(_ other: UnsafeMutablePointer<json_t>) -> Bool { json_equal(root, other) == 1 }

        var count: Int { json_array_size(root) }
    }

    private func error(_ text: String, depth: UInt32 = 0) -> CoreError? {
        #expect(throws: CoreError.self) { _ = try Tree(text.utf8, depth: depth) }
    }

    /// The row scanner has its own parser of numbers and its own decoder of strings, with the same rules.
    @Test("a tree has the values that the row scanner finds in the same text", arguments: 0..<40 as Range<UInt64>)
    func scanner(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let width = 5
        let rows = (0..<40).map { _ in (0..<width).map { _ in value(&random, depth: 2) } }
        let text = "[" + rows.map { "[" + $0.joined(separator: ",") + "]" }.joined(separator: ",\n") + "]"
        let scan = Scan(text, columns: (0..<width).map { ScanColumn(name: "c\($0)") })
        #expect(scan.code == MC_OK, "\(scan.message)")
        let tree = try Tree(text)
        #expect(json_array_size(tree.root) == rows.count && scan.rows.count == rows.count)
        for (row, cells) in scan.rows.enumerated() {
            for (column, cell) in cells.enumerated() {
                let value = try #require(json_array_get(json_array_get(tree.root, row), column))
                #expect(try isEqual(value, cell), "\(rows[row][column])")
            }
        }
        withExtendedLifetime(tree) {}
    }

    private func isEqual(_ value: UnsafeMutablePointer<json_t>, _ cell: Cell) throws -> Bool {
        switch value.pointee.type {
        case JSON_NULL: return cell == .null
        case JSON_TRUE: return cell == .integer(1)
        case JSON_FALSE: return cell == .integer(0)
        case JSON_INTEGER: return cell == .integer(Int64(json_integer_value(value)))
        case JSON_REAL:
            if case .text(let digits) = cell { return Double(digits)?.bitPattern == json_real_value(value).bitPattern }
            guard case .real(let number) = cell else {
                return cell == .integer(0) && json_real_value(value).bitPattern == (-0.0).bitPattern  // a table does not store -0
            }
            return number.bitPattern == json_real_value(value).bitPattern
        case JSON_STRING:
            return cell
                == .text(String(decoding: UnsafeRawBufferPointer(start: json_string_value(value), count: json_string_length(value)), as: UTF8.self))
        default:  // the scanner keeps the text of arrays and objects
            guard case .text(let text) = cell else { return false }
            return try Tree(text).equals(value)
        }
    }

    private func value(_ random: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 12 : 9), using: &random) {
        case 0: return "null"
        case 1: return Bool.random(using: &random) ? "true" : "false"
        case 2: return "\(Int64.random(in: .min ... .max, using: &random))"
        case 3: return "\(Int.random(in: -100...100, using: &random))"
        case 4:
            return ["18446744073709551616", "-9223372036854775809", "-0", "9223372036854775807", "-9223372036854775808"].randomElement(
                using: &random)!
        case 5: return "\(Double.random(in: -1e6...1e6, using: &random))"
        case 6: return "\(Int.random(in: 0...99999, using: &random))e\(Int.random(in: -320...300, using: &random))"
        case 7: return ["0.1", "-0.0", "1e-400", "4.9e-324", "1.7976931348623157e308", "2.5e-1"].randomElement(using: &random)!
        case 8: return "\"" + (0..<Int.random(in: 0...20, using: &random)).map { _ in piece(&random) }.joined() + "\""
        case 9: return "[" + (0..<Int.random(in: 0...3, using: &random)).map { _ in value(&random, depth: depth - 1) }.joined(separator: ", ") + "]"
        default:
            return "{"
                + (0..<Int.random(in: 0...3, using: &random)).map {
                    "\"\(piece(&random).replacing("\\u0000", with: "0"))\($0)\":\(value(&random, depth: depth - 1))"
                }.joined(
                    separator: ",")
                + "}"
        }
    }

    private func piece(_ random: inout SeededGenerator) -> String {
        ["a", "word ", "ü", "東", "😀", "\\n", "\\\"", "\\u0000", "\\u00e9", "\\ud83d\\ude00", "\\/", "{", "]"].randomElement(using: &random)!
    }

    @Test func `numbers that jansson refuses are the nearest double, and what no double has is named by its byte`() throws {
        let tree = try Tree("[18446744073709551616,1e-400,-9223372036854775808]")
        #expect(json_array_get(tree.root, 0)?.pointee.type == JSON_REAL && json_real_value(json_array_get(tree.root, 0)) == 18446744073709551616)
        #expect(json_real_value(json_array_get(tree.root, 1)) == 0 && json_array_get(tree.root, 1)?.pointee.type == JSON_REAL)
        #expect(json_integer_value(json_array_get(tree.root, 2)) == .min)
        withExtendedLifetime(tree) {}
        let beyond = error("{\"a\": [1, -1e400]}")
        #expect(beyond?.code == MC_ERROR_LIMIT && beyond?.message == "JSON message, byte 10: a number beyond the largest double")
    }

    @Test func `a key that comes twice is refused, or its last value stays`() throws {
        #expect(error(#"{"a":1,"a":2}"#)?.code == MC_ERROR_JSON)
        let kept = try Tree(#"{"a":[1],"b":0,"a":{"c":2}}"#, duplicates: MC_JSON_DUPLICATES_KEPT)
        #expect(try Tree(#"{"a":{"c":2},"b":0}"#).equals(kept.root))
    }

    @Test func `a zero character is in strings, and refused in keys, which jansson compares up to it`() throws {
        let tree = try Tree(#"{"a":"\u0000c"}"#), value = json_object_get(tree.root, "a")
        #expect(json_string_length(value) == 2 && json_string_value(value)?[0] == 0 && json_string_value(value)?[1] == CChar(UInt8(ascii: "c")))
        withExtendedLifetime(tree) {}
        let refused = error(#"{"a":1,"a\u0000b":2}"#)
        #expect(refused?.code == MC_ERROR_TYPE && refused?.message == "JSON message, byte 7: a key with U+0000, which trees cannot compare")
    }

    @Test func `levels are counted as for a message`() throws {
        func nested(_ levels: Int) -> String { String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
        #expect(try Tree(nested(64)).count == 1)
        let deep = error(nested(65))
        #expect(deep?.code == MC_ERROR_LIMIT)
        #expect(try Tree(nested(1024).utf8, depth: 1024).count == 1)
        #expect(error("[1,]")?.code == MC_ERROR_JSON && error("[1")?.code == MC_ERROR_TRUNCATED)
    }

    @Test func `a tree outlives its message and its bytes`() throws {
        var tree: UnsafeMutablePointer<json_t>?
        try {
            let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 32)
            let length = bytes.update(fromContentsOf: #"[0,{"key":"some \u0041 text"}]"#.utf8)
            var message: OpaquePointer?
            try CoreError.check { mc_message_read(bytes.baseAddress!, length, nil, &message, $0) }
            try CoreError.check { mc_message_tree(message!, 2, &tree, $0) }
            mc_message_free(message)
            bytes.update(repeating: 0xFF)
            bytes.deallocate()
        }()
        #expect(json_string_value(json_object_get(tree, "key")).map { String(cString: $0) } == "some A text")
        json_decref(tree)
    }

    @Test func `a tree has every value where it stands`() throws {
        let text = #"{"a":[[1],{"b":null,"c":true,"d":false,"e":"\u0000é"},[],{},-2.5,[[["deep"]],3]],"f":{"g":[]},"h":9223372036854775807}"#
        let tree = try Tree(text)
        let dumped = try #require(json_dumps(tree.root, 0x20 | 0x80))  // compact, in the order of the text
        #expect(String(cString: dumped) == text)
        free(dumped)
    }

    @Test func `a failure is named completely, and makes no tree`() throws {
        var message: OpaquePointer?, tree: UnsafeMutablePointer<json_t>?
        let text = Array(#"[1,{"a":[1e400]}]"#.utf8)
        try CoreError.check { mc_message_read(text, text.count, nil, &message, $0) }
        defer { mc_message_free(message) }
        var error = mc_error()
        error.row = 7
        #expect(mc_message_tree(message!, 0, &tree, &error) == MC_ERROR_LIMIT)
        #expect(error.byte_offset == 9 && error.row == 0 && error.sqlite_code == 0 && error.code == MC_ERROR_LIMIT && tree == nil)
        #expect(mc_message_tree(message!, 99, &tree, &error) == MC_ERROR_MISUSE)
        #expect(error.byte_offset == -1 && CoreError(error).message == "JSON message: there is no node 99 of 6")
        #expect(mc_message_tree(message!, 0, &tree, nil) == MC_ERROR_LIMIT)
    }
}
