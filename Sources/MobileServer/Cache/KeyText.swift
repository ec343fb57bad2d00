internal import MobileStore

/// The key of a row in its back end, as one text: the key as JSON in one notation, so that equal keys have equal texts in every engine.
struct KeyText: Hashable, Sendable {
    let text: String

    init(text: String) { self.text = text }

    init(_ key: Value) { text = key.keyJSON.description }

    /// Takes a key as the exporter writes it.
    /// - Returns: nil for `null`.
    /// - Parameter isNumber: whether keys of this kind are integers, which have one notation only.
    init?(exported json: String, isNumber: Bool) throws {
        guard json.utf8.first != UInt8(ascii: "n") else { return nil }
        text = isNumber ? json : try JSONValue(parsing: Array(json.utf8)).description
    }

    /// The key as a value; nil for a text that is not one of a key.
    var value: Value? { (try? JSONValue(parsing: Array(text.utf8))).flatMap(Value.init(key:)) }
}
