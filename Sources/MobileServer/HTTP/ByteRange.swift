/// The part of a content that a request asks for in the field `Range` (RFC 9110).
package enum ByteRange: Equatable {
    /// The whole content: the field is absent, or of a form that a server may ignore.
    case whole
    case part(Range<Int64>)
    /// The content ends before the part.
    case unsatisfiable

    /// Reads the field, for a content of `length` bytes.
    package init(_ field: String?, length: Int64) {
        self = .whole
        guard let field, field.hasPrefix("bytes="), !field.contains(",") else { return }
        let ends = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.allSatisfy { $0.isASCII && $0.isNumber } }) else { return }
        switch (Int64(ends[0]), Int64(ends[1])) {
        case (let first?, let last?):
            guard first <= last else { return }
            self = first < length ? .part(first..<min(last, length - 1) + 1) : .unsatisfiable
        case (let first?, nil) where ends[1].isEmpty: self = first < length ? .part(first..<length) : .unsatisfiable
        case (nil, let count?) where ends[0].isEmpty: self = count > 0 && length > 0 ? .part(max(0, length - count)..<length) : .unsatisfiable
        default: break
        }
    }
}
