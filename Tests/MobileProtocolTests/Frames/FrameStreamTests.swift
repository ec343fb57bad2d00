import MobileProtocol
import MobileStore
import Testing

/// Valid frame streams.
@Suite struct FrameStreamTests {
    @Test("a stream reads back as it was written, in chunks of every size", arguments: [FrameDirection.upload, .download])
    func everyChunkSize(direction: FrameDirection) throws {
        let bytes = try Samples.bytes(direction)
        for size in 1...bytes.count {
            #expect(try Samples.read(bytes, direction, chunk: size) == Samples.contents(direction))
        }
    }

    @Test("a stream that ends anywhere before its end is truncated, at that byte", arguments: [FrameDirection.upload, .download])
    func everyTruncation(direction: FrameDirection) throws {
        let bytes = try Samples.bytes(direction)
        for length in 0..<bytes.count {
            let error = #expect(throws: ProtocolError.self) {
                _ = try Samples.read(Array(bytes.prefix(length)), direction, chunk: 1000)
            }
            #expect(error?.code == .truncated)
            #expect(error?.byteOffset == Int64(length))
        }
    }

    @Test("frames know where they lie")
    func offsets() throws {
        var reader = FrameReader(.download)
        try reader.push(Samples.bytes(.download))
        var end: Int64 = 0
        while let frame = try reader.next() {
            #expect(frame.offset == end)
            end += Int64(try Samples.frame("D", "").count + payloadLength(frame.content))
        }
        #expect(reader.isEnded)
        try reader.finish()
    }

    private func payloadLength(_ content: FrameContent) throws -> Int {
        switch content {
        case .data(let bytes): bytes.count
        case .wait, .streamEnd: 0
        case .answer(let value): value.bytes.count
        case .table(let value): value.bytes.count
        case .segment(let value): value.bytes.count
        case .largeValue(let value): value.bytes.count
        case .partEnd(let value): value.bytes.count
        case .groupEnd(let value): value.bytes.count
        case .keyRange(let value): value.bytes.count
        case .replayResults(let values): JSONValue.array(values.map(\.json)).bytes.count
        case .logRecords(let values): JSONValue.array(values.map(\.json)).bytes.count
        default: throw Unexpected()
        }
    }

    private struct Unexpected: Error {}

    @Test("a frame's bytes are type, flags, two reserved bytes, length in network order, payload")
    func layout() throws {
        let bytes = try Samples.bytes(of: [.answer(SynchronizeAnswer(package: "P:1")), .streamEnd], .download)
        let payload = Array(#"{"version":2,"pkg":"P:1","groups":[],"operations":0}"#.utf8)
        #expect(bytes == [0x48, 0, 0, 0, 0, 0, 0, UInt8(payload.count)] + payload + [0x5A, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test("data longer than a frame goes in several; no data and empty lists go in none")
    func splitting() throws {
        let long = [UInt8](repeating: 7, count: ProtocolLimit.framePayload * 2 + 1)
        let part = LargeValuePart(object: "P", attribute: "a", owner: .row(key: 1), length: Int64(long.count))
        let bytes = try Samples.bytes(
            of: [
                .answer(SynchronizeAnswer(package: "P:1")), .logRecords([]), .largeValue(part), .data([]), .data(long),
                .partEnd(.bytes(part.length ?? 0)), .groupEnd(GroupEnd(group: "g", token: Samples.token)), .replayResults([]), .streamEnd,
            ], .download)
        let contents = try Samples.read(bytes, .download, chunk: 100_000)
        let pieces = contents.compactMap { if case .data(let bytes) = $0 { bytes } else { nil } }
        #expect(pieces.map(\.count) == [ProtocolLimit.framePayload, ProtocolLimit.framePayload, 1])
        #expect(contents.map(\.type) == [.header, .largeValue, .data, .data, .data, .partEnd, .groupEnd, .streamEnd])
    }

    @Test("results that do not fit into one frame go in several, none lost and in order")
    func longLists() throws {
        let results = (1...20_000).map {
            ReplayResult(id: $0, outcome: .rejected, code: 412, message: "the back end refused operation number \($0)", object: "Customer", key: -$0)
        }
        let bytes = try Samples.bytes(
            of: [.answer(SynchronizeAnswer(package: "P:1")), .replayResults(results), .streamEnd], .download)
        let lists = try Samples.read(bytes, .download, chunk: 65_536).compactMap { content -> [ReplayResult]? in
            if case .replayResults(let list) = content { list } else { nil }
        }
        #expect(lists.count > 1)
        #expect(lists.flatMap { $0 } == results)
    }

    @Test("an error may end a download wherever a frame may begin")
    func failureEndsDownload() throws {
        for count in 0..<Samples.download.count - 1 {
            let contents = Array(Samples.download.prefix(count)) + [.failure(ProtocolFailure(code: 503, message: "back end down"))]
            let bytes = try Samples.bytes(of: contents, .download)
            #expect(try Samples.read(bytes, .download, chunk: 50) == contents)
        }
    }

    @Test("the reader asks for its frames to be taken before it takes more than one in advance")
    func bounded() throws {
        var reader = FrameReader(.download)
        try reader.push(Samples.frame("H", "", length: 1 << 20))
        try reader.push([UInt8](repeating: 32, count: (1 << 20) + 1))
        let error = #expect(throws: ProtocolError.self) { try reader.push([1]) }
        #expect(error?.code == .misuse)
    }
}
