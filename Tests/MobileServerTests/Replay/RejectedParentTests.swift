import MobileModel
import MobileProtocol
import MobileStore
import Testing

@testable import MobileServer

/// A rejected creation also rejects the rows that refer to its row, so that no row loses the parent that its user gave it.
@Suite struct RejectedParentTests {
    /// A client of ``Folders`` with its keys.
    struct Bench {
        let client: HandmadeClient
        let keys: ClosedRange<Int64>

        init(isIdempotent: Bool = false) throws { try self.init(server: Folders.server(isIdempotent: isIdempotent)) }

        init(server: TestServer) throws {
            client = try HandmadeClient(server)
            keys = try #require(try client.synchronize(header: client.header(subscriptions: "{}", groups: #"["default"]"#)).keys)
        }

        func folder(_ id: Int64, key: Int64, name: String, batch: Int64? = nil) -> String {
            create(id, "Folder", key, #"{"name": "\#(name)"}"#, batch)
        }

        /// Makes a note in a folder. The device knows the folder's primary key only if `known` has it.
        func note(_ id: Int64, key: Int64, in folder: Int64, known: String = "null", above: Int64? = nil, batch: Int64? = nil) -> String {
            let refs =
                above.map { #"{"folder": \#(keys.lowerBound + folder), "above": \#(keys.lowerBound + $0)}"# }
                ?? #"{"folder": \#(keys.lowerBound + folder)}"#
            return create(id, "Note", key, #"{"text": "x", "folderId": \#(known)}, "refs": \#(refs)"#, batch)
        }

        private func create(_ id: Int64, _ object: String, _ key: Int64, _ attributes: String, _ batch: Int64?) -> String {
            #"{"id": \#(id), "mbo": "\#(object)", "change": "C", "batch": \#(batch ?? id), "key": \#(keys.lowerBound + key), "attributes": \#(attributes)}"#
        }

        func synchronize(_ operations: [String], settledBelow: Int64 = 0) throws -> HandmadeClient.Answer {
            try client.synchronize(
                operations, header: client.header(subscriptions: "{}", groups: #"["default"]"#, more: ", \"settledBelow\": \(settledBelow)"))
        }

        func notes() throws -> Value? { try client.server.backEndValue("SELECT count(*) FROM note") }
    }

    @Test("PND-12: the child of a parent that was rejected in an earlier batch of the upload is rejected with it", arguments: [false, true])
    func earlierBatch(isIdempotent: Bool) throws {
        let bench = try Bench(isIdempotent: isIdempotent)
        let answer = try bench.synchronize([
            bench.folder(1, key: 0, name: ""), bench.folder(2, key: 1, name: "good"), bench.note(3, key: 2, in: 0), bench.note(4, key: 3, in: 1),
            bench.note(5, key: 4, in: 1, above: 2), bench.note(6, key: 5, in: 0, known: "1"),
        ])
        #expect(
            answer.outcomes == ["rejected 412", "accepted 200", "rejected 424", "accepted 200", "rejected 424", "rejected 424"], "\(answer.outcomes)")
        #expect(answer.results[2]["message"]?.string?.contains("\"Folder\"") == true)
        #expect(try bench.notes() == 1)
    }

    @Test("the same where the parent came in an earlier upload, also after a restart and when its result is settled", arguments: [false, true])
    func earlierUpload(isIdempotent: Bool) throws {
        let bench = try Bench(isIdempotent: isIdempotent)
        #expect(try bench.synchronize([bench.folder(1, key: 0, name: "")]).outcomes == ["rejected 412"])
        #expect(try bench.synchronize([bench.note(2, key: 1, in: 0, known: "-7")]).outcomes == ["rejected 424"])
        #expect(try bench.synchronize([bench.folder(3, key: 2, name: "good")], settledBelow: 3).outcomes == ["accepted 200"])
        try bench.client.restart()
        #expect(try bench.synchronize([bench.note(4, key: 3, in: 0, known: "-7")], settledBelow: 4).outcomes == ["rejected 424"])
        #expect(try bench.notes() == 0)
    }

    @Test("a parent that is submitted again and accepted takes its children", arguments: [false, true])
    func submittedAgain(isIdempotent: Bool) throws {
        let bench = try Bench(isIdempotent: isIdempotent)
        #expect(
            try bench.synchronize([bench.folder(1, key: 0, name: ""), bench.note(2, key: 1, in: 0)]).outcomes == ["rejected 412", "rejected 424"])
        let again = try bench.synchronize([bench.folder(3, key: 0, name: "good"), bench.note(4, key: 1, in: 0)])
        #expect(again.outcomes == ["accepted 200", "accepted 200"])
        #expect(try bench.client.server.backEndValue("SELECT f.name FROM note AS n JOIN folder AS f ON f.id = n.folder") == "good")
        #expect(try bench.synchronize([bench.note(5, key: 2, in: 0)]).outcomes == ["accepted 200"])
    }

    @Test func `other operations of a row whose creation was rejected, and rows that are moved to it, are rejected as well`() throws {
        let bench = try Bench()
        let key = bench.keys.lowerBound
        let answer = try bench.synchronize([
            bench.folder(1, key: 0, name: ""), #"{"id": 2, "mbo": "Folder", "change": "U", "key": \#(key), "attributes": {"name": "good"}}"#,
            #"{"id": 3, "mbo": "Folder", "change": "D", "key": \#(key)}"#, bench.folder(4, key: 1, name: "good"), bench.note(5, key: 2, in: 1),
            """
            {"id": 6, "mbo": "Note", "change": "U", "key": \(key + 2), "attributes": {"folderId": null}, "refs": {"folder": \(key)}}
            """,
            #"{"id": 7, "mbo": "Note", "change": "U", "key": \#(key + 2), "attributes": {"text": "y"}, "refs": {"folder": \#(key)}}"#,
        ])
        #expect(
            answer.outcomes == [
                "rejected 412", "rejected 424", "rejected 424", "accepted 200", "accepted 200", "rejected 424", "accepted 200",
            ])
        #expect(try bench.client.server.backEndValue("SELECT (folder > 1) || text FROM note") == (BackEndKind.underTest == .sqlite ? "1y" : "truey"))
    }

    @Test func `a parent that nobody knows is no parent, unless the device knows its primary key`() throws {
        let bench = try Bench()
        let answer = try bench.synchronize([bench.note(1, key: 0, in: 900), bench.note(2, key: 1, in: 901, known: "1")])
        #expect(answer.outcomes == ["rejected 424", "accepted 200"])
        #expect(try bench.client.server.backEndValue("SELECT folder FROM note") == 1)
    }

    @Test func `the newest ten thousand rejected rows of a client are known, and what an unsubscribed one had is forgotten`() throws {
        let client = try HandmadeClient(Folders.server())
        let header = client.header(subscriptions: "{}", groups: "[]")
        var keys: [Int64] = []
        while keys.count < 10_020 { keys += Array(try #require(try client.synchronize(header: header).keys)) }
        func create(_ id: Int, _ object: String, _ attributes: String, key: Int64, batch: Int, refs: String = "{}") -> String {
            #"{"id": \#(id), "mbo": "\#(object)", "change": "C", "batch": \#(batch), "key": \#(key), "attributes": \#(attributes), "refs": \#(refs)}"#
        }
        let parents = (1...10_003).map { create($0, "Folder", #"{"name": "\#($0 == 10_003 ? "" : "good")"}"#, key: keys[$0], batch: 1) }
        #expect(Set(try client.synchronize(parents, header: header).outcomes) == ["rejected 412"])
        let children = [(1, "-7"), (3, "-7"), (4, "-7"), (10_003, "-7"), (1, "null")].enumerated().map { position, parent in
            create(
                20_000 + position, "Note", #"{"folderId": \#(parent.1)}"#, key: keys[10_010 + position], batch: 20_000 + position,
                refs: #"{"folder": \#(keys[parent.0])}"#)
        }
        let outcomes = ["accepted 200", "accepted 200", "rejected 424", "rejected 424", "rejected 424"]
        #expect(try client.synchronize(children, header: header).outcomes == outcomes)
        func remembered() throws -> Value? {
            var count: Value?
            try client.restart { count = try client.cache { try $0.first("SELECT count(*) FROM _rejected_row")?[0] } }
            return count
        }
        #expect(try client.synchronize(header: header).status == 200)
        #expect(try remembered() == 10_000)
        try client.message("unsubscribe")
        #expect(try remembered() == 0)
    }

    @Test func `a row that refers to itself is no child of its own rejected creation`() throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Tree", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "sqlite"}],
                 "objects": [{"name": "Node", "primaryKey": ["id"], "operations": ["create"],
                    "attributes": [{"name": "id", "type": "int"}, {"name": "name", "type": "string"}, {"name": "above", "type": "int", "nullable": true}],
                    "relationships": [{"name": "parent", "target": "Node", "cardinality": "manyToOne", "mapping": {"above": "id"}}],
                    "binding": {"backEnd": "enterprise", "table": "node"}}]}
                """)
        let tables = "CREATE TABLE node (id INTEGER PRIMARY KEY, name TEXT CHECK (name <> ''), above INTEGER REFERENCES node)"
        let device = try TestDevice(TestServer(model: model, tables: tables, on: .sqlite))
        try device.synchronize()
        let key = device.nextKey()
        func node(_ name: JSONValue) -> OperationFrame {
            OperationFrame(
                id: device.nextID(), object: "Node", change: .create, key: key, attributes: ["id": 1, "name": name, "above": 1],
                refs: ["parent": .integer(key)])
        }
        #expect(try device.synchronize([node("")]).results.map(\.outcome) == [.rejected])
        #expect(try device.synchronize([node("root")]).results.map(\.outcome) == [.accepted])
        #expect(try device.server.backEndValue("SELECT above FROM node") == 1)
    }
}
