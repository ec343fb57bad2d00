internal import MobileStore

/// The key of a row in its back end, as one text: the key as JSON in one notation, so that equal keys have equal texts in every engine.
struct KeyText: Hashable, Sendable {
    let text: String

    init(text: String) { self.text = text }

    init(_ key: Value) { text = key.keyJSON.description }

    /// Takes a key as the exporter writes it.
    /// - Returns: nil for `null`.
    /// - Parameter isNumber: whether keys of this kind are integers, which have one notation only.
    init?(exported bytes: ArraySlice<UInt8>, isNumber: Bool) throws {
        guard bytes.first != UInt8(ascii: "n") else { return nil }
        if isNumber {
            text = String(decoding: bytes, as: UTF8.self)
        } else {
            text = try JSONValue(parsing: Array(bytes)).description
        }
    }

    /// The key as a value; nil for a text that is not one of a key.
    var value: Value? { (try? JSONValue(parsing: Array(text.utf8))).flatMap(Value.init(key:)) }
}
