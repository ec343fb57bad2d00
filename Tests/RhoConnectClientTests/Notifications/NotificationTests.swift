import MobileExecution
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct NotificationTests {
    @Test("RC-153: each model reports its pages and its end, and at the end comes complete")
    func order() async throws {
        let bench = try Bench(others: [RhomModel("Other")])
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"}}}"#, token: "1", count: 1, total: 3)
        bench.server.add("Item", #"{"insert":{"2":{"a":"x"},"3":{"a":"x"}}}"#, token: "2", count: 2, total: 3)
        bench.server.add("Other", .text(500, "boom"))
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:in_progress", "Item:in_progress", "Item:ok", "Other:error", "complete"])
        #expect(notes.map(\.processedCount) == [1, 2, 0, 0, 0])
        #expect(notes.map(\.cumulativeCount) == [1, 3, 3, 0, 0])
        #expect(notes.prefix(2).map(\.totalCount) == [3, 3])
        #expect(notes[0].sourceID == 1 && notes[3].sourceID == 2 && notes[4].sourceID == nil)
        #expect(notes.allSatisfy { $0.syncType == .incremental })
        #expect(notes[3].errorCode == .remoteServer && notes[3].errorMessage == "boom")
    }

    @Test("RC-154: a page with errors reports error 8 with all of them, and the model still ends ok")
    func errorPage() async throws {
        let bench = try Bench()
        let commands =
            #"{"insert":{"1":{"a":"x"}},"create-error":{"t1":{"price":"1"},"t1-error":{"message":"no title"}},"update-error":{"77":{"price":"-1"},"77-error":{"message":"no"}},"update-rollback":{"77":{"title":"Saw","price":"13"}},"delete-error":{"80":{"a":"b"},"80-error":{"message":"never"}}}"#
        bench.server.add("Item", commands, token: "5")
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:error", "Item:in_progress", "Item:ok", "complete"])
        let error = notes[0]
        #expect(error.errorCode == .customSyncServer)
        #expect(error.hasCreateErrors && error.hasUpdateErrors && error.hasDeleteErrors && !error.isUnknownClientError)
        #expect(error.serverErrors.create == [.init(sourceName: "Item", object: "t1", message: "no title", attributes: ["price": "1"])])
        #expect(error.serverErrors.rollback.first?.attributes == ["title": "Saw", "price": "13"])
        let blocking = try Bench()
        blocking.server.add("Item", commands, token: "5")
        let result = await blocking.client.syncAll()
        #expect(result.status == .complete && result.hasCreateErrors && result.errorCode == .customSyncServer)
    }

    @Test("RC-155: a failing model does not stop the others, and complete still comes")
    func failingModel() async throws {
        let bench = try Bench(others: [RhomModel("Other")])
        bench.server.add("Item", .text(500, "boom"))
        bench.server.add("Other", #"{"insert":{"1":{"a":"x"}}}"#, token: "1")
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:error", "Other:in_progress", "Other:ok", "complete"])
    }

    @Test("RC-156: after stopSync nothing is reported, nothing is in progress, and the changes are unsent")
    func stop() throws {
        let bench = try Bench(others: [RhomModel("Other")])
        try bench.item.create(["title": "Saw"])
        bench.client.threadedMode = true
        let notes = bench.notes
        bench.client.setNotification { notes.add($0) }
        let client = bench.client, stopped = Promise<Void, Never>()
        bench.server.onRequest { request in
            guard request.isUpload else { return nil }
            let thread = SystemThread.start {
                client.stopSync()
                stopped.resolve(.success(()))
            }
            _ = thread ? stopped.wait() : ()
            return nil
        }
        bench.client.syncAll()
        stopped.wait()
        #expect(!bench.client.isSyncing)
        #expect(bench.notes.all.isEmpty)
        #expect(try bench.item.isChanged())
        #expect(try bench.value("SELECT sent FROM changed_values") == 0)
        #expect(bench.server.queries.isEmpty)
    }

    @Test("RC-157: a model's callback is removed after the status that ends it, the one for all models stays")
    func singleCallback() throws {
        let bench = try Bench()
        bench.client.threadedMode = true
        let all = Notes(), own = Notes(), ended = Promise<Void, Never>(), again = Promise<Void, Never>()
        bench.client.setNotification(parameters: "all") { notify in
            all.add(notify)
            if notify.status == .complete { again.resolve(.success(())) }
        }
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"}}}"#, token: "1")
        bench.item.sync(parameters: "own") { notify in
            own.add(notify)
            if notify.status == .ok { ended.resolve(.success(())) }
        }
        ended.wait()
        bench.client.syncAll()
        again.wait()
        #expect(own.words == ["Item:in_progress", "Item:ok"])
        #expect(own.all.map(\.callbackParameters) == ["own", "own"])
        #expect(all.words == ["Item:ok", "complete"])
        #expect(all.all.map(\.callbackParameters) == ["all", "all"])
    }

    @Test func `without threaded mode no callback is called, and a cleared one is not called either`() throws {
        let bench = try Bench()
        let notes = bench.notes
        bench.client.setNotification { notes.add($0) }
        #expect(bench.client.syncAll().status == .complete)
        #expect(notes.all.isEmpty)
        bench.client.threadedMode = true
        bench.client.clearNotification()
        #expect(bench.client.syncAll().status == .inProgress)
        bench.client.threadedMode = false
        #expect(bench.client.syncAll().status == .complete)
        #expect(notes.all.isEmpty)
    }

    @Test("RC-158: the pairs of errors are joined into message and attributes, with correct escapes")
    func serverErrors() async throws {
        let bench = try Bench()
        bench.server.add(
            "Item", #"{"create-error":{"t-error":{"a\"b":"c\"d"},"t-error-error":{"message":"say \"no\"\n"},"u-error":{"message":"alone"}}}"#,
            count: 0)
        let errors = try #require(await bench.client.notifications().first).serverErrors
        #expect(
            errors.create == [
                .init(sourceName: "Item", object: "t-error", message: "say \"no\"\n", attributes: ["a\"b": "c\"d"]),
                .init(sourceName: "Item", object: "u", message: "alone", attributes: [:]),
            ])
        let json = try JSONValue(parsing: errors.json.bytes)
        #expect(json["create-error"]?["t-error"] == ["message": "say \"no\"\n", "attributes": ["a\"b": "c\"d"]])
        #expect(json["create-error"]?["u"] == ["message": "alone"])
    }

    @Test("RC-159: once per page the observed objects are reported: updated, deleted, created")
    func objects() throws {
        let bench = try Bench()
        let temporary = try bench.item.create(["title": "new"])
        let list = SystemLock<[RhoConnectObjectNotify]>([])
        bench.client.setObjectNotification { notify in list.withLock { $0.append(notify) } }
        let id = try #require(bench.item.sourceID)
        for object in ["1", "2", "3", temporary] { bench.client.addObjectNotify(sourceID: id, object: object) }
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"},"2":{"a":"x"},"9":{"a":"x"}}}"#, token: "1", count: 3)
        bench.server.add(
            "Item",
            "{\"insert\":{\"1\":{\"a\":\"y\"}},\"delete\":{\"1\":{\"a\":\"x\"},\"2\":{\"a\":\"x\"}},\"links\":{\"\(temporary)\":{\"l\":\"91\"}}}",
            token: "2", count: 3)
        bench.server.add("Item", #"{"insert":{"9":{"a":"z"}}}"#, token: "3")
        bench.client.syncAll()
        let notes = list.withLock { $0 }
        #expect(notes.count == 2)
        #expect(notes.first?.updatedObjects.map(\.object) == ["1", "2"] && notes.first?.updatedSourceIDs == [1, 1])
        #expect(notes.last?.updatedObjects.map(\.object) == ["1"])
        #expect(notes.last?.deletedObjects.map(\.object) == ["2"] && notes.last?.deletedSourceIDs == [1])
        #expect(notes.last?.createdObjects.map(\.object) == [temporary] && notes.last?.createdSourceIDs == [1])
        bench.client.clearObjectNotification()
        bench.server.add("Item", #"{"insert":{"1":{"a":"q"}}}"#, token: "4")
        bench.client.syncAll()
        #expect(list.withLock { $0.count } == 2)
    }

    @Test("RC-162: a push synchronizes exactly the models that it names")
    func push() throws {
        let bench = try Bench(others: [RhomModel("Other"), RhomModel("Third", associations: ["item": "Item"])])
        #expect(bench.client.handlePush(doSync: ["Third", "Unknown"]).errorCode == .none)
        #expect(bench.server.queries.map(\.source) == ["Third"])
        #expect(bench.client.handlePush(doSync: ["Unknown"]).status == .ok)
        #expect(bench.server.queries.count == 1)
        bench.client.handlePush(doSync: ["all"])
        #expect(bench.server.queries.dropFirst().map(\.source) == ["Item", "Other", "Third"])
    }

    @Test func `errors of a page whose process ended before the report are reported by the next one`() throws {
        let bench = try Bench()
        let temporary = try bench.item.create(["title": "new"])
        bench.server.onRequest { request in
            guard request.isQuery, request.query["token"] == "1" else { return nil }
            return .json(StrictServer.page("{\"create-error\":{\"\(temporary)\":{\"title\":\"new\"},\"\(temporary)-error\":{\"message\":\"no\"}}}"))
        }
        bench.client.syncAll()
        bench.server.onRequest(nil)
        let (again, _) = try bench.reopened()
        let result = again.syncAll()
        #expect(result.serverErrors.create == [.init(sourceName: "Item", object: temporary, message: "no", attributes: ["title": "new"])])
        #expect(again.syncAll().serverErrors.isEmpty)
    }

    @Test func `a poll interval starts the next synchronization by itself`() async throws {
        let bench = try Bench()
        bench.client.threadedMode = true
        let completed = AsyncStream<Void>.makeStream()
        bench.client.setNotification { if $0.status == .complete { completed.continuation.yield() } }
        bench.client.pollInterval = 1
        var count = 0
        for await _ in completed.stream {
            count += 1
            if count == 2 { break }
        }
        bench.client.pollInterval = 0
        #expect(bench.server.queries.count >= 2)
    }

    @Test func `log lines come from the set weight on, without values and session`() throws {
        let bench = try Bench()
        let lines = SystemLock<[String]>([])
        bench.client.setLogSink { severity, line in lines.withLock { $0.append("\(severity.rawValue) \(line)") } }
        try bench.item.create(["title": "secret"])
        bench.client.syncAll()
        #expect(
            lines.withLock { $0 }.contains { $0.hasPrefix("0 GET ") }
                && lines.withLock { $0 }.contains { $0.hasPrefix("1 synchronize all: complete") })
        #expect(!lines.withLock { $0 }.contains { $0.contains("secret") || $0.contains("rhoconnect_session") || $0.contains("token") })
        lines.withLock { $0 = [] }
        bench.client.logSeverity = .error
        bench.client.syncAll()
        #expect(lines.withLock { $0 } == [])
    }
}
