import FaultInjection
import MobileCore
import Testing

/// The core's writer of JSON text.
@Suite struct JSONWriterTests {
    private final class Writer {
        let writer: OpaquePointer

        init(maximum: Int = 0, depth: UInt32 = 0) throws {
            var made: OpaquePointer?
            var options = mc_json_writer_options(sink: nil, context: nil, maximum: maximum, depth: depth)
            try CoreError.check { mc_json_writer_open(&options, &made, $0) }
            writer = made!
        }

        deinit { mc_json_writer_free(writer) }

        var text: String {
            var length = 0
            let start = mc_json_writer_text(writer, &length)
            return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
        }
    }

    private func write(_ writer: Writer, _ call: (OpaquePointer, UnsafeMutablePointer<mc_error>) -> mc_status) throws {
        try CoreError.check { call(writer.writer, $0) }
    }

    @Test func `values of every kind stand where they belong`() throws {
        let writer = try Writer()
        try write(writer) { mc_json_write_begin_object($0, $1) }
        try write(writer) { mc_json_write_key($0, "a\n", 2, $1) }
        try write(writer) { mc_json_write_begin_array($0, $1) }
        try write(writer) { mc_json_write_integer($0, .min, $1) }
        try write(writer) { mc_json_write_integer($0, .max, $1) }
        try write(writer) { mc_json_write_integer($0, 0, $1) }
        try write(writer) { mc_json_write_integer($0, -105, $1) }
        try write(writer) { mc_json_write_double($0, 0.1, $1) }
        try write(writer) { mc_json_write_number($0, "12.340", 6, $1) }
        try write(writer) { mc_json_write_boolean($0, true, $1) }
        try write(writer) { mc_json_write_boolean($0, false, $1) }
        try write(writer) { mc_json_write_null($0, $1) }
        try write(writer) { mc_json_write_string($0, "\"ü\u{1}", 4, $1) }
        try write(writer) { mc_json_write_begin_object($0, $1) }
        for _ in 0..<3 { try write(writer) { mc_json_write_end($0, $1) } }
        try write(writer) { mc_json_writer_finish($0, $1) }
        #expect(writer.text == #"{"a\n":[-9223372036854775808,9223372036854775807,0,-105,0.1,12.340,true,false,null,"\"ü\u0001",{}]}"#)
    }

    @Test(
        "what is not JSON cannot be written",
        arguments: [
            ("vv", MC_ERROR_MISUSE), ("{v", MC_ERROR_MISUSE), ("[k", MC_ERROR_MISUSE), ("k", MC_ERROR_MISUSE), ("{kk", MC_ERROR_MISUSE),
            ("{ke", MC_ERROR_MISUSE), ("e", MC_ERROR_MISUSE), ("[f", MC_ERROR_MISUSE), ("f", MC_ERROR_MISUSE), ("i", MC_ERROR_TYPE),
            ("n", MC_ERROR_TYPE), ("s", MC_ERROR_CORRUPT), ("{s", MC_ERROR_MISUSE), ("{c", MC_ERROR_CORRUPT), ("[[[[", MC_ERROR_LIMIT),
            ("[l", MC_ERROR_LIMIT), ("[d", MC_ERROR_LIMIT), ("b", MC_ERROR_CORRUPT),
        ])
    func refused(pieces: String, code: mc_status) throws {
        let writer = try Writer(maximum: 1000, depth: 3)
        var status = MC_OK
        for piece in pieces {
            #expect(status == MC_OK)
            switch piece {
            case "{": status = mc_json_write_begin_object(writer.writer, nil)
            case "[": status = mc_json_write_begin_array(writer.writer, nil)
            case "k": status = mc_json_write_key(writer.writer, "k", 1, nil)
            case "c": status = mc_json_write_key(writer.writer, "\u{FF}", 1, nil)
            case "e": status = mc_json_write_end(writer.writer, nil)
            case "f": status = mc_json_writer_finish(writer.writer, nil)
            case "i": status = mc_json_write_double(writer.writer, .infinity, nil)
            case "n": status = mc_json_write_number(writer.writer, "1.", 2, nil)
            case "s": status = mc_json_write_string(writer.writer, "\u{FC}", 1, nil)
            case "l": status = mc_json_write_string(writer.writer, String(repeating: "x", count: 1000), 1000, nil)
            case "d": status = mc_json_write_number(writer.writer, String(repeating: "1", count: 20_000), 20_000, nil)
            case "b": status = mc_json_write_string(writer.writer, [CChar](repeating: -128, count: 3000), 3000, nil)
            default: status = mc_json_write_null(writer.writer, nil)
            }
        }
        #expect(status == code)
        #expect(mc_json_write_double(writer.writer, 1.5, nil) == code)
        #expect(mc_json_write_null(writer.writer, nil) == code)
        #expect(mc_json_writer_finish(writer.writer, nil) == code)
    }
}
