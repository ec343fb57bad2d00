import Foundation
import MobileExecution
import MobileProtocol
import MobileServer
import MobileServerRhoConnect
import MobileStore
import TestSupport
import Testing

/// Bulk files of the face, section 6 of the protocol.
@Suite struct BulkFaceTests {
    static let saws = ["1": ["title": "Saw", "price": "3"], "2": ["title": "Axe"]]
    static let fixed = ["a": ["street": "High Street"], "b": ["street": "Low Road", "city": "Cork"]]

    /// Item and Note are property bags, Address has a schema, Shared belongs to all users.
    static func bench(_ configure: (inout RhoConnectSource) -> Void = { _ in }) throws -> FaceBench {
        var address = RhoConnectSource("Address", adapter: MemoryAdapter(fixed))
        address.schema = RhoConnectSchema(
            version: "1.3", properties: [.init("street"), .init("city"), .init("map", type: "blob,overwrite")],
            indexes: ["by_city": ["city", "street"]],
            uniqueIndexes: ["by_street": ["street"]])
        (address.priority, address.pollInterval, address.belongsTo) = (1, 0, ["city": "Item"])
        var note = RhoConnectSource("Note", adapter: MemoryAdapter(["n": ["text": "x"]]))
        note.pollInterval = 0
        var shared = RhoConnectSource("Shared", adapter: MemoryAdapter(["s": ["a": "b"]]))
        (shared.partition, shared.pollInterval) = (.app, 0)
        return try FaceBench(saws, others: [address, note, shared]) { source in
            source.pollInterval = 0
            configure(&source)
        }
    }

    @Test(
        "RC-135: the first request is told to wait, a later one gets the address; no sources are nop, and a missing partition is 500",
        arguments: [3, 4])
    func requests(style: Int) throws {
        let bench = try Self.bench()
        let client = try bench.client()
        func request(_ partition: String?, _ sources: String?) throws -> FaceBench.Answer {
            guard style == 4 else {
                var query = ["client_id": client.id]
                if let partition { query["partition"] = partition }
                if let sources { query["sources"] = sources }
                return try client.call("GET", "/application/bulk_data", query)
            }
            var body: JSONObject = [:]
            if let partition { body["partition"] = .string(partition) }
            if let sources { body["sources"] = .array(sources.split(separator: ",").map { .string(String($0)) }) }
            return try client.call("POST", "/rc/v1/app/bulk_data", body: JSONValue.object(body).description)
        }
        #expect(try request("user", "Item,Note").json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        let ready = try request("user", "Item,Note")
        let url = try #require(ready.json?["url"]?.string)
        #expect(ready.json == ["result": "url", "url": .string(url)])
        #expect(url.hasPrefix("/data/") && url.hasSuffix("/kim/kim_1795000000.data"))
        #expect(try request("user", "Item").json == ready.json, "whatever sources are named")
        #expect(try request("user", "").json == ["result": "nop"])
        #expect(try request("app", nil).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        #expect(try request("app", nil).json?["url"]?.string?.hasSuffix("/application_1795000000.data") == true)
        #expect(try request(nil, "Item").status == 500)
        #expect(try request("user", "Nothing").status == 500)
    }

    @Test(
        "RC-136: the archive has one entry with the last part of the address as its name, gzip and plain are the same database, parts are sent, and no session is needed"
    )
    func forms() throws {
        let bench = try Self.bench()
        let url = try bench.bulkFile()
        let plain = try bench.call("GET", url)
        #expect(plain.status == 200 && plain.body.starts(with: Array("SQLite format 3\0".utf8)))
        let path = try bench.directory.write(try bench.call("GET", url + ".rzip").body, to: "bulk.rzip")
        let archive = try ZipArchive(path: path)
        #expect(archive.entries.map(\.name) == ["kim_1795000000.data"])
        var unpacked: [UInt8] = []
        try archive.extract(archive.entries[0]) { piece in unpacked += piece.withUnsafeBytes { Array($0) } }
        #expect(unpacked == plain.body)
        let gzip = try bench.call("GET", url + ".gzip")
        #expect(try Gzip.inflate(gzip.body, maximumLength: 1 << 24) == plain.body)
        let part = try bench.call("GET", url, headers: ["range": "bytes=10-19"])
        #expect(part.status == 206 && part.body == Array(plain.body[10..<20]))
        #expect(part.header("Content-Range") == "bytes 10-19/\(plain.body.count)")
        #expect(try bench.call("GET", url, headers: ["range": "bytes=99999999-"]).status == 416)
        #expect(try bench.call("GET", "/data/0/kim/kim_1795000000.data").status == 404)
    }

    @Test("parts of a file of several pieces, across their borders")
    func longFile() throws {
        let long = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("o\($0)", ["text": String(repeating: "\($0) ", count: 40)]) })
        let bench = try FaceBench(long)
        let url = try bench.bulkFile(sources: ["Item"])
        let all = try bench.call("GET", url).body
        try #require(all.count > 600_000)
        for range in [262_143..<262_145, 0..<all.count, 262_144..<524_288, 100..<600_000] {
            let answer = try bench.call("GET", url, headers: ["range": "bytes=\(range.lowerBound)-\(range.upperBound - 1)"])
            #expect(answer.body == Array(all[range]), "\(range)")
        }
    }

    @Test("RC-137: the tables and columns are those of the original clients; a source that was not selected has the type none and no rows")
    func content() throws {
        let bench = try Self.bench()
        let store = try bench.bulkDatabase(sources: ["Item"])
        try store.read { file in
            let tables = try file.rows("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").compactMap(\.first?.text)
            #expect(tables == ["Address", "changed_values", "client_info", "object_values", "sources"])
            #expect(try file.rows("SELECT 1 FROM sqlite_schema WHERE type NOT IN ('table', 'index')").isEmpty)
            func columns(_ table: String) throws -> [String] {
                try file.rows("SELECT name FROM pragma_table_info(?1)", [.text(table)]).compactMap(\.first?.text)
            }
            #expect(try columns("client_info") == ["client_id", "session", "token", "token_sent", "reset", "port", "last_sync_success"])
            #expect(try columns("object_values") == ["source_id", "attrib", "object", "value"])
            #expect(try columns("changed_values") == ["source_id", "attrib", "object", "value", "attrib_type", "update_type", "sent"])
            #expect(
                try columns("sources") == [
                    "source_id", "name", "token", "sync_priority", "partition", "sync_type", "metadata", "source_attribs", "schema", "schema_version",
                    "associations", "blob_attribs", "backend_refresh_time", "last_updated", "last_inserted_size", "last_deleted_size",
                    "last_sync_duration", "last_sync_success",
                ])
            #expect(try file.first("SELECT count(*) FROM client_info UNION ALL SELECT count(*) FROM changed_values")?.first == 0)
            let indexes = try file.rows("SELECT name, \"unique\" FROM pragma_index_list('object_values')")
            let indexed = try indexes.map { index in
                try file.rows("SELECT name FROM pragma_index_info(?1)", [index[0]]).compactMap(\.first?.text).joined(separator: ",")
                    + (index[1] == 1 ? " unique" : "")
            }
            #expect(Set(indexed) == ["object,attrib,source_id unique", "source_id", "attrib,source_id,value"])
            let rows = try file.rows("SELECT object, attrib, value FROM object_values WHERE source_id = 2 ORDER BY object, attrib")
            #expect(rows.map { $0.compactMap(\.text).joined(separator: " ") } == ["1 price 3", "1 title Saw", "2 title Axe"])
            #expect(try file.first("SELECT count(*) FROM object_values WHERE source_id <> 2")?.first == 0)
            #expect(try file.first("SELECT count(*) FROM Address")?.first == 0)
            let sources = try file.rows(
                """
                SELECT source_id, name, sync_priority, partition, sync_type, token, schema_version, source_attribs, associations, blob_attribs,
                last_inserted_size, backend_refresh_time FROM sources ORDER BY source_id
                """)
            #expect(
                sources.map { $0.prefix(5) } == [
                    [1, "Address", 1, "user", "none"], [2, "Item", 3, "user", "incremental"], [3, "Note", 3, "user", "none"],
                ])
            #expect(sources.allSatisfy { $0[5] == .null && $0[6] == .null })
            #expect(sources[1].suffix(from: 7) == ["price,1,title,2", "Address,city", "", 2, 1_795_000_000])
        }
    }

    @Test("RC-138: the table of a schema has the object as its primary key, columns that may be empty, and the schema's indexes")
    func schema() throws {
        let bench = try Self.bench()
        let store = try bench.bulkDatabase(sources: ["Address"])
        try store.read { file in
            let columns = try file.rows("SELECT name, \"notnull\", pk FROM pragma_table_info('Address')")
            #expect(columns == [["object", 0, 1], ["street", 0, 0], ["city", 0, 0], ["map", 0, 0]])
            let rows = try file.rows("SELECT object, street, city, map FROM Address ORDER BY object")
            #expect(rows == [["a", "High Street", .null, .null], ["b", "Low Road", "Cork", .null]])
            let indexes = try file.rows("SELECT name, \"unique\" FROM pragma_index_list('Address') WHERE origin = 'c' ORDER BY name")
            #expect(indexes == [["by_city", 0], ["by_street", 1]])
            #expect(try file.rows("SELECT name FROM pragma_index_info('by_city')") == [["city"], ["street"]])
            let row = try file.first("SELECT schema, blob_attribs, source_attribs, last_inserted_size, sync_type FROM sources WHERE name = 'Address'")
            let text =
                #"{"version":"1.3","property":{"street":"string","city":"string","map":"blob,overwrite"},"index":{"by_city":"city,street"},"#
                + #""unique_index":{"by_street":"street"}}"#
            #expect(row == [.text(text), "map,1", "", 2, "incremental"])
        }
    }

    @Test("RC-139: after the address was given, a query of a requested source sends the differences from the file alone; links are not lost")
    func differences() throws {
        let bench = try Self.bench()
        let client = try bench.client()
        _ = try client.query("Note")
        _ = try client.upload(["create": ["tmp": ["title": "New"]]])
        #expect(try client.query().commands?["links"] != nil)
        _ = try bench.bulkFile(client, sources: ["Item"])
        bench.adapter.objects["1"]?["price"] = "4"
        let page = try client.query()
        #expect(page.commands == ["insert": ["1": ["price": "4"]], "delete": ["1": ["price": "3"]], "links": ["tmp": ["l": "b1"]]])
        #expect(try client.query(token: page.token).commands == [:])
        #expect(try client.query("Note").commands == ["insert": ["n": ["text": "x"]]], "it was not requested")
    }

    @Test("RC-140: a source that is sent in bulk files alone sends all its data when it is queried")
    func bulkOnly() throws {
        let bench = try Self.bench { $0.syncType = .bulkOnly }
        let client = try bench.client()
        let store = try bench.bulkDatabase(client, sources: ["Item"])
        #expect(try store.read { try $0.first("SELECT sync_type FROM sources WHERE name = 'Item'")?.first } == "bulk_sync_only")
        #expect(try store.read { try $0.first("SELECT count(*) FROM object_values")?.first } == 3)
        #expect(try client.query().commands?["insert"] == ["1": ["price": "3", "title": "Saw"], "2": ["title": "Axe"]])
    }

    @Test("a file is made again when its time is over, and when a schema has another version; the one before it stays for downloads in progress")
    func reuse() throws {
        let bench = try Self.bench()
        let client = try bench.client()
        let first = try bench.bulkFile(client)
        bench.time.withLock { $0 += 3_600_000 }
        #expect(try bench.requestBulk(client).json?["url"]?.string == first)
        bench.time.withLock { $0 += 1 }
        #expect(try bench.requestBulk(client).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        let second = try #require(try bench.requestBulk(client).json?["url"]?.string)
        #expect(second != first)
        #expect(try bench.call("GET", first).status == 200)
        var sources = bench.sources
        sources[1].schema?.version = "1.4"
        let next = try bench.another(sources)
        #expect(try bench.requestBulk(client.on(next)).json == ["result": "wait"])
        next.waitForBulkFiles()
        #expect(try bench.call("GET", first).status == 404)
        #expect(try bench.call("GET", second).status == 200)
    }

    @Test("a source with an error gives an empty address once, then the file is made again")
    func sourceError() throws {
        let bench = try Self.bench()
        let client = try bench.client()
        bench.adapter.state.withLock { $0.queryError = "backend down" }
        #expect(try bench.requestBulk(client).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        #expect(try bench.requestBulk(client).json == ["result": "url", "url": ""])
        bench.adapter.state.withLock { $0.queryError = nil }
        #expect(try bench.requestBulk(client).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        #expect(try bench.requestBulk(client).json?["url"]?.string?.isEmpty == false)
    }

    @Test("files of users are their own, that of the application belongs to all; another process sends them too")
    func owners() throws {
        let bench = try Self.bench()
        let kim = try bench.client("kim"), lee = try bench.client("lee"), next = try bench.another()
        let own = try bench.bulkFile(kim)
        #expect(try bench.requestBulk(lee).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        #expect(try bench.requestBulk(kim.on(next)).json?["url"]?.string == own)
        #expect(try bench.call("GET", own + ".rzip", on: next).body == bench.call("GET", own + ".rzip").body)
        #expect(try bench.requestBulk(kim, partition: "app", sources: ["Shared"]).json == ["result": "wait"])
        bench.face.waitForBulkFiles()
        let shared = try bench.requestBulk(kim, partition: "app", sources: ["Shared"]).json
        #expect(try bench.requestBulk(lee, partition: "app", sources: ["Shared"]).json == shared)
        #expect(try lee.query("Shared").commands == [:])
    }

    @Test("a process that ends while it makes a file gives it up after a minute")
    func endedProcess() throws {
        let bench = try Self.bench()
        let client = try bench.client()
        let began = Promise<Bool, Never>(), rest = Promise<Bool, Never>()
        bench.adapter.state.withLock { state in
            state.refusal = { _, _, _ in nil }
            state.beforeQuery = {
                began.resolve(.success(true))
                _ = rest.wait()
            }
        }
        #expect(try bench.requestBulk(client).json == ["result": "wait"])
        _ = began.wait()
        bench.adapter.state.withLock { $0.beforeQuery = nil }
        let next = try bench.another()
        bench.time.withLock { $0 += 60_000 }
        #expect(try bench.requestBulk(client.on(next)).json == ["result": "wait"])
        next.waitForBulkFiles()
        #expect(try bench.requestBulk(client.on(next)).json == ["result": "wait"], "the first process may still be at work")
        bench.time.withLock { $0 += 1 }
        #expect(try bench.requestBulk(client.on(next)).json == ["result": "wait"])
        next.waitForBulkFiles()
        let url = try bench.requestBulk(client.on(next)).json?["url"]?.string
        #expect(url?.isEmpty == false)
        // The first one was only slow: its file does not replace the newer one.
        rest.resolve(.success(true))
        bench.face.waitForBulkFiles()
        #expect(try bench.requestBulk(client).json?["url"]?.string == url)
    }

    @Test("users with odd names have files of their own at addresses that can be sent")
    func oddNames() throws {
        let bench = try FaceBench(Self.saws, face: { $0.authenticate = { login, _ in .accepted(user: login) } })
        let login = try bench.call("POST", "/rc/v1/app/login", body: #"{"login":"../ö ?#","password":"x"}"#)
        let cookie = try #require(login.cookie)
        let created = try bench.call("POST", "/rc/v1/clients", headers: ["cookie": cookie])
        let client = FaceBench.Client(bench: bench, cookie: cookie, id: try #require(created.json?["client"]?["client_id"]?.string))
        let url = try bench.bulkFile(client, sources: ["Item"])
        #expect(url.hasSuffix("/.._%C3%B6%20%3F%23/.._%C3%B6%20%3F%23_1795000000.data"))
        #expect(try bench.call("GET", url.removingPercentEncoding ?? "").status == 200)
    }
}

extension FaceBench {
    func requestBulk(_ client: Client, partition: String = "user", sources: [String] = ["Item", "Note", "Address"]) throws -> Answer {
        let body: JSONValue = ["partition": .string(partition), "sources": .array(sources.map { .string($0) })]
        return try client.call("POST", "/rc/v1/app/bulk_data", body: body.description)
    }

    /// Has a file made, and returns its address.
    func bulkFile(_ client: Client? = nil, sources: [String] = ["Item", "Note", "Address"]) throws -> String {
        let client = try client ?? self.client()
        _ = try requestBulk(client, sources: sources)
        face.waitForBulkFiles()
        return try #require(try requestBulk(client, sources: sources).json?["url"]?.string)
    }

    /// Has a file made, and opens it.
    func bulkDatabase(_ client: Client? = nil, sources: [String]) throws -> Database {
        let bytes = try call("GET", try bulkFile(client, sources: sources)).body
        let path = try directory.write(bytes, to: "bulk.data")
        return try Database(ConnectionProfile(path: path, journal: .unchanged))
    }
}
