/// The fields of a form, in the query or the body. The last value of a name counts.
struct FormFields {
    private var values: [String: String?] = [:]

    /// Reads a body. Wrong escapes stay as they are, invalid UTF-8 is replaced: a request is never refused for them.
    init(_ body: [UInt8]) {
        for pair in body.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "="))
            let name = Self.decoded(pair[..<(equals ?? pair.endIndex)])
            values[name] = .some(equals.map { Self.decoded(pair[($0 + 1)...]) })
        }
    }

    /// Takes the fields of a query.
    init(_ query: [String: String]) { values = query.mapValues { .some($0) } }

    /// Whether a field is there, with any value or none.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The value of a field; nil if the field is missing, bare, empty, or has the text `null`: scripts write values that they do not have in these ways.
    func text(_ name: String) -> String? {
        guard let value = values[name] ?? nil, !value.isEmpty, value != "null" else { return nil }
        return value
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String {
        var bytes: [UInt8] = [], rest = text
        bytes.reserveCapacity(text.count)
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "+") {
                bytes.append(UInt8(ascii: " "))
            } else if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit), let low = rest.dropFirst().first.flatMap(digit) {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
