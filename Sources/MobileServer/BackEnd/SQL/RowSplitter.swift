/// Finds rows and their first values in a stream of JSON text: an array of arrays without further nesting.
struct RowSplitter {
    /// The number of values at the beginning of a row that are wanted one by one.
    let leadingValues: Int
    /// The text from the beginning of the row in progress on.
    private var text: [UInt8] = []
    /// The place in ``text`` up to which it was read.
    private var position = 0
    private var depth = 0
    private var isInString = false
    /// The ends of the leading values of the row in progress.
    private var ends: [Int] = []

    init(leadingValues: Int) { self.leadingValues = leadingValues }

    /// Reads the next piece of the stream.
    /// - Parameter visit: receives each complete row: its first values, and the text of the others.
    mutating func read(_ piece: [UInt8], _ visit: (_ values: [ArraySlice<UInt8>], _ rest: ArraySlice<UInt8>) throws -> Void) throws {
        text += piece
        var start = 0, index = position
        while index < text.count {
            if isInString {
                index = Self.endOfString(in: text, from: index)
                // Also if the text ends with a backslash: the escaped character is the first one of the next piece.
                guard index < text.count else { break }
                isInString = false
                index += 1
                continue
            }
            let byte = text[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): isInString = true
            case UInt8(ascii: ","):
                if depth == 2, ends.count < leadingValues { ends.append(index - 1) }
                if depth == 1 { start = index }
            case UInt8(ascii: "["):
                depth += 1
                if depth == 2 { start = index }
            case UInt8(ascii: "]"):
                depth -= 1
                guard depth == 1 else { continue }
                try finishRow(start, end: index - 1, visit)
                start = index
            default: break
            }
        }
        position = index - start
        text.removeFirst(start)
        ends = ends.map { $0 - start }
    }

    /// Returns the place of the quotation mark that ends a string; the count or one more if the text ends before, or after a backslash.
    private static func endOfString(in text: [UInt8], from start: Int) -> Int {
        var index = start
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "\"") { return index }
            index += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        return index
    }

    private mutating func finishRow(
        _ start: Int, end: Int, _ visit: (_ values: [ArraySlice<UInt8>], _ rest: ArraySlice<UInt8>) throws -> Void
    ) throws {
        if ends.count < leadingValues { ends.append(end) }
        var values: [ArraySlice<UInt8>] = [], first = start
        values.reserveCapacity(ends.count)
        for end in ends {
            values.append(text[first..<end])
            first = end + 1
        }
        ends.removeAll(keepingCapacity: true)
        try visit(values, text[min(first, end)..<end])
    }
}
