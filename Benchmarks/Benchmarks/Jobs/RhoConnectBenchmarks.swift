import BenchmarkReferences
import Foundation
import MobileStore
import MobileTransport
import RhoConnectClient

/// 30,000 property-bag objects of 10 attributes from a RhoConnect server whose answers are in memory, against C that writes the same rows.
enum RhoConnectBenchmarks {
    static let all = [incremental, bulk, bulkInC]

    static let incremental = Benchmark(
        id: "rho.incremental.30k", shows: "30,000 objects of 10 attributes by pages of 2,000 objects", limit: 1.5, memoryLimit: 16 << 20,
        prepare: { _ = try served($0) },
        reference: Side("C: one prepared upsert per value, in one transaction") { workspace, watch in
            let texts = try BagTexts(count(workspace))
            let path = workspace.newFile("bag.db")
            try watch.measure {
                let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: BagTexts.schema, BagTexts.upsert)
                try insert.run { br_texts_insert(texts.handle, $0, 1) }
                insert.close()
            }
            return try BagTexts.outcome(path, objects: count(workspace))
        },
        subject: Side("RhoConnectClient.syncAll") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: false)
        })

    static let bulk = Benchmark(
        id: "rho.bulk.30k", shows: "the same objects by the server's database file", limit: 0.33, memoryLimit: 16 << 20,
        prepare: {
            _ = try served($0)
            _ = try archive($0)
        },
        reference: Side("RhoConnectClient.syncAll, incremental") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: false)
        },
        subject: Side("RhoConnectClient.syncAll, bulk") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: true)
        })

    static let bulkInC = Benchmark(
        id: "rho.bulk.30k.c", shows: "the same by the server's database file, against SQLite alone", limit: nil, memoryLimit: 16 << 20,
        prepare: {
            _ = try served($0)
            _ = try archive($0)
        },
        reference: Side("C: inflate, quick_check, INSERT ... SELECT, CREATE INDEX") { workspace, watch in
            let archive = try archive(workspace), path = workspace.newFile("bag.db"), file = path + "-bulk"
            defer { try? FileManager.default.removeItem(atPath: file) }
            var message = [CChar](repeating: 0, count: 256)
            guard let database = br_database_open(path, 7 << 20, &message, message.count), br_database_run(database, BagTexts.table) else {
                throw WrongResult(String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
            }
            let isDone = watch.measure {
                defer { br_database_close(database) }
                return br_bulk_inflate(archive, file) && br_bulk_copy(database, file)
            }
            guard isDone else { throw WrongResult("the bulk file \(archive) cannot be copied") }
            return try BagTexts.outcome(path, objects: count(workspace))
        },
        subject: Side("RhoConnectClient.syncAll, bulk") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: true)
        })

    private static func count(_ workspace: Workspace) -> Int64 { workspace.isQuick ? 3_000 : 30_000 }

    private static func synchronize(_ workspace: Workspace, _ watch: inout Stopwatch, isBulk: Bool) throws -> Outcome {
        let path = workspace.newFile("rho.db")
        let transport = try AnsweringTransport(pages: served(workspace), bulk: isBulk ? archive(workspace) : nil)
        // Less than the reference has: a page in memory is the rest of the limit.
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: path, cacheSize: .megabytes(7)))
        let client = RhoConnectClient(database, transport: transport)
        try client.addModels([RhomModel("Item")])
        try client.setSyncServer("http://memory/")
        guard client.login(user: "kim", password: "p").errorCode == .none else { throw WrongResult("the login failed") }
        if isBulk { try client.setBulkSyncState(.notSynchronized) }
        try watch.measure {
            let result = client.syncAll()
            guard result.errorCode == .none, result.status == .complete else { throw WrongResult("\(result)") }
            try database.close()
        }
        return try BagTexts.outcome(path, objects: count(workspace))
    }

    /// The pages, written once.
    private static func served(_ workspace: Workspace) throws -> String {
        let objects = count(workspace)
        return try workspace.file("rho-pages") { path in
            let texts = try BagTexts(objects)
            var pages: [UInt8] = [], lengths: [String] = []
            for first in stride(from: 0, to: objects, by: 2_000) {
                let page = try texts.page(first..<min(first + 2_000, objects))
                pages += page
                lengths.append(String(page.count))
            }
            try Data(pages).write(to: URL(filePath: path))
            try Data(lengths.joined(separator: ",").utf8).write(to: URL(filePath: path + ".lengths"))
        }
    }

    /// The archive of the bulk file, written once.
    private static func archive(_ workspace: Workspace) throws -> String {
        let objects = count(workspace)
        return try workspace.file("rho-bulk") { path in
            let texts = try BagTexts(objects), plain = path + ".data"
            try texts.writeBulkFile(plain)
            let file = FileHandle(forReadingAtPath: plain)
            var bytes: [UInt8] = []
            let writer = try ZipWriter { bytes += $0.withUnsafeBytes { Array($0) } }
            try writer.begin("kim.data")
            while let piece = try file?.read(upToCount: 1 << 20), !piece.isEmpty { try writer.push([UInt8](piece).span.bytes) }
            try writer.end()
            try writer.finish()
            try Data(bytes).write(to: URL(filePath: path))
        }
    }
}

/// The texts of the objects.
private final class BagTexts {
    let handle: OpaquePointer
    private let objects: Int64

    static let table = """
        CREATE TABLE object_values (source_id INTEGER NOT NULL, object TEXT NOT NULL, attrib TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (source_id, object, attrib)) WITHOUT ROWID;
        """
    static let schema = table + "CREATE INDEX object_values_value ON object_values (source_id, attrib, value);"
    static let upsert = """
        INSERT INTO object_values (source_id, object, attrib, value) VALUES (?1, ?2, ?3, ?4)
        ON CONFLICT (source_id, object, attrib) DO UPDATE SET value = excluded.value
        """

    init(_ objects: Int64) throws {
        guard let handle = br_texts_create(objects) else { throw WrongResult("no memory for the objects") }
        (self.handle, self.objects) = (handle, objects)
    }

    deinit { br_texts_free(handle) }

    func page(_ range: Range<Int64>) throws -> [UInt8] {
        var writer = try JSONWriter()
        try writer.array { writer throws(StoreError) in
            for (name, value) in [("version", 3), ("token", nil), ("count", Int64(range.count)), ("progress_count", 0), ("total_count", objects)]
                as [(String, Int64?)]
            {
                try writer.object { writer throws(StoreError) in
                    try writer.member(name, value.map { .integer($0) } ?? .string(String(range.upperBound + 1)))
                }
            }
            try writer.object { writer throws(StoreError) in
                try writer.key("insert")
                try writer.object { writer throws(StoreError) in
                    for object in range {
                        try writer.key(String(cString: br_texts_object(handle, object)))
                        try writer.object { writer throws(StoreError) in
                            for attribute in 0..<Int32(10) {
                                try writer.member(
                                    String(cString: br_texts_attribute(handle, attribute)),
                                    .string(String(cString: br_texts_value(handle, object, attribute))))
                            }
                        }
                    }
                }
            }
        }
        return try writer.finish()
    }

    func writeBulkFile(_ path: String) throws {
        let store = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try store.write { connection in
            try connection.execute("CREATE TABLE object_values (source_id BIGINT, attrib VARCHAR, object VARCHAR, value VARCHAR)")
            try connection.execute("CREATE UNIQUE INDEX by_src_object ON object_values (object, attrib, source_id)")
            try connection.execute("CREATE INDEX by_src ON object_values (source_id)")
            try connection.execute("CREATE INDEX by_src_value ON object_values (attrib, source_id, value)")
            try connection.execute("CREATE TABLE sources (source_id BIGINT PRIMARY KEY, name VARCHAR, sync_type VARCHAR, metadata VARCHAR)")
            try connection.execute("INSERT INTO sources VALUES (1, 'Item', 'incremental', NULL)")
            for object in 0..<objects {
                for attribute in 0..<Int32(10) {
                    try connection.execute(
                        "INSERT INTO object_values VALUES (1, ?1, ?2, ?3)",
                        [
                            .text(String(cString: br_texts_attribute(handle, attribute))), .text(String(cString: br_texts_object(handle, object))),
                            .text(String(cString: br_texts_value(handle, object, attribute))),
                        ])
                }
            }
        }
        try store.close()
    }

    /// Compares each row with the text that it must have, made here once more and not kept, because the memory of the run is measured. A database with any
    /// other row throws.
    static func outcome(_ path: String, objects: Int64) throws -> Outcome {
        let store = try Database(ConnectionProfile(path: path, cacheSize: .megabytes(1), maxConnections: 1))
        defer { try? store.close() }
        return try store.read { connection in
            let rows = try connection.statement("SELECT source_id, object, attrib, value FROM object_values ORDER BY source_id, object, attrib")
            var number: Int64 = 0, sum: UInt64 = 0
            while try rows.step() {
                let object = number / 10, attribute = number % 10, id = String(object)
                guard object < objects, rows.integer(0) == 1, rows.text(1) == String(repeating: "0", count: 8 - id.count) + id,
                    rows.text(2) == "attribute\(attribute)", let value = rows.text(3), value == "value \(object * 7919 % objects) of \(attribute)"
                else { throw WrongResult("\(path): row \(number) is another one than expected") }
                for byte in value.utf8 { sum = sum &* 31 &+ UInt64(byte) }
                number += 1
            }
            let indexed = try connection.first(
                "SELECT count(*) FROM object_values INDEXED BY object_values_value WHERE source_id = 1 AND attrib > ''")
            guard number == objects * 10, indexed?.first?.integer == number else { throw WrongResult("\(path): \(number) rows, some without index") }
            return Outcome(rows: number, checksum: sum)
        }
    }
}

/// Answers requests from files that were written before, which the system has in its memory.
private final class AnsweringTransport: Transport {
    private let pages: FileHandle
    /// The lengths of the pages in the file.
    private let lengths: [Int]
    private let bulk: String?
    private let next = Counter()

    private final class Counter: @unchecked Sendable { var value = 0 }  // one client with one thread

    init(pages path: String, bulk: String?) throws {
        guard let pages = FileHandle(forReadingAtPath: path), let lengths = FileManager.default.contents(atPath: path + ".lengths") else {
            throw WrongResult("\(path) cannot be read")
        }
        self.pages = pages
        self.lengths = String(decoding: lengths, as: UTF8.self).split(separator: ",").compactMap { Int($0) }
        self.bulk = bulk
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let text: String
        switch request.url {
        case let url where url.hasSuffix("/rc/v1/clients"): text = #"{"client":{"client_id":"c1"}}"#
        case let url where url.hasSuffix("/bulk_data"): text = #"{"result":"url","url":"/data/kim.data"}"#
        case let url where url.hasSuffix(".rzip"):
            let file = bulk.flatMap { FileHandle(forReadingAtPath: $0) }
            while let file, try send(65_536, of: file, receive) {}
            text = ""
        case let url where url.contains("/app/v1/") && bulk == nil && next.value < lengths.count:
            var left = lengths[next.value]
            next.value += 1
            while left > 0, try send(min(left, 65_536), of: pages, receive) { left -= min(left, 65_536) }
            text = ""
        case let url where url.contains("/app/v1/"): text = #"[{"version":3},{"token":""},{"count":0},{}]"#
        default: text = ""
        }
        if !text.isEmpty { try receive([UInt8](text.utf8).span.bytes) }
        return TransportResponse(status: 200, headers: [("Set-Cookie", "rhoconnect_session=s; path=/")])
    }

    private func send(_ count: Int, of file: FileHandle, _ receive: (RawSpan) throws -> Void) throws -> Bool {
        guard let data = try file.read(upToCount: count), !data.isEmpty else { return false }
        try receive([UInt8](data).span.bytes)
        return true
    }
}
