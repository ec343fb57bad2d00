import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct PageTests {
    @Test("RC-047: each query has a token, 1 where none is stored, and the last committed one otherwise")
    func tokens() throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"b"}}}"#, token: "8712")
        bench.server.add("Item", #"{"insert":{"2":{"a":"b"}}}"#, token: "8713")
        bench.client.syncAll()
        bench.client.syncAll()
        #expect(bench.server.queries.map { $0.query["token"] } == ["1", "8712", "8713", "1"])
        bench.check()
    }

    @Test("RC-048: a client that ends after the response and before the commit receives the page again")
    func endedBeforeCommit() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        let page = StrictServer.Answer.json(StrictServer.page(#"{"insert":{"77":{"title":"Saw"}}}"#, token: "11", count: 1))
        bench.server.onRequest { request in
            // The server's rule: any other token than that of the pending page sends it again.
            request.isQuery ? request.query["token"] == "11" ? .json(StrictServer.page()) : page : nil
        }
        transport.setFate { $0.url.contains("/app/v1/") ? .loseAnswer : .pass }
        bench.client.syncAll()
        transport.setFate { _ in .pass }
        let (client, item) = try bench.reopened()
        #expect(try item.count() == 0)
        client.syncAll()
        #expect(try item.find("77")?.attributes == ["title": "Saw"])
        #expect(bench.server.queries.map { $0.query["token"] } == ["1", "1", "11"])
    }

    @Test("RC-049: a client that ends after the commit acknowledges the page, and applies nothing twice")
    func endedAfterCommit() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw"}}}"#, token: "11")
        transport.setFate { $0.url.contains("token=11") ? .refuse : .pass }
        bench.client.syncAll()
        let (client, item) = try bench.reopened()
        try item.save(["object": "77", "title": "Axe"])
        client.syncAll()
        #expect(bench.server.queries.map { $0.query["token"] } == ["1", "11"])
        #expect(try item.find("77")?.attributes == ["title": "Axe"])
        bench.check()
    }

    @Test("RC-050: it pages on while there is a token, also on a page without objects")
    func pagesWithoutObjects() throws {
        let bench = try Bench()
        let temporary = try bench.item.create(["title": "Saw"])
        bench.server.add("Item", "{\"links\":{\"\(temporary)\":{\"l\":\"91\"}}}", token: "21", count: 0)
        bench.server.add("Item", #"{"insert":{"5":{"title":"Axe"}}}"#, token: "22")
        bench.client.syncAll()
        #expect(bench.server.queries.count == 3)
        #expect(try bench.item.findAll().map { $0["object"] } == ["5", "91"])
        bench.check()
    }

    @Test(
        "RC-056: deletes of a page are applied before its inserts: after the page of a change the new value is stored",
        arguments: ["insert", "delete"])
    func deleteBeforeInsert(first: String) throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw","price":"12.00"}}}"#, token: "1")
        let insert = #""insert":{"77":{"price":"12.50"}}"#, delete = #""delete":{"77":{"price":"12.00"}}"#
        bench.server.add("Item", "{" + (first == "insert" ? insert + "," + delete : delete + "," + insert) + "}", token: "2", count: 2)
        bench.client.syncAll()
        #expect(try bench.item.find("77")?.attributes == ["title": "Saw", "price": "12.50"])
    }

    @Test("RC-057 RC-058: an object without attributes is gone, and deletes of something unknown are ignored")
    func deletes() throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"x","b":"y"},"2":{"a":"z"}}}"#, token: "1")
        bench.server.add("Item", #"{"delete":{"1":{"a":"x","b":"y","c":"?"},"9":{"a":"b"}}}"#, token: "2")
        bench.client.syncAll()
        #expect(try bench.item.find("1") == nil)
        #expect(try bench.item.findAll().map { $0["object"] } == ["2"])
    }

    @Test("RC-059: page and token are committed together; a page that cannot be applied leaves both as they were")
    func failingApply() throws {
        let schema = RhomSchema(version: "1", properties: [.init("title"), .init("price")], uniqueIndexes: ["by_title": ["title"]])
        let bench = try Bench(item: RhomModel("Item", modelType: .fixedSchema(schema)))
        bench.server.add("Item", #"{"insert":{"1":{"title":"Saw"}}}"#, token: "11")
        bench.client.syncAll()
        bench.server.add("Item", #"{"insert":{"2":{"title":"Axe"},"3":{"title":"Saw"}}}"#, token: "12", count: 2)
        #expect(bench.client.syncAll().errorCode == .runtime)
        #expect(try bench.item.findAll().map { $0["object"] } == ["1"])
        #expect(try bench.value("SELECT token FROM sources") == "")
        #expect(bench.server.queries.last?.query["token"] == "1")
    }

    @Test(
        "RC-060: another version of the protocol is error 11, and stops the synchronization",
        arguments: [#"[{"version":4},{"token":""},{}]"#, #"[{"token":""},{"count":0},{}]"#])
    func otherVersion(page: String) async throws {
        let bench = try Bench(others: [RhomModel("Other")])
        bench.server.add("Item", .json(page))
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:error"])
        #expect(notes.last?.errorCode == .syncVersion)
        #expect(bench.server.queries.count == 1)
    }

    @Test(
        "RC-061: an empty array, an object or a text with status 200 is error 4, and changes nothing",
        arguments: [
            "[]", "{}", "Unknown client", "", "[1]", #"[{"version":3},{"token":"5"},{"insert":[]}]"#,
            #"[{"version":3},{"token":"5"},{"insert":{"1":"x"}}]"#,
        ])
    func wrongShape(body: String) throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"}}}"#, token: "7")
        bench.client.syncAll()
        bench.server.add("Item", .json(body))
        #expect(bench.client.syncAll().errorCode == .unexpectedServerResponse)
        #expect(try bench.item.findAll().map(\.attributes) == [["a": "x"]])
    }

    @Test("RC-062: unknown elements and commands are ignored")
    func unknownElements() throws {
        let bench = try Bench()
        let page =
            #"[{"version":3,"x":1},{"token":"31"},{"refresh_time":300},{"count":1},{"progress_count":0},{"total_count":1},{"future":{"a":[1]}},{"insert":{"1":{"a":"x"}},"upsert":{"2":{"a":"y"}}},{"later":true}]"#
        bench.server.add("Item", .json(page))
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.findAll().map { $0["object"] } == ["1"])
    }

    @Test("RC-063: the metadata string is stored")
    func metadata() throws {
        let bench = try Bench()
        #expect(try bench.item.metadata() == nil)
        bench.server.add("Item", #"{"metadata":"{\"view\":\"list\"}"}"#, count: 0)
        bench.client.syncAll()
        #expect(try bench.item.metadata() == #"{"view":"list"}"#)
    }

    @Test("RC-066: the data of a page with a source error is applied, and the error is reported")
    func sourceErrorWithData() async throws {
        let bench = try Bench()
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"}},"source-error":{"query-error":{"message":"backend down"}}}"#, token: "4")
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:error", "Item:in_progress", "Item:ok", "complete"])
        #expect(notes[0].errorCode == .customSyncServer && notes[0].serverErrors.source == ["query-error": "backend down"])
        #expect(notes[0].serverErrors.json.description == #"{"query-error":{"message":"backend down"}}"#)
        #expect(try bench.item.count() == 1)
    }

    @Test("RC-068: the application's query parameters are appended to the address")
    func queryParameters() throws {
        let bench = try Bench {
            $0.queryParameters = "query[color]=red%20ish"; $0.pageSize = 7
        }
        bench.client.syncAll()
        #expect(bench.server.queries.first?.query["query[color]"] == "red ish")
        #expect(bench.server.queries.first?.query["p_size"] == "7")
    }

    @Test("RC-070: pass-through: the data is replaced by one query per synchronization")
    func passThrough() throws {
        var options = RhomModel.Options()
        options.isPassThrough = true
        let bench = try Bench(item: RhomModel("Item", options: options))
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"},"2":{"n":4.50,"f":true,"z":null}}}"#, token: "41", count: 2)
        bench.server.add("Item", #"{"insert":{"2":{"n":"5"}}}"#, token: "42")
        bench.client.syncAll()
        #expect(bench.server.queries.count == 1)
        #expect(try bench.item.find("2")?.attributes == ["n": "4.50", "f": "true", "z": ""])
        bench.client.syncAll()
        #expect(bench.server.queries.count == 2)
        #expect(try bench.item.findAll().map { $0["object"] } == ["2"])
        #expect(try bench.item.find("2")?.attributes == ["n": "5"])
    }

    @Test(
        "RC-072: a changed schema stops the synchronization with its status, without complete, and is acknowledged by the application's decision alone"
    )
    func schemaChanged() async throws {
        let bench = try Bench(others: [RhomModel("Other")])
        let page = StrictServer.Answer.json(StrictServer.page(#"{"schema-changed":"true"}"#, token: "51"))
        bench.server.onRequest { $0.isQuery && $0.query["token"] != "51" ? page : nil }
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:schema_changed"])
        #expect(await bench.client.syncAll().status == .schemaChanged)
        #expect(bench.server.queries.map { $0.query["token"] } == ["1", "1"])
        try bench.client.setBulkSyncState(.notSynchronized)
        try bench.client.setBulkSyncState(.done)
        bench.server.forgetRequests()
        await bench.client.syncAll()
        #expect(bench.server.queries.first?.query["token"] == "51")
        #expect(RhoConnectNotify.Status(rawValue: "schema-changed") == .schemaChanged)
    }

    @Test("cuts at each byte of a page leave data and token as they were, and the page comes again")
    func cuts() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        let text = StrictServer.page(
            #"{"insert":{"77":{"title":"S\u00e4ge","price":"12.50"}},"delete":{"80":{"title":"Axe"}},"links":{}}"#, token: "61", count: 2)
        bench.server.onRequest { $0.isQuery ? .json($0.query["token"] == "61" ? StrictServer.page() : text) : nil }
        for length in 0..<text.utf8.count {
            transport.setFate { $0.url.contains("/app/v1/") ? .cut(after: length) : .pass }
            let notify = bench.client.syncAll()
            guard notify.errorCode == .network else { Issue.record("cut after \(length): \(notify)"); break }
        }
        #expect(try bench.item.count() == 0)
        #expect(Set(bench.server.queries.map { $0.query["token"] }) == ["1"])
        transport.setFate { _ in .pass }
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try bench.item.find("77")?.attributes == ["title": "Säge", "price": "12.50"])
    }

    @Test("texts that end at each byte of a page with status 200 are error 4, and change nothing")
    func truncatedTexts() throws {
        let bench = try Bench()
        let text = StrictServer.page(#"{"insert":{"77":{"title":"Saw"}}}"#, token: "61", count: 1)
        for length in 0..<text.utf8.count {
            bench.server.add("Item", .init(body: Array(text.utf8.prefix(length))))
            #expect(bench.client.syncAll().errorCode == .unexpectedServerResponse, "after \(length) bytes")
        }
        #expect(try bench.item.count() == 0)
    }

    @Test("damaged pages never stop the process and never change data without their token", arguments: [1, 2, 3] as [UInt64])
    func damagedPages(seed: UInt64) throws {
        let bench = try Bench()
        var random = SeededGenerator(seed: seed)
        let text = [UInt8](
            StrictServer.page(
                #"{"insert":{"77":{"title":"Saw"}},"links":{"t":{"l":"9"}},"create-error":{"t":{"a":"b"},"t-error":{"message":"m"}}}"#, token: "61",
                count: 1
            ).utf8)
        for _ in 0..<150 {
            var damaged = text
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<damaged.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: damaged[place] = UInt8.random(in: 0...255, using: &random)
                case 1: damaged.remove(at: place)
                default: damaged.insert(damaged[Int.random(in: 0..<damaged.count, using: &random)], at: place)
                }
            }
            let body = damaged
            bench.server.onRequest { $0.isQuery ? .init(body: $0.query["token"] == "1" ? body : [UInt8](StrictServer.page().utf8)) : nil }
            let notify = bench.client.syncAll()
            if notify.status == .error, notify.errorCode != .customSyncServer {
                #expect([.unexpectedServerResponse, .syncVersion, .runtime].contains(notify.errorCode))
            }
            try bench.client.databaseFullReset()
        }
    }
}
