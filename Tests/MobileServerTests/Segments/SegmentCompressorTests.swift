import Foundation
import MobileStore
import MobileZlib
import TestSupport
import Testing

@testable import MobileServer

/// The streams of segments, read by zlib.
@Suite(.runsOnce) struct SegmentCompressorTests {
    /// Row texts: words, and bytes that no compressor makes smaller.
    private static func rows(_ count: Int, _ random: inout SeededGenerator) -> [[UInt8]] {
        (0..<count).map { number in
            let noise = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 97...122, using: &random) }
            return Array("[\(number),\"".utf8) + noise + Array("\"]".utf8)
        }
    }

    /// Returns the text of a stream, by zlib.
    private static func inflated(_ stream: [UInt8], _ length: Int) throws -> [UInt8] {
        var text = [UInt8](repeating: 0, count: length + 1), count = uLongf(text.count)
        #expect(uncompress(&text, &count, stream, uLong(stream.count)) == Z_OK)
        return Array(text[..<Int(count)])
    }

    @Test("texts come back as they were, one after the other, in pieces of any length", arguments: [UInt64(1), 2, 3])
    func pieces(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let compressor = try SegmentCompressor()
        for count in [1, 0, 7, 4000, 2, 30_000] {
            let rows = Self.rows(count, &random)
            let text = Array("[".utf8) + rows.joined(separator: Array(",".utf8)) + Array("]".utf8)
            var place = 0
            while place < text.count {
                let end = min(text.count, place + [1, 3, 200, 16_383, 16_384, 70_000].randomElement(using: &random)!)
                try compressor.add(text[place..<end])
                place = end
            }
            let stream = try compressor.finish(), kept = stream
            #expect(try Inflated.rows(stream, columns: ["_sk", "text"]).count == count)
            #expect(try Self.inflated(stream, text.count) == text)
            // The next text takes the memory of this one only when no one has it.
            try compressor.add(Array("[]".utf8)[...])
            _ = try compressor.finish()
            #expect(stream == kept)
        }
    }

    @Test func `text that does not become smaller is complete as well`() throws {
        var random = SeededGenerator(seed: 9)
        let text = (0..<1_000_000).map { _ in UInt8.random(in: 0...255, using: &random) }, compressor = try SegmentCompressor()
        try compressor.add(text[...])
        let stream = try compressor.finish()
        #expect(stream.count >= text.count && stream.count < text.count + text.count / 50)
        #expect(try Self.inflated(stream, text.count) == text)
    }
}
