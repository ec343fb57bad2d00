internal import MobileCrypto
internal import MobileProtocol
internal import MobileStore

/// The list of the large values to be sent: written while the snapshot of the cache is open, read a page at a time as fast as the client reads.
///
/// Memory: one page, for writing and for reading; a longer list is in a temporary file.
final class LargeValueList {
    /// One value: its owner and its location.
    struct Entry {
        let surrogateKey: Int64
        /// The index of the attribute among the large ones of its object.
        let attribute: Int
        /// The row's key in the form of the key map.
        let key: Value
        /// Whether the value was NULL at the last comparison of the cache.
        let isNull: Bool
        /// The SHA-256 of the value at the last comparison; empty if it was NULL.
        let digest: [UInt8]
        /// The number of bytes at the last comparison.
        let length: Int64
        /// The operation of the client that has brought the content; nil if the content is sent.
        var operation: Int64?
    }

    private static let pageBytes = 65_536
    private let spool = Spool(memoryLimit: pageBytes)
    /// Lines that are not in the spool yet, or the page that is being read, from ``position`` on.
    private var page: [UInt8] = []
    private var position = 0

    /// Adds an entry at the end. Must not be called after the first read.
    func append(_ entry: Entry) throws {
        let line: JSONValue = [
            .integer(entry.surrogateKey), .integer(Int64(entry.attribute)), entry.key.keyJSON, .boolean(entry.isNull),
            .string(entry.digest.hexadecimal), .integer(entry.length), entry.operation.map { .integer($0) } ?? .null,
        ]
        page += line.bytes
        page.append(UInt8(ascii: "\n"))
        if page.count >= Self.pageBytes { try store() }
    }

    /// Ends the list; from then on it can be read.
    func finish() throws {
        try store()
        spool.rewind()
    }

    private func store() throws {
        try spool.append(page)
        page = []
    }

    /// Returns the next entry; nil at the end.
    func next() throws -> Entry? {
        guard let line = try nextLine() else { return nil }
        let values = try JSONValue(parsing: line)
        guard let surrogateKey = values[0]?.integer, let attribute = values[1]?.integer.flatMap({ Int(exactly: $0) }),
            let key = values[2].map({ Value(key: $0) ?? .null }), let isNull = values[3]?.boolean,
            let digest = values[4]?.string.flatMap({ [UInt8](hexadecimal: $0) }), let length = values[5]?.integer
        else { throw ProtocolError(.spool, "a list of large values is damaged") }
        return Entry(
            surrogateKey: surrogateKey, attribute: attribute, key: key, isNull: isNull, digest: digest, length: length, operation: values[6]?.integer)
    }

    private func nextLine() throws -> [UInt8]? {
        while true {
            if let end = page[position...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { position = end + 1 }
                return Array(page[position..<end])
            }
            guard let more = try spool.nextChunk(maximum: Self.pageBytes) else { return nil }
            page.removeFirst(position)
            page += more
            position = 0
        }
    }
}
