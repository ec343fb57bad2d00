import BenchmarkReferences
import Foundation
import MobileStore

/// The content of large values; see `br_chunks.h`.
final class BenchmarkContent {
    let handle: OpaquePointer

    init(isText: Bool) throws {
        guard let handle = br_content_make(7, isText) else { throw WrongResult("no memory for the content of large values") }
        self.handle = handle
    }

    deinit { br_content_free(handle) }

    /// Returns the length of the longest beginning of a text, up to `length` bytes, that ends with a whole character.
    func wholeCharacters(_ length: Int64) -> Int64 { br_content_whole_characters(handle, length) }

    func checksum(_ length: Int64, chunk: Int) -> UInt64 { br_content_checksum(handle, length, chunk) }

    func equals(_ bytes: [UInt8], at position: Int64) -> Bool { br_content_equals(handle, position, bytes, bytes.count) }
}

/// The C loops, whose failures are thrown as errors.
final class ReferenceChunks {
    private var handle: OpaquePointer?

    init(_ path: String, cache: ByteCount) throws {
        var message = CMessage()
        guard let handle = br_chunks_open(path, 4096, Int64(cache.bytes), &message.characters, CMessage.size) else {
            throw WrongResult("chunks in C: \(message.text)")
        }
        self.handle = handle
    }

    deinit { close() }

    func close() {
        br_chunks_close(handle)
        handle = nil
    }

    func write(_ content: BenchmarkContent, _ length: Int64, chunk: Int, isText: Bool, from id: Int64 = 0) throws {
        guard br_chunks_write(handle, content.handle, id, length, chunk, isText) else { throw WrongResult("chunks in C: SQLite refused") }
    }

    /// Reads the value and returns the number of its characters, if it is text.
    func read(_ length: Int64, chunk: Int, isText: Bool, from id: Int64 = 0) throws -> Int64 {
        var characters: Int64 = 0
        let isRead = isText ? br_chunks_read(handle, id, length, chunk, &characters, nil) : br_chunks_read(handle, id, length, chunk, nil, nil)
        guard isRead else { throw WrongResult("chunks in C: SQLite refused") }
        return characters
    }

    func compare(_ content: BenchmarkContent, _ length: Int64, chunk: Int, from id: Int64 = 0) throws {
        guard br_chunks_read(handle, id, length, chunk, nil, content.handle) else { throw WrongResult("chunks in C: other bytes") }
    }
}

/// An object with one large attribute, like an entity.
final class LargeValueDocument: LargeValueHost {
    let database: Database
    private var value: LargeValue?
    private var stored: Int64?

    init(_ path: String, cache: ByteCount) throws {
        var profile = ConnectionProfile(path: path, pageSize: 4096, cacheSize: cache)
        profile.memoryMapSize = .bytes(0)
        database = try Database(profile)
        try database.write { try $0.prepareLargeValues() }
        stored = try database.read { try $0.first("SELECT id FROM _mc_value")?[0].integer }
    }

    var largeValueDatabase: Database { database }
    var isSavedForLargeValues: Bool { true }
    func largeValue(ofAttribute index: Int) -> Int64? { value?.id ?? stored }
    func setLargeValue(_ value: LargeValue?, ofAttribute index: Int) { self.value = value }

    static let pieceSize = 65_536

    func write(_ content: BenchmarkContent, _ length: Int64, isText: Bool) throws {
        let binary = BigBinary(of: self, attribute: 0), string = BigString(of: self, attribute: 0)
        if isText { try string.openForWrite() } else { try binary.openForWrite() }
        var position: Int64 = 0
        while position < length {
            let size = min(Self.pieceSize, Int(length - position))
            let piece = UnsafeRawBufferPointer(start: br_content_at(content.handle, position), count: size)
            if isText { try string.write(utf8: piece.bytes) } else { try binary.write(piece.bytes) }
            position += Int64(size)
        }
        if isText { try string.close() } else { try binary.close() }
    }

    /// Reads the value to its end, and returns its length in units.
    func read(isText: Bool, _ piece: (Int64, UnsafeRawBufferPointer) throws -> Void) throws -> Int64 {
        let binary = BigBinary(of: self, attribute: 0), string = BigString(of: self, attribute: 0)
        if isText { try string.openForRead() } else { try binary.openForRead() }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        var position: Int64 = 0
        while true {
            var span = buffer.mutableBytes
            let length = isText ? try string.read(.max, utf8: &span) : try binary.read(into: &span)
            if length == 0 { break }
            try piece(position, UnsafeRawBufferPointer(rebasing: buffer[..<length]))
            position += Int64(length)
        }
        return isText ? string.position : binary.position
    }

    func compare(_ content: BenchmarkContent, isText: Bool) throws {
        _ = try read(isText: isText) { position, bytes in
            guard br_content_equals(content.handle, position, bytes.baseAddress!, bytes.count) else {
                throw WrongResult("the value has other bytes behind \(position)")
            }
        }
    }

    func seek(to positions: [Int64], reading count: Int) throws -> [[UInt8]] {
        let binary = BigBinary(of: self, attribute: 0)
        try binary.openForRead()
        var pieces: [[UInt8]] = []
        pieces.reserveCapacity(positions.count)
        for position in positions {
            try binary.seek(position)
            pieces.append(try binary.read(count) ?? [])
        }
        return pieces
    }
}

/// Files with one value each, which remain for the whole run.
enum LargeValueFiles {
    static func both(_ workspace: Workspace, length: Int64, isText: Bool) throws -> (ours: String, theirs: String) {
        let theirs = try workspace.file("chunks-\(length)-\(isText).db") { path in
            try ReferenceChunks(path, cache: .megabytes(10))
                .write(workspace.content(isText: isText), length, chunk: workspace.chunkSize(isText: isText), isText: isText)
        }
        return (try ours(workspace, length: length, isText: isText), theirs)
    }

    static func ours(_ workspace: Workspace, length: Int64, isText: Bool) throws -> String {
        try workspace.file("value-\(length)-\(isText).db") { path in
            let document = try LargeValueDocument(path, cache: .megabytes(10))
            try document.write(workspace.content(isText: isText), length, isText: isText)
            try document.database.close()
        }
    }
}

extension Workspace {
    func content(isText: Bool) throws -> BenchmarkContent { try (isText ? largeText : largeBytes).get() }

    /// Returns the number of bytes of a chunk in a database with this page size.
    func chunkSize(isText: Bool) throws -> Int {
        let path = try file("chunk-size-\(isText).db") { path in
            let document = try LargeValueDocument(path, cache: .megabytes(1))
            try document.write(content(isText: isText), 1, isText: isText)
            try document.database.close()
        }
        let database = try Database(ConnectionProfile(path: path))
        defer { try? database.close() }
        return Int(try database.read { try $0.first("SELECT chunk FROM _mc_value")?[0].integer } ?? 0)
    }
}

/// The generator by Steele, Lea and Flood, which yields the same positions in each run.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}
