/// A text that is compared and hashed by its bytes, as the database compares texts. It is the key of dictionaries and sets of texts that are data.
///
/// Swift's strings are equal when they are canonically equivalent: "é" as one scalar and as two. SQLite's are equal when their bytes are.
package struct ExactText: Hashable, Sendable {
    /// The text.
    package let text: String

    /// Wraps a text.
    package init(_ text: String) { self.text = text }

    package static func == (left: ExactText, right: ExactText) -> Bool { left.text.hasSameBytes(as: right.text) }

    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}

extension String {
    /// Returns whether both texts have the same bytes in UTF-8. It takes time in proportion to the shorter one, unlike `==`, which sorts the combining
    /// marks of each character.
    package func hasSameBytes(as other: String) -> Bool { utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8) }

    /// Hashes the bytes of the text, and its end.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(utf8.count)
    }
}

extension Double {
    /// Returns whether both numbers are one value in the database: 0 and -0 are, and so are two NaN, which it stores as NULL.
    package func isSameValue(as other: Double) -> Bool { self == other || (isNaN && other.isNaN) }

    /// Hashes the number so that the same values have the same hash.
    package func hashValue(into hasher: inout Hasher) { hasher.combine(isNaN ? .nan : self) }
}
