import MobileProtocol
import MobileStore
import TestSupport
import Testing

/// Frame streams from a hostile or faulty sender.
@Suite struct HostileFrameTests {
    static let answer = #"{"version":2,"pkg":"P:1"}"#
    static let header = #"{"version":2,"cid":"c","pkg":"P:1"}"#
    static let operation = #"{"id":5,"mbo":"C","change":"U","key":1}"#
    static let table = #"{"object":"C","columns":["_sk"],"mode":"upsert","compression":"none"}"#
    static func value(_ length: String, _ owner: String = #""key":1"#) -> String {
        #"{"object":"C","attribute":"a",\#(owner),"length":\#(length),"compression":"none"}"#
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let direction: FrameDirection
        let bytes: [UInt8]
        let code: ProtocolError.Code
        /// The number of bytes from the start of the last frame.
        let offset: Int

        init(
            _ name: String, _ direction: FrameDirection, _ before: [(Character, String)], _ last: [UInt8], _ code: ProtocolError.Code,
            at offset: Int
        ) {
            testDescription = name
            self.direction = direction
            let start = before.flatMap { Samples.frame($0.0, $0.1) }
            bytes = start + last
            self.code = code
            self.offset = start.count + offset
        }
    }

    static let framing: [Case] = [
        Case("unknown type", .download, [], Samples.frame("h", answer), .malformedFrame, at: 0),
        Case("type 0", .upload, [], [0], .malformedFrame, at: 0),
        Case("flags", .download, [], Samples.frame("H", answer, flags: 1), .malformedFrame, at: 1),
        Case("reserved bytes", .download, [], Samples.frame("H", answer, reserved: 1), .malformedFrame, at: 1),
        Case("length above the limit", .download, [], Samples.frame("H", "", length: (1 << 20) + 1), .limitExceeded, at: 4),
        Case("greatest length", .upload, [], Samples.frame("H", "", length: .max), .limitExceeded, at: 4),
        Case("empty header", .download, [], Samples.frame("H", ""), .malformedFrame, at: 4),
        Case("empty data", .download, [("H", answer), ("T", table)], Samples.frame("D", ""), .malformedFrame, at: 4),
        Case("end with payload", .download, [("H", answer)], Samples.frame("Z", "x"), .malformedFrame, at: 4),
        Case("bytes behind the end", .download, [("H", answer), ("Z", "")], [1], .trailingBytes, at: 0),
        Case("a frame behind an error", .download, [("X", #"{"code":500}"#)], Samples.frame("Z", ""), .trailingBytes, at: 0),
    ]

    static let order: [Case] = [
        Case("no header", .download, [], Samples.frame("Z", ""), .malformedFrame, at: 0),
        Case("two headers", .download, [("H", answer)], Samples.frame("H", answer), .malformedFrame, at: 0),
        Case("an error up", .upload, [], Samples.frame("X", #"{"code":500}"#), .malformedFrame, at: 0),
        Case("an operation down", .download, [("H", answer)], Samples.frame("O", operation), .malformedFrame, at: 0),
        Case("log records behind an operation", .upload, [("H", header), ("O", operation)], Samples.frame("L", "[]"), .malformedFrame, at: 0),
        Case("rows up", .upload, [("H", header)], Samples.frame("T", table), .malformedFrame, at: 0),
        Case("value without operation", .upload, [("H", header)], Samples.frame("V", value("1", #""operation":5"#)), .malformedFrame, at: 0),
        Case("data outside of a part", .download, [("H", answer)], Samples.frame("D", "x"), .malformedFrame, at: 0),
        Case("part in a part", .download, [("H", answer), ("T", table)], Samples.frame("T", table), .malformedFrame, at: 0),
        Case("group not ended", .download, [("H", answer), ("T", table), ("E", #"{"rows":0}"#)], Samples.frame("Z", ""), .malformedFrame, at: 0),
        Case(
            "results in a group", .download, [("H", answer), ("T", table), ("E", #"{"rows":0}"#)], Samples.frame("R", "[]"), .malformedFrame, at: 0),
        Case("group behind results", .download, [("H", answer), ("R", "[]")], Samples.frame("T", table), .malformedFrame, at: 0),
        Case("keys behind results", .download, [("H", answer), ("R", "[]")], Samples.frame("K", #"{"first":1,"last":2}"#), .malformedFrame, at: 0),
    ]

    static let content: [Case] = [
        Case("no JSON", .download, [], Samples.frame("H", #"{"version":2,]"#), .invalidJSON, at: 8 + 13),
        Case("half of JSON", .download, [], Samples.frame("H", #"{"version":2"#), .invalidJSON, at: 8 + 12),
        Case("other version", .upload, [], Samples.frame("H", #"{"version":3,"cid":"c","pkg":"P:1"}"#), .unsupportedVersion, at: 8),
        Case("earlier version", .upload, [], Samples.frame("H", #"{"version":1,"cid":"c","pkg":"P:1"}"#), .outdatedVersion, at: 8),
        Case("no client", .upload, [], Samples.frame("H", #"{"version":2,"pkg":"P:1"}"#), .invalidContent, at: 8),
        Case("wrong type", .upload, [], Samples.frame("H", #"{"version":2,"cid":5,"pkg":"P:1"}"#), .invalidContent, at: 8),
        Case("token is no object", .upload, [], Samples.frame("H", #"{"version":2,"cid":"c","pkg":"P","tokens":{"g":1}}"#), .invalidContent, at: 8),
        Case("array for object", .download, [], Samples.frame("H", "[]"), .invalidContent, at: 8),
        Case("unknown change", .upload, [("H", header)], Samples.frame("O", #"{"id":5,"mbo":"C","change":"Q","key":1}"#), .invalidContent, at: 8),
        Case("id 0", .upload, [("H", header)], Samples.frame("O", #"{"id":0,"mbo":"C","change":"U","key":1}"#), .invalidContent, at: 8),
        Case("id with fraction", .upload, [("H", header)], Samples.frame("O", #"{"id":5.5,"mbo":"C","change":"U","key":1}"#), .invalidContent, at: 8),
        Case(
            "id beyond 64 bits", .upload, [("H", header)], Samples.frame("O", #"{"id":99999999999999999999,"mbo":"C","change":"U","key":1}"#),
            .invalidContent, at: 8),
        Case(
            "batch behind its operation", .upload, [("H", header)], Samples.frame("O", #"{"id":5,"batch":6,"mbo":"C","change":"U","key":1}"#),
            .invalidContent, at: 8),
        Case(
            "reference is text", .upload, [("H", header)], Samples.frame("O", #"{"id":5,"mbo":"C","change":"U","key":1,"refs":{"a":"1"}}"#),
            .invalidContent, at: 8),
        Case("nameless operation", .upload, [("H", header)], Samples.frame("O", #"{"id":5,"mbo":"C","change":"O","key":1}"#), .invalidContent, at: 8),
        Case("id repeated", .upload, [("H", header), ("O", operation)], Samples.frame("O", operation), .invalidContent, at: 0),
        Case(
            "batch that has ended", .upload, [("H", header), ("O", operation)],
            Samples.frame("O", #"{"id":6,"batch":4,"mbo":"C","change":"U","key":1}"#), .invalidContent, at: 0),
        Case(
            "value of another operation", .upload, [("H", header), ("O", operation)], Samples.frame("V", value("1", #""operation":4"#)),
            .invalidContent, at: 0),
        Case("value of a row, up", .upload, [("H", header), ("O", operation)], Samples.frame("V", value("1")), .invalidContent, at: 0),
        Case("value of both", .download, [("H", answer)], Samples.frame("V", value("1", #""key":1,"operation":4"#)), .invalidContent, at: 8),
        Case("negative length", .download, [("H", answer)], Samples.frame("V", value("-1")), .invalidContent, at: 8),
        Case("more than announced", .download, [("H", answer), ("V", value("3")), ("D", "ab")], Samples.frame("D", "cd"), .invalidContent, at: 0),
        Case(
            "less than announced", .download, [("H", answer), ("V", value("3")), ("D", "ab")], Samples.frame("E", #"{"bytes":3}"#), .invalidContent,
            at: 0),
        Case("data of NULL", .download, [("H", answer), ("V", value("null"))], Samples.frame("D", "a"), .invalidContent, at: 0),
        Case("rows end a value", .download, [("H", answer), ("V", value("0"))], Samples.frame("E", #"{"rows":0}"#), .invalidContent, at: 0),
        Case("bytes end rows", .download, [("H", answer), ("T", table)], Samples.frame("E", #"{"bytes":0}"#), .invalidContent, at: 0),
        Case(
            "data of a reset", .download, [("H", answer), ("T", table.replacing("upsert", with: "reset"))], Samples.frame("D", "[]"), .invalidContent,
            at: 0),
        Case(
            "column twice", .download, [("H", answer)],
            Samples.frame("T", #"{"object":"C","columns":["a","a"],"mode":"upsert","compression":"none"}"#), .invalidContent, at: 8),
        Case(
            "no column", .download, [("H", answer)], Samples.frame("T", #"{"object":"C","columns":[],"mode":"upsert","compression":"none"}"#),
            .invalidContent, at: 8),
        Case(
            "unknown compression", .download, [("H", answer)],
            Samples.frame("T", #"{"object":"C","columns":["a"],"mode":"upsert","compression":"lzma"}"#), .invalidContent, at: 8),
        Case("range backwards", .download, [("H", answer)], Samples.frame("K", #"{"first":5,"last":4}"#), .invalidContent, at: 8),
        Case("results are no array", .download, [("H", answer)], Samples.frame("R", "{}"), .invalidContent, at: 8),
        Case("level 8", .download, [("H", answer)], Samples.frame("L", #"[{"code":1,"message":"m","level":8}]"#), .invalidContent, at: 8),
    ]

    @Test("a hostile stream is refused with its reason and its byte, however it is cut", arguments: framing + order + content)
    func refused(hostile: Case) {
        for size in [1, 7, hostile.bytes.count] {
            let error = #expect(throws: ProtocolError.self) { _ = try Samples.read(hostile.bytes, hostile.direction, chunk: size) }
            #expect(error?.code == hostile.code)
            #expect(error?.byteOffset == Int64(hostile.offset))
        }
    }

    @Test("text that is not UTF-8 is refused")
    func notUTF8() throws {
        let bytes: [UInt8] = Array("{\"cid\":\"".utf8) + [0xFF] + Array("\"}".utf8)
        let header = [0x48, 0, 0, 0, 0, 0, 0, UInt8(bytes.count)]
        let error = #expect(throws: ProtocolError.self) { _ = try Samples.read(header + bytes, .upload, chunk: 3) }
        #expect(error?.code == .invalidJSON)
        #expect(error?.byteOffset == 16)
    }

    @Test("a reader that has refused a stream stays with its answer")
    func errorStays() throws {
        var reader = FrameReader(.download)
        try reader.push(Samples.frame("Q", "x"))
        let first = #expect(throws: ProtocolError.self) { _ = try reader.next() }
        try reader.push(Samples.bytes(.download))
        let second = #expect(throws: ProtocolError.self) { _ = try reader.next() }
        let third = #expect(throws: ProtocolError.self) { try reader.finish() }
        #expect(first?.message == second?.message)
        #expect(first?.message == third?.message)
    }

    @Test("a writer refuses what a reader would refuse, and writes nothing of it")
    func writerChecks() throws {
        var writer = FrameWriter(.upload)
        let wrongPlace = #expect(throws: ProtocolError.self) { try writer.write(.streamEnd) }
        #expect(wrongPlace?.code == .malformedFrame)
        #expect(writer.bufferedCount == 0)
        try writer.write(Samples.upload[0])
        let before = writer.bufferedCount
        let tooLong = OperationFrame(id: 1, object: "C", change: .update, key: 1, attributes: ["a": .string(String(repeating: "x", count: 1 << 20))])
        let limit = #expect(throws: ProtocolError.self) { try writer.write(.operation(tooLong)) }
        #expect(limit?.code == .limitExceeded)
        #expect(limit?.message.contains("xxx") == false)
        #expect(writer.bufferedCount == before)
        try writer.write(.streamEnd)
        let ended = #expect(throws: ProtocolError.self) { try writer.write(.streamEnd) }
        #expect(ended?.code == .trailingBytes)
    }

    @Test("random changes of a stream give a stream or an error, never more", arguments: [FrameDirection.upload, .download])
    func mutations(direction: FrameDirection) throws {
        let original = try Samples.bytes(direction)
        var random = SeededGenerator(seed: direction == .upload ? 1 : 2)
        var outcomes: [String: Int] = [:]
        for _ in 0..<3000 {
            var bytes = original
            for _ in 0...Int.random(in: 0..<4, using: &random) { mutate(&bytes, &random) }
            do {
                let contents = try Samples.read(bytes, direction, chunk: .random(in: 1...2000, using: &random))
                // Contents that were read can be written, and are read in the same way again.
                let again = try Samples.read(Samples.bytes(of: contents, direction), direction, chunk: 4096)
                #expect(again == contents)
                outcomes["read", default: 0] += 1
            } catch let error as ProtocolError {
                let offset = try #require(error.byteOffset)
                #expect(offset >= 0 && offset <= Int64(bytes.count))
                outcomes[error.code.rawValue, default: 0] += 1
            }
        }
        #expect(outcomes.count >= 5)
    }

    private func mutate(_ bytes: inout [UInt8], _ random: inout SeededGenerator) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<6, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 2: bytes.remove(at: place)
        case 3: bytes.insert(.random(in: 0...255, using: &random), at: place)
        case 4: bytes.insert(contentsOf: bytes[place..<min(place + 60, bytes.count)], at: .random(in: 0...bytes.count, using: &random))
        default: if place > 0 { bytes.removeLast(bytes.count - place) }
        }
        if bytes.isEmpty { bytes = [0] }
    }
}
