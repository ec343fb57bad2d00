import BenchmarkReferences
import Foundation

/// The folder and the data of one run. Data sets are made once and never changed, so every run works on the same bytes.
final class Workspace {
    let folder: URL
    /// Data set R30: 30,000 rows with the keys from 1 on.
    let r30: DataSet
    /// The same rows with keys of seven digits, which can be replaced repeatedly: for inputs larger than the data set.
    private(set) lazy var repeatable = Result { try DataSet(rows: 30_000, firstKey: Workspace.firstRepeatableKey) }
    /// The contents of large values.
    private(set) lazy var largeBytes = Result { try BenchmarkContent(isText: false) }
    private(set) lazy var largeText = Result { try BenchmarkContent(isText: true) }
    static let firstRepeatableKey: Int64 = 1_000_001
    /// R30 deflated at level 6, and the same keys with other values.
    private(set) lazy var deflatedR30 = Result { try DeflatedBytes(r30.json) }
    private(set) lazy var otherR30 = Result { try DataSet(rows: 30_000, firstKey: 1, seed: 8) }
    /// Deflates content that is too large for memory; level 1, because it is not measured.
    private(set) lazy var deflater = Result { try Deflater(level: 1, capacity: 8 << 20) }
    /// The partitions that servers have prepared, by their numbers of rows.
    var partitions: [Int: PreparedPartition] = [:]
    /// The same over back ends with trigger logs.
    var loggedPartitions: [Int: ServedPartition] = [:]
    var unloggedPartitions: [Int: ServedPartition] = [:]
    /// Whether large inputs are reduced to a tenth.
    let isQuick: Bool
    private var fileCount = 0

    init(isQuick: Bool) throws {
        self.isQuick = isQuick
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("mobile-benchmarks-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        r30 = try DataSet(rows: 30_000, firstKey: 1)
    }

    func remove() {
        for partition in partitions.values { partition.stop() }
        for partition in Array(loggedPartitions.values) + Array(unloggedPartitions.values) { partition.server.stop() }
        try? FileManager.default.removeItem(at: folder)
    }

    /// Returns the path of a new file in the folder.
    func newFile(_ name: String) -> String {
        fileCount += 1
        return folder.appendingPathComponent("\(fileCount)-\(name)").path
    }

    /// Returns the path of a file that remains in the folder for the whole run; `make` creates it at the first request.
    func file(_ name: String, make: (String) throws -> Void) throws -> String {
        let path = folder.appendingPathComponent(name).path
        if !FileManager.default.fileExists(atPath: path) { try make(path) }
        return path
    }

    /// Copies a database, and waits until the copy is on the disk. Otherwise the first checkpoint would wait for it.
    func copyDatabase(_ source: String, to path: String) throws {
        try FileManager.default.copyItem(atPath: source, toPath: path)
        let copy = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try copy.synchronize()
        try copy.close()
    }

    /// Removes a database with its log, shared memory and lease files.
    func removeDatabase(_ path: String) {
        for suffix in ["", "-wal", "-shm", "-lease"] { try? FileManager.default.removeItem(atPath: path + suffix) }
    }
}

/// Rows as values and as JSON; see `br_data_set.h`.
final class DataSet {
    let handle: OpaquePointer
    let rows: Int

    init(rows: Int, firstKey: Int64, seed: UInt64 = 7) throws {
        guard let handle = br_data_set_make(seed, rows, firstKey) else { throw WrongResult("no memory for \(rows) rows") }
        (self.handle, self.rows) = (handle, rows)
    }

    deinit { br_data_set_free(handle) }

    /// All rows as one JSON array of arrays. The bytes live as long as the data set; ``rekey(from:)`` changes them.
    var json: UnsafeRawBufferPointer {
        var length = 0
        let start = br_data_set_json(handle, &length)
        return UnsafeRawBufferPointer(start: start, count: length)
    }

    /// Returns the rows as a part of a longer array: only the first part has the opening bracket, only the last one the closing bracket, and a
    /// comma separates two parts.
    func round(isFirst: Bool, isLast: Bool) -> UnsafeRawBufferPointer {
        let start = UnsafeMutableRawBufferPointer(mutating: json)
        start[0] = isFirst ? UInt8(ascii: "[") : UInt8(ascii: ",")
        return UnsafeRawBufferPointer(rebasing: start[..<(json.count - (isLast ? 0 : 1))])
    }

    /// Returns the check sum of ``TableContents`` for a table with exactly these rows.
    func checksum(after sum: UInt64 = 0) -> UInt64 { br_data_set_checksum(handle, sum) }

    /// Gives the rows new keys with the same number of digits.
    func rekey(from firstKey: Int64) throws {
        guard br_data_set_rekey(handle, firstKey) else { throw WrongResult("keys from \(firstKey) on have another number of digits") }
    }
}

/// Deflates bytes into its own memory; see `br_scan.h`.
final class Deflater {
    private let handle: OpaquePointer

    init(level: Int32, capacity: Int) throws {
        guard let handle = br_deflater_open(level, capacity) else { throw WrongResult("no memory to deflate") }
        self.handle = handle
    }

    deinit { br_deflater_free(handle) }

    /// Begins a stream.
    func begin() throws {
        if !br_deflater_begin(handle) { throw WrongResult("no memory to deflate") }
    }

    /// Returns the output of the stream for the next bytes, valid until the next call.
    func take(_ bytes: UnsafeRawBufferPointer, isLast: Bool) throws -> UnsafeRawBufferPointer {
        var length = 0
        guard let start = br_deflater_take(handle, bytes.baseAddress, bytes.count, isLast, &length) else { throw WrongResult("deflating failed") }
        return UnsafeRawBufferPointer(start: start, count: length)
    }
}

/// A deflated stream in memory.
final class DeflatedBytes {
    private let deflater: Deflater
    let bytes: UnsafeRawBufferPointer

    init(_ plain: UnsafeRawBufferPointer) throws {
        deflater = try Deflater(level: 6, capacity: plain.count)
        try deflater.begin()
        bytes = try deflater.take(plain, isLast: true)
    }
}

/// The rows and check sum of a SELECT over a database file, with which every benchmark verifies its output outside of the measured time.
struct TableContents: Equatable {
    let rows: Int64
    let checksum: UInt64

    init(of path: String, _ select: String) throws {
        var rows: Int64 = 0, checksum: UInt64 = 0
        var message = CMessage()
        guard br_table_checksum(path, select, &rows, &checksum, &message.characters, CMessage.size) else { throw WrongResult(message.text) }
        (self.rows, self.checksum) = (rows, checksum)
    }
}

/// The buffer for the C side's error message.
struct CMessage {
    static let size = 512
    var characters = [CChar](repeating: 0, count: size)
    var text: String { String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self) }
}
