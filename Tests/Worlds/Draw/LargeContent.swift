internal import TestSupport

/// The contents of large values. A world names each by its length and a checksum, as histories could not be read otherwise.
struct LargeContent: Sendable {
    let bytes: [UInt8]
    let name: String

    /// Values of no, few and many bytes, two of one length; the longest one is long enough to be seen among the bytes of a synchronization, and cannot be compressed.
    static let all: [LargeContent] = [0, 3, 2000, 70_000, 2000].enumerated().map { seed, count in
        var random = SeededGenerator(seed: UInt64(seed))
        return LargeContent((0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) })
    }

    static func named(_ name: String) -> LargeContent? { all.first { $0.name == name } }

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        // FNV-1a.
        let checksum = bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        name = "\(bytes.count) bytes \(String(checksum % 1_000_000))"
    }

    /// The number of bytes that a name says.
    static func count(_ name: String) -> Int { name.split(separator: " ").first.flatMap { Int($0) } ?? 0 }

    static func name(ofHexadecimal text: some StringProtocol) -> String {
        let digits = text.utf8.map { $0 <= UInt8(ascii: "9") ? $0 &- UInt8(ascii: "0") : ($0 | 0x20) &- UInt8(ascii: "a") &+ 10 }
        return LargeContent(stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }).name
    }

    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
