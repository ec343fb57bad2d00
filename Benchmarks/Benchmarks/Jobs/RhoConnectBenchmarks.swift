import BenchmarkReferences
import Foundation
import MobileStore
import MobileTransport
import RhoConnectClient

/// 30,000 property-bag objects of 10 attributes from a RhoConnect server whose answers are in memory, against C that writes the same rows.
enum RhoConnectBenchmarks {
    static let all = [incremental, bulk]

    static let incremental = Benchmark(
        id: "rho.incremental.30k", shows: "30,000 objects of 10 attributes by pages of 2,000 objects", limit: 1.5, memoryLimit: 16 << 20,
        prepare: { _ = try served($0) },
        reference: Side("C: one prepared upsert per value, 15 transactions") { workspace, watch in
            let texts = try BagTexts(count(workspace))
            let path = workspace.newFile("bag.db")
            return try texts.outcome(path) {
                try watch.measure {
                    let insert = try CInsert(path, pageSize: 4096, cache: .megabytes(10), schema: BagTexts.schema, BagTexts.upsert)
                    try insert.run { br_texts_insert(texts.handle, $0, 1) }
                    insert.close()
                }
            }
        },
        subject: Side("RhoConnectClient.syncAll") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: false)
        })

    static let bulk = Benchmark(
        id: "rho.bulk.30k", shows: "the same objects by the server's database file", limit: 0.33, memoryLimit: 16 << 20,
        prepare: { _ = try served($0) },
        reference: Side("RhoConnectClient.syncAll, incremental") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: false)
        },
        subject: Side("RhoConnectClient.syncAll, bulk") { workspace, watch in
            try synchronize(workspace, &watch, isBulk: true)
        })

    private static func count(_ workspace: Workspace) -> Int64 { workspace.isQuick ? 3_000 : 30_000 }

    private static func synchronize(_ workspace: Workspace, _ watch: inout Stopwatch, isBulk: Bool) throws -> Outcome {
        let path = workspace.newFile("rho.db")
        let transport = try AnsweringTransport(pages: served(workspace), bulk: isBulk ? archive(workspace) : nil)
        let database = try RhoConnectClient.initDatabase(ConnectionProfile(path: path))
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
        return try BagTexts.outcome(path)
    }

    /// The pages, written once.
    private static func served(_ workspace: Workspace) throws -> String {
        let objects = count(workspace)
        return try workspace.file("rho-pages") { path in
            let texts = try BagTexts(objects)
            var pages: [UInt8] = []
            for first in stride(from: 0, to: objects, by: 2_000) {
                pages += try texts.page(first..<min(first + 2_000, objects)) + [UInt8(ascii: "\n")]
            }
            try Data(pages).write(to: URL(filePath: path))
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

    static let schema = """
        CREATE TABLE object_values (source_id INTEGER NOT NULL, object TEXT NOT NULL, attrib TEXT NOT NULL, value TEXT NOT NULL,
        PRIMARY KEY (source_id, object, attrib)) WITHOUT ROWID;
        CREATE INDEX object_values_value ON object_values (source_id, attrib, value);
        """
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

    func outcome(_ path: String, _ work: () throws -> Void) throws -> Outcome {
        try work()
        return try Self.outcome(path)
    }

    /// The rows of a database, with a sum that depends on each text.
    static func outcome(_ path: String) throws -> Outcome {
        let store = try Database(ConnectionProfile(path: path))
        defer { try? store.close() }
        let row = try store.read { connection in
            try connection.first(
                """
                SELECT count(*), sum(length(object) * 31 + length(attrib) * 7 + length(value)), sum(CAST(substr(value, 7) AS INTEGER) * CAST(object AS INTEGER) % 1009)
                FROM object_values
                """)
        }
        return Outcome(rows: row?[0].integer ?? 0, checksum: UInt64(bitPattern: (row?[1].integer ?? 0) &* 1_000_003 &+ (row?[2].integer ?? 0)))
    }
}

/// Answers requests from files that were written before.
private final class AnsweringTransport: Transport {
    private let pages: [[UInt8]]
    private let bulk: [UInt8]?
    private let next = Counter()

    private final class Counter: @unchecked Sendable { var value = 0 }  // one client with one thread

    init(pages path: String, bulk: String?) throws {
        pages = try Data(contentsOf: URL(filePath: path)).split(separator: UInt8(ascii: "\n")).map { [UInt8]($0) }
        self.bulk = try bulk.map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
    }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        let text: [UInt8]
        switch request.url {
        case let url where url.hasSuffix("/rc/v1/clients"): text = [UInt8](#"{"client":{"client_id":"c1"}}"#.utf8)
        case let url where url.hasSuffix("/bulk_data"): text = [UInt8](#"{"result":"url","url":"/data/kim.data"}"#.utf8)
        case let url where url.hasSuffix(".rzip"): text = bulk ?? []
        case let url where url.contains("/app/v1/") && bulk == nil && next.value < pages.count:
            text = pages[next.value]
            next.value += 1
        case let url where url.contains("/app/v1/"): text = [UInt8](#"[{"version":3},{"token":""},{"count":0},{}]"#.utf8)
        default: text = []
        }
        for start in stride(from: 0, to: text.count, by: 65_536) { try receive(text[start..<min(start + 65_536, text.count)].span.bytes) }
        return TransportResponse(status: 200, headers: [("Set-Cookie", "rhoconnect_session=s; path=/")])
    }
}
