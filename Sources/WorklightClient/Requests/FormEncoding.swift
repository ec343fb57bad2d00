internal import MobileStore

/// The text forms of the protocol: form bodies, random fields, and JSON in header fields.
enum FormEncoding {
    /// Returns fields as `application/x-www-form-urlencoded` in UTF-8.
    static func body(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            append(name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
        }
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    /// Returns a random decimal number in [0, 1) without an exponent, for the field `x`.
    static func cacheBuster() -> String {
        let digits = String(UInt64.random(in: 0..<10_000_000_000_000_000))
        return "0." + String(repeating: "0", count: 16 - digits.count) + digits
    }

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
