internal import MobileStore

/// The text forms of the protocol: form bodies, the field `x`, and JSON in header fields.
enum FormEncoding {
    /// Returns fields as `application/x-www-form-urlencoded` in UTF-8.
    static func body(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count + 16 })
        for (name, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        let text = text.utf8Span.span
        for index in text.indices {
            let byte = text[index]
            if isPlain(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(hexDigits[Int(byte >> 4)])
                bytes.append(hexDigits[Int(byte & 15)])
            }
        }
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Returns JSON as one line of ASCII: a header field can carry nothing else.
    static func ascii(_ value: JSONValue) -> String {
        var text = ""
        for unit in String(decoding: value.bytes, as: UTF8.self).utf16 {
            if (0x20..<0x7F).contains(unit) {
                text.unicodeScalars.append(Unicode.Scalar(UInt8(unit)))
            } else {
                let hex = String(unit, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - hex.count) + hex
            }
        }
        return text
    }
}

/// The values of the field `x`, which keep caches on the way from answering: decimal numbers in [0, 1) without an exponent. They need not be
/// hard to guess, so one random number of the system begins a whole sequence (SplitMix64).
struct CacheBuster {
    private var state = UInt64.random(in: 0 ... .max)

    mutating func next() -> String {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        // With a one before the 16 digits, no zero at their beginning is lost.
        let number: UInt64 = 10_000_000_000_000_000
        return "0." + String(number + (mixed ^ (mixed >> 31)) % number).dropFirst()
    }
}
