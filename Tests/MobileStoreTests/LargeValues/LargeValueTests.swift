import MobileStore
import TestSupport
import Testing

/// A database with the tables of large values and a table `t` that refers to some.
struct LargeValueStore {
    let directory: TemporaryDirectory
    let database: Database

    init(_ change: (inout ConnectionProfile) -> Void = { _ in }) throws {
        directory = try TemporaryDirectory()
        database = try Database(directory.profile(change))
        try database.write { connection in
            try connection.prepareLargeValues()
            try connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, picture INTEGER)")
        }
    }

    func write(_ bytes: [UInt8], chunkSize: Int? = 4) throws -> LargeValue {
        let writer = try LargeValueWriter(in: database, chunkSize: chunkSize)
        try writer.write(bytes)
        return try writer.finish()
    }

    func write(_ text: String, chunkSize: Int? = 4) throws -> LargeValue {
        let writer = try LargeValueWriter(in: database, unit: .scalars, chunkSize: chunkSize)
        try writer.write(text)
        return try writer.finish()
    }

    func count(_ table: String) throws -> Int64? {
        try database.read { try $0.first("SELECT count(*) FROM \"\(table)\"")?[0].integer }
    }
}

/// Most of these tests use chunks of 4 bytes, so that few bytes cross many borders.
@Suite struct LargeValueTests {
    @Test("pieces of any size add up to the value", arguments: [1, 3, 4, 5, 9, 10, 11])
    func piecesOfAnySize(size: Int) throws {
        let store = try LargeValueStore()
        let bytes: [UInt8] = Array(0..<10)
        let writer = try LargeValueWriter(in: store.database, chunkSize: 4)
        for start in stride(from: 0, to: 10, by: size) { try writer.write(Array(bytes[start..<min(10, start + size)])) }
        let value = try writer.finish()
        let reader = try LargeValueReader(value.id, in: store.database)
        #expect(reader.length == 10)
        var read: [UInt8] = []
        while case let piece = try reader.bytes(upTo: size), !piece.isEmpty { read += piece }
        #expect(read == bytes)
        #expect(try store.count("_mc_chunk") == 3)
    }

    @Test func `values longer than the buffer go through it`() throws {
        let store = try LargeValueStore()
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ ($0 >> 9)) }
        let writer = try LargeValueWriter(in: store.database)
        try writer.write(Array(bytes[..<100]))
        try writer.write(Array(bytes[100..<2_900_000]))
        try writer.flush()
        try writer.write(Array(bytes[2_900_000...]))
        let value = try writer.finish()
        let reader = try LargeValueReader(value.id, in: store.database)
        #expect(try reader.bytes(upTo: bytes.count + 1) == bytes)
        try reader.seek(to: 2_899_990)
        #expect(try reader.bytes(upTo: 20) == Array(bytes[2_899_990..<2_900_010]))
    }

    @Test func `a flush in the middle of a chunk is taken up again`() throws {
        let store = try LargeValueStore()
        let writer = try LargeValueWriter(in: store.database, chunkSize: 4)
        for byte in UInt8(0)..<11 {
            try writer.write([byte])
            try writer.flush()
        }
        let value = try writer.finish()
        #expect(try LargeValueReader(value.id, in: store.database).bytes(upTo: 100) == Array(0..<11))
        #expect(try store.count("_mc_chunk") == 3)
    }

    @Test func `a lost chunk is an error, and the position stays where it was`() throws {
        let store = try LargeValueStore()
        let value = try store.write(Array(0..<10))
        try store.database.write { try $0.execute("DELETE FROM _mc_chunk WHERE id = ?", [.integer(value.id << 24 | 1)]) }
        let reader = try LargeValueReader(value.id, in: store.database)
        let error = #expect(throws: StoreError.self) { try reader.bytes(upTo: 10) }
        #expect(error?.code == .corrupt)
        #expect(error?.message == "large value 1: chunk 1 is missing")
        #expect(reader.position == 0)
        #expect(try reader.bytes(upTo: 4) == [0, 1, 2, 3])
    }

    @Test func `a chunk of another length is an error`() throws {
        let store = try LargeValueStore()
        let value = try store.write(Array(0..<10))
        try store.database.write { try $0.execute("UPDATE _mc_chunk SET content = x'00' WHERE id = ?", [.integer(value.id << 24 | 1)]) }
        let error = #expect(throws: StoreError.self) { try LargeValueReader(value.id, in: store.database).bytes(upTo: 10) }
        #expect(error?.message == "large value 1: chunk 1 has 1 bytes, 4 are expected")
    }

    @Test("every position of a text can be sought", arguments: [4, 5, 7, 64])
    func seekInText(chunkSize: Int) throws {
        let store = try LargeValueStore()
        let text = "aé€😀b" + String(repeating: "ñ", count: 7) + "\u{0}😀😀z"
        let scalars = Array(text.unicodeScalars)
        let reader = try LargeValueReader(try store.write(text, chunkSize: chunkSize).id, in: store.database)
        #expect(reader.length == Int64(scalars.count))
        #expect(reader.byteCount == Int64(text.utf8.count))
        for position in (0...scalars.count).reversed() {
            try reader.seek(to: Int64(position))
            #expect(try Array(reader.text(upTo: 3).unicodeScalars) == Array(scalars[position...].prefix(3)))
            #expect(reader.position == Int64(min(position + 3, scalars.count)))
        }
    }

    @Test func `long texts are counted and cut between characters`() throws {
        let store = try LargeValueStore()
        let text = String(repeating: "Zwölf Boxkämpfer 😀 jagen €uro. ", count: 20_000)
        let reader = try LargeValueReader(try store.write(text, chunkSize: nil).id, in: store.database)
        #expect(reader.length == Int64(text.unicodeScalars.count))
        #expect(try reader.text(upTo: Int.max) == text)
        try reader.seek(to: 300_001)
        let start = text.unicodeScalars.index(text.unicodeScalars.startIndex, offsetBy: 300_001)
        #expect(try reader.text(upTo: 40) == String(String.UnicodeScalarView(text.unicodeScalars[start...].prefix(40))))
    }

    @Test(
        "text that is not UTF-8 is refused with its position, and nothing of the piece is taken",
        arguments: [
            ([0x61, 0xFF], 1), ([0xC0, 0x80], 0), ([0x61, 0x62, 0xED, 0xA0, 0x80], 3), ([0xE2, 0x82, 0x41], 2), ([0x80], 0),
        ] as [([UInt8], Int)])
    func badText(bytes: [UInt8], position: Int) throws {
        let store = try LargeValueStore()
        let writer = try LargeValueWriter(in: store.database, unit: .scalars)
        try writer.write("é")
        let error = #expect(throws: StoreError.self) { try writer.write(bytes) }
        #expect(error?.code == .type)
        #expect(error?.byteOffset == Int64(2 + position))
        #expect(writer.length == 1)
        try writer.write("b")
        #expect(try LargeValueReader(writer.finish().id, in: store.database).text(upTo: 9) == "éb")
    }

    @Test func `a text may be cut within a character, but not end there`() throws {
        let store = try LargeValueStore()
        let writer = try LargeValueWriter(in: store.database, unit: .scalars)
        try writer.write([0xF0, 0x9F] as [UInt8])
        let error = #expect(throws: StoreError.self) { try writer.finish() }
        #expect(error?.code == .type)
        try writer.write([0x98, 0x80] as [UInt8])
        #expect(try LargeValueReader(writer.finish().id, in: store.database).text(upTo: 9) == "😀")
    }

    @Test func `an announced length is neither exceeded nor missed`() throws {
        let store = try LargeValueStore()
        let writer = try LargeValueWriter(in: store.database, length: 3)
        try writer.write([1, 2])
        #expect(#expect(throws: StoreError.self) { try writer.write([3, 4]) }?.code == .overLength)
        #expect(#expect(throws: StoreError.self) { try writer.finish() }?.code == .truncated)
        try writer.write([3])
        #expect(try LargeValueReader(writer.finish().id, in: store.database).bytes(upTo: 9) == [1, 2, 3])
    }

    @Test func `a writer that goes away leaves nothing`() throws {
        let store = try LargeValueStore()
        do {
            let writer = try LargeValueWriter(in: store.database, chunkSize: 4)
            try writer.write(Array(0..<10))
            try writer.flush()
            #expect(try store.count("_mc_chunk") == 3)
        }
        #expect(try store.database.freeRemovedValues() == 1)
        #expect(try store.count("_mc_chunk") == 0)
        #expect(try store.count("_mc_value") == 0)
    }

    @Test func `what a killed process left unfinished is removed at the next open`() throws {
        let store = try LargeValueStore()
        let complete = try store.write([7]).id
        try store.database.write { connection in
            try connection.execute("INSERT INTO _mc_value(id, unit, chunk, state, length, bytes) VALUES (99, 0, 4, 0, 0, 0)")
            try connection.execute("INSERT INTO _mc_chunk VALUES (99 << 24, NULL, x'01020304'), (99 << 24 | 1, NULL, x'05')")
        }
        let second = try Database(store.directory.profile())
        try second.write { try $0.prepareLargeValues() }
        #expect(try second.freeRemovedValues() == 1)
        #expect(try store.count("_mc_chunk") == 1)
        #expect(try LargeValueReader(complete, in: second).bytes(upTo: 2) == [7])
    }

    @Test func `several openings of a file write values side by side`() throws {
        let store = try LargeValueStore()
        let first = try LargeValueWriter(in: store.database, chunkSize: 4)
        try first.write(Array(0..<10))
        try first.flush()
        let other = try Database(store.directory.profile())
        try other.write { try $0.prepareLargeValues() }
        let second = try LargeValueWriter(in: other, chunkSize: 4)
        try second.write(Array(10..<30))
        try second.flush()
        try store.database.write { try $0.prepareLargeValues() }
        #expect(try store.database.freeRemovedValues() == 0 && other.freeRemovedValues() == 0)
        try first.write([99])
        let values = try (first.finish(), second.finish())
        #expect(try LargeValueReader(values.0.id, in: other).bytes(upTo: 30) == Array(0..<10) + [99])
        #expect(try LargeValueReader(values.1.id, in: store.database).bytes(upTo: 30) == Array(10..<30))
    }

    @Test func `a value that was begun in a transaction is gone with it`() throws {
        struct Stop: Error {}
        let store = try LargeValueStore()
        let writer = try LargeValueWriter(in: store.database, chunkSize: 4)
        #expect(throws: Stop.self) {
            try store.database.write { _ in
                try writer.write(Array(0..<10))
                try writer.flush()
                throw Stop()
            }
        }
        #expect(#expect(throws: StoreError.self) { try writer.finish() }?.code == .notFound)
        #expect(try store.count("_mc_value") == 0)
    }

    @Test func `values that nothing refers to are removed, those in use are not`() throws {
        let store = try LargeValueStore()
        var values: [LargeValue?] = try (0..<4).map { try store.write([UInt8($0)]) }
        let ids = values.map { $0!.id }
        try store.database.write { try $0.execute("INSERT INTO t VALUES (1, ?), (2, NULL)", [.integer(ids[0])]) }
        let reader = try LargeValueReader(ids[1], in: store.database)
        values[0] = nil
        values[1] = nil
        values[2] = nil
        #expect(try store.database.removeUnreferencedValues(referencedBy: [("t", "picture")]) == 1)
        #expect(#expect(throws: StoreError.self) { try LargeValueReader(ids[2], in: store.database) }?.code == .notFound)
        #expect(try reader.bytes(upTo: 1) == [1])
        #expect(try store.count("_mc_value") == 3)
        withExtendedLifetime(reader) {}
    }

    @Test func `a removed value can be read to its end by who has it open`() throws {
        let store = try LargeValueStore()
        let id = try store.write(Array(0..<10)).id
        var reader: LargeValueReader? = try LargeValueReader(id, in: store.database)
        try store.database.write { try $0.removeLargeValue(id) }
        #expect(try reader?.bytes(upTo: 10) == Array(0..<10))
        #expect(try store.count("_mc_chunk") == 3)
        reader = nil
        #expect(try store.database.freeRemovedValues() == 1)
        #expect(try store.count("_mc_chunk") == 0)
    }

    @Test func `inside of a write a value is a part of its transaction`() throws {
        struct Stop: Error {}
        let store = try LargeValueStore()
        #expect(throws: Stop.self) {
            try store.database.write { _ in
                let value = try store.write(Array(0..<10))
                #expect(try LargeValueReader(value.id, in: store.database).bytes(upTo: 3) == [0, 1, 2])
                throw Stop()
            }
        }
        #expect(try store.count("_mc_value") == 0)
        #expect(try store.count("_mc_chunk") == 0)
    }

    @Test("chunks fill whole pages", arguments: [1024, 2048, 4096, 8192, 16384, 32768, 65536])
    func chunksFillPages(pageSize: Int) throws {
        let store = try LargeValueStore {
            $0.pageSize = pageSize
            $0.cacheSize = .megabytes(10)
        }
        let value = try store.write([UInt8](repeating: 7, count: 8_000_000), chunkSize: nil)
        let text = try store.write(String(repeating: "x", count: 8_000_000), chunkSize: nil)
        let space = try store.database.read { connection in
            try connection.first("SELECT sum(pgsize), sum(unused) FROM dbstat WHERE name = '_mc_chunk'")
        }
        let used = try #require(space?[0].integer)
        #expect(Double(used) < 16_000_000 * 1.02)
        withExtendedLifetime((value, text)) {}
    }

    @Test func `files are copied in and out, and a file that cannot be replaced stays`() throws {
        let store = try LargeValueStore()
        let value = try store.write(Array(0..<100), chunkSize: 16)
        let path = store.directory.file("value.bin")
        try LargeValueReader(value.id, in: store.database).copy(toFile: path)
        let writer = try LargeValueWriter(in: store.database)
        try writer.write(contentsOfFile: path)
        #expect(try LargeValueReader(writer.finish().id, in: store.database).bytes(upTo: 200) == Array(0..<100))
        let error = #expect(throws: StoreError.self) { try LargeValueWriter(in: store.database).write(contentsOfFile: path + "x") }
        #expect(error?.code == .notFound)
        try store.database.write { try $0.execute("DELETE FROM _mc_chunk WHERE id = ?", [.integer(value.id << 24 | 3)]) }
        #expect(throws: StoreError.self) { try LargeValueReader(value.id, in: store.database).copy(toFile: path) }
        let again = try LargeValueWriter(in: store.database)
        try again.write(contentsOfFile: path)
        #expect(again.byteCount == 100)
    }

    @Test func `a read of a large value waits for a connection as long as it may, and can be interrupted`() throws {
        let store = try LargeValueStore { $0.maxConnections = 1 }
        let value = try store.write(Array(0..<200))
        let interruption = try Interruption()
        let reader = try LargeValueReader(value.id, in: store.database, timeout: .zero),
            other = try LargeValueReader(
                value.id, in: store.database, interruption: interruption)
        var pages = try store.database.pages("SELECT 1 UNION SELECT 2", size: 1)
        _ = try pages.next()
        #expect(#expect(throws: StoreError.self) { try reader.bytes(upTo: 10) }?.code == .timeout)
        #expect(#expect(throws: StoreError.self) { try LargeValueReader(value.id, in: store.database, timeout: .zero) }?.code == .timeout)
        while try pages.next() != nil {}
        #expect(try reader.bytes(upTo: 10) == Array(0..<10))
        interruption.interrupt()
        #expect(#expect(throws: StoreError.self) { try other.bytes(upTo: 10) }?.code == .interrupted)
    }
}
