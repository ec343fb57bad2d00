internal import Foundation
internal import MobileStore

/// The key of a row in its back end, as one text: the key as JSON in one notation, so that equal keys have equal texts in every engine.
struct KeyText: Hashable, Sendable {
    let text: String

    init(text: String) { self.text = text }

    init(_ key: Value) { text = key.keyJSON.description }

    /// Takes a key as the exporter writes it: an integer has one notation only, and bytes are written as Base64.
    /// - Returns: nil for `null`.
    init?(exported json: String, _ type: JSONColumnType) throws {
        guard json.utf8.first != UInt8(ascii: "n") else { return nil }
        let value = type == .integer ? .null : try JSONValue(parsing: Array(json.utf8))
        if type == .blob, let bytes = value.string.flatMap({ Data(base64Encoded: $0) }) {
            self.init(.blob(Array(bytes)))
        } else {
            self.init(text: type == .integer ? json : value.description)
        }
    }

    /// Whether a key as the exporter writes it is in this one notation for sure: a number, or a string of letters, digits and some marks that no notation
    /// escapes.
    static func isKey(_ json: ArraySlice<UInt8>, _ type: JSONColumnType) -> Bool {
        guard let first = json.first, first != UInt8(ascii: "n"), type != .blob else { return false }
        if type == .integer { return true }
        guard first == UInt8(ascii: "\""), json.count > 1 else { return false }
        return json.dropFirst().dropLast().allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
            case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: " "): true
            default: false
            }
        }
    }

    /// By bytes, as the engines compare them: two texts that read alike are two keys.
    static func == (left: KeyText, right: KeyText) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

    /// The key as a value; nil for a text that is not one of a key.
    var value: Value? { (try? JSONValue(parsing: Array(text.utf8))).flatMap(Value.init(key:)) }
}
