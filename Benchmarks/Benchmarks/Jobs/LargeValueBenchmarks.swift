import BenchmarkReferences
import Foundation
import MobileStore

/// Large values through `BigBinary` and `BigString`, against C loops over chunks of the same size in a separate table.
enum LargeValueBenchmarks {
    static let all = ([write100m, read100m, seek, textWrite100m, textRead100m, value1g] + sizes).map { benchmark in
        var benchmark = benchmark
        benchmark.countsRows = false
        return benchmark
    }

    private static let mega: Int64 = 1_000_000

    static let write100m = Benchmark(
        id: "blob.write.100m", shows: "100 MB in pieces of 64 KB into a BigBinary, from open to close", limit: 0.85,
        reference: referenceWrite("insert.c.chunks", length: 100 * mega, isText: false),
        subject: subjectWrite("BigBinary", length: 100 * mega, isText: false))

    static let read100m = Benchmark(
        id: "blob.read.100m", shows: "100 MB out of a BigBinary, front to back in pieces of 64 KB", limit: 1.25,
        prepare: { _ = try LargeValueFiles.both($0, length: 100 * mega, isText: false) },
        reference: referenceRead("blob.c.read", length: 100 * mega, isText: false),
        subject: subjectRead("BigBinary", length: 100 * mega, isText: false))

    static let textWrite100m = Benchmark(
        id: "clob.write.100m", shows: "100 MB of text in pieces of 64 KB into a BigString, checked and counted, from open to close", limit: 1.10,
        reference: referenceWrite("insert.c.chunks, characters counted", length: 100 * mega, isText: true),
        subject: subjectWrite("BigString", length: 100 * mega, isText: true))

    static let textRead100m = Benchmark(
        id: "clob.read.100m", shows: "100 MB of text out of a BigString in whole characters, counted, as UTF-8 in pieces of 64 KB", limit: 1.10,
        prepare: { _ = try LargeValueFiles.both($0, length: 100 * mega, isText: true) },
        reference: referenceRead("blob.c.read, characters counted", length: 100 * mega, isText: true),
        subject: subjectRead("BigString", length: 100 * mega, isText: true))

    static let seek = Benchmark(
        id: "blob.seek", shows: "1,000 seeks with 4 KB read after each, in the last tenth of 1 GB", limit: 1.30,
        prepare: { _ = try LargeValueFiles.ours($0, length: 1000 * mega, isText: false) },
        reference: seeks("the first tenth of the same value", tenth: 0), subject: seeks("the last tenth", tenth: 9))

    static let value1g = Benchmark(
        id: "blob.1g", shows: "1 GB written and read in pieces of 64 KB", limit: 0.95, memoryLimit: 6 << 20, pairs: 3,
        note: "cache 1 MB, mmap off",
        prepare: { _ = try $0.content(isText: false) },  // the content does not count as the subject's memory
        reference: referenceRoundTrip("insert.c.chunks, blob.c.read", length: 1000 * mega, isText: false, cache: .megabytes(1)),
        subject: subjectRoundTrip("BigBinary", length: 1000 * mega, isText: false, cache: .megabytes(1)))

    /// The cost of a value by its length, written and read; small values are repeated.
    private static let sizes: [Benchmark] = [("64k", 65_536), ("1m", mega), ("16m", 16 * mega), ("256m", 256 * mega), ("1g", 1000 * mega)]
        .flatMap { name, length in
            [false, true].filter { $0 || name != "1g" }.map { isText in
                Benchmark(
                    id: (isText ? "clob" : "blob") + ".size." + name, shows: "\(isText ? "texts" : "values") of \(name), written and read",
                    limit: nil,
                    pairs: length > 100 * mega ? 3 : nil,
                    reference: referenceRoundTrip("insert.c.chunks, blob.c.read", length: length, isText: isText, cache: .megabytes(10)),
                    subject: subjectRoundTrip(isText ? "BigString" : "BigBinary", length: length, isText: isText, cache: .megabytes(10)))
            }
        }

    // MARK: Writing

    private static func referenceWrite(_ name: String, length: Int64, isText: Bool) -> Side {
        Side("\(name): prepared INSERT of chunks, one transaction, in C") { workspace, watch in
            let path = workspace.newFile("chunks.db")
            defer { workspace.removeDatabase(path) }
            let content = try workspace.content(isText: isText), chunk = try workspace.chunkSize(isText: isText)
            let chunks = try ReferenceChunks(path, cache: .megabytes(10))
            try watch.measure {
                try chunks.write(content, length, chunk: chunk, isText: isText)
                chunks.close()
            }
            return try verified(path, "chunk", content, length, chunk, name)
        }
    }

    private static func subjectWrite(_ name: String, length: Int64, isText: Bool) -> Side {
        Side(name) { workspace, watch in
            let path = workspace.newFile("values.db")
            defer { workspace.removeDatabase(path) }
            let content = try workspace.content(isText: isText), chunk = try workspace.chunkSize(isText: isText)
            let document = try LargeValueDocument(path, cache: .megabytes(10))
            try watch.measure {
                try document.write(content, length, isText: isText)
                try document.database.close()
            }
            return try verified(path, "_mc_chunk", content, length, chunk, name)
        }
    }

    private static func verified(
        _ path: String, _ table: String, _ content: BenchmarkContent, _ length: Int64, _ chunk: Int, _ name: String
    ) throws -> Outcome {
        let contents = try TableContents(of: path, "SELECT content FROM \"\(table)\" ORDER BY id")
        guard contents.checksum == content.checksum(length, chunk: chunk) else {
            throw WrongResult("\(name): the chunks do not hold what was written")
        }
        return Outcome(rows: contents.rows, checksum: contents.checksum, bytes: Int(length))
    }

    // MARK: Reading

    private static func referenceRead(_ name: String, length: Int64, isText: Bool) -> Side {
        Side("\(name): sqlite3_blob_read of 64 KB, in C") { workspace, watch in
            let files = try LargeValueFiles.both(workspace, length: length, isText: isText)
            let content = try workspace.content(isText: isText), chunk = try workspace.chunkSize(isText: isText)
            let chunks = try ReferenceChunks(files.theirs, cache: .megabytes(10))
            let characters = try watch.measure { try chunks.read(length, chunk: chunk, isText: isText) }
            try chunks.compare(content, length, chunk: chunk)
            return Outcome(rows: isText ? characters : length, checksum: 1, bytes: Int(length))
        }
    }

    private static func subjectRead(_ name: String, length: Int64, isText: Bool) -> Side {
        Side(name) { workspace, watch in
            let files = try LargeValueFiles.both(workspace, length: length, isText: isText)
            let content = try workspace.content(isText: isText)
            let document = try LargeValueDocument(files.ours, cache: .megabytes(10))
            try document.database.read { _ in }  // opens a reader, because the reference's connection is open as well
            let units = try watch.measure { try document.read(isText: isText) { _, _ in } }
            try document.compare(content, isText: isText)
            try document.database.close()
            return Outcome(rows: units, checksum: 1, bytes: Int(length))
        }
    }

    private static func seeks(_ name: String, tenth: Int64) -> Side {
        Side(name) { workspace, watch in
            let content = try workspace.content(isText: false)
            let document = try LargeValueDocument(LargeValueFiles.ours(workspace, length: 1000 * mega, isText: false), cache: .megabytes(10))
            try document.database.read { _ in }
            var random = SeededNumbers(11)
            let positions = (0..<1000).map { _ in tenth * 100 * mega + Int64(random.next() % UInt64(100 * mega - 4096)) }
            let read = try watch.measure { try document.seek(to: positions, reading: 4096) }
            for (position, bytes) in zip(positions, read) where !content.equals(bytes, at: position) {
                throw WrongResult("\(name): position \(position) has other bytes")
            }
            try document.database.close()
            return Outcome(rows: Int64(positions.count), checksum: 1, bytes: positions.count * 4096)
        }
    }

    // MARK: Both

    /// The number of values: small ones are repeated, so that a clock can measure them.
    private static func count(of length: Int64) -> Int64 { max(1, min(100, 16 * mega / length)) }

    private static func referenceRoundTrip(_ name: String, length: Int64, isText: Bool, cache: ByteCount) -> Side {
        Side("\(name): the same chunks in C") { workspace, watch in
            let path = workspace.newFile("chunks.db")
            defer { workspace.removeDatabase(path) }
            let content = try workspace.content(isText: isText), chunk = try workspace.chunkSize(isText: isText)
            let length = isText ? content.wholeCharacters(length) : length
            let chunks = try ReferenceChunks(path, cache: cache)
            var units: Int64 = 0
            for number in 0..<count(of: length) {
                try watch.measure {
                    try chunks.write(content, length, chunk: chunk, isText: isText, from: number << 24)
                    units += try chunks.read(length, chunk: chunk, isText: isText, from: number << 24)
                }
                try chunks.compare(content, length, chunk: chunk, from: number << 24)
            }
            watch.measure { chunks.close() }
            return Outcome(rows: isText ? units : length * count(of: length), checksum: 1, bytes: Int(length * count(of: length)))
        }
    }

    private static func subjectRoundTrip(_ name: String, length: Int64, isText: Bool, cache: ByteCount) -> Side {
        Side(name) { workspace, watch in
            let path = workspace.newFile("values.db")
            defer { workspace.removeDatabase(path) }
            let content = try workspace.content(isText: isText)
            let length = isText ? content.wholeCharacters(length) : length
            let document = try LargeValueDocument(path, cache: cache)
            var units: Int64 = 0
            for _ in 0..<count(of: length) {
                try watch.measure {
                    try document.write(content, length, isText: isText)
                    units += try document.read(isText: isText) { _, _ in }
                }
                try document.compare(content, isText: isText)
            }
            try watch.measure { try document.database.close() }
            return Outcome(rows: units, checksum: 1, bytes: Int(length * count(of: length)))
        }
    }
}
