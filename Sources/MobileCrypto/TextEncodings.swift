extension Collection<UInt8> {
    /// The bytes in hexadecimal, lower case.
    public var hexadecimal: String { Hexadecimal.text(of: Array(self)) }

    /// The bytes in base64url without padding (RFC 4648, section 5).
    public var base64URL: String {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        text.reserveCapacity((count * 4 + 2) / 3)
        var (bits, bitCount) = (0, 0)
        for byte in self {
            bits = (bits << 8 | Int(byte)) & 0xFFFF
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(alphabet[bits >> bitCount & 63])
            }
        }
        if bitCount > 0 { text.append(alphabet[bits << (6 - bitCount) & 63]) }
        return String(decoding: text, as: UTF8.self)
    }
}

extension Array<UInt8> {
    /// Decodes a hexadecimal text in either case; nil if it is not valid.
    public init?(hexadecimal text: some StringProtocol) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = Self.hexadecimalValue(digits[index]), let low = Self.hexadecimalValue(digits[index + 1]) else { return nil }
            append(high << 4 | low)
        }
    }

    private static func hexadecimalValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Decodes a base64url text without padding; nil if it is not valid, also if unused bits are not 0.
    public init?(base64URL text: some StringProtocol) {
        self = []
        var (bits, bitCount) = (0, 0)
        for digit in text.utf8 {
            guard let value = Self.base64URLValue(digit) else { return nil }
            bits = (bits << 6 | value) & 0xFFFF
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                append(UInt8(truncatingIfNeeded: bits >> bitCount))
            }
        }
        guard bitCount < 6, bits & ((1 << bitCount) - 1) == 0 else { return nil }
    }

    private static func base64URLValue(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): Int(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): Int(digit) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit) - 48 + 52
        case UInt8(ascii: "-"): 62
        case UInt8(ascii: "_"): 63
        default: nil
        }
    }
}

/// Not generic: in another module, the generic form would not be specialized.
private enum Hexadecimal {
    static func text(of bytes: [UInt8]) -> String {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digit(byte >> 4))
            text.append(digit(byte & 15))
        }
        return String(decoding: text, as: UTF8.self)
    }
}
