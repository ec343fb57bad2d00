/// Whether bytes that come in pieces are a text in UTF-8.
struct UTF8Check {
    /// The beginning of a character at the end of the last piece.
    private var rest: [UInt8] = []
    private var isValid = true

    /// Whether all bytes so far are whole characters.
    var isComplete: Bool { isValid && rest.isEmpty }

    /// Takes the next piece.
    mutating func update(_ piece: some Collection<UInt8>) {
        guard isValid else { return }
        var bytes = rest + piece
        // The last character may continue in the next piece: it has at most four bytes.
        var start = bytes.count
        while start > 0, bytes.count - start < 3, bytes[start - 1] & 0xC0 == 0x80 { start -= 1 }
        rest = []
        if start > 0, bytes[start - 1] >= 0xC0 {
            let length = bytes[start - 1] >= 0xF0 ? 4 : bytes[start - 1] >= 0xE0 ? 3 : 2
            if bytes.count - start + 1 < length {
                rest = Array(bytes[(start - 1)...])
                bytes.removeSubrange((start - 1)...)
            }
        }
        isValid = String(validating: bytes, as: UTF8.self) != nil
    }
}
