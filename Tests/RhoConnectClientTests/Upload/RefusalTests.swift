import MobileExecution
import MobileStore
import RhoConnectClient
import TestSupport
import Testing

/// Changes that the server's application refuses, and the answers to them.
@Suite struct RefusalTests {
    @Test(
        "RC-098 RC-099: a refused create is removed, or becomes an unsent one again",
        arguments: [RhoConnectClient.CreateErrorAction.delete, .recreate])
    func createError(action: RhoConnectClient.CreateErrorAction) throws {
        let bench = try Bench()
        let id = try bench.item.create(["price": "1"])
        bench.server.add("Item", "{\"create-error\":{\"\(id)\":{\"price\":\"1\"},\"\(id)-error\":{\"message\":\"no title\"}}}", count: 0)
        let result = bench.client.syncAll()
        #expect(result.hasCreateErrors)
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1, "pending until the application decides")
        try bench.client.onCreateError(result, action: action)
        #expect(try bench.item.count() == (action == .delete ? 0 : 1))
        #expect(try bench.item.isChanged() == (action == .recreate))
        bench.client.syncAll()
        #expect(bench.server.uploads.count == (action == .delete ? 1 : 2))
        if action == .recreate { #expect(try bench.upload(1)["create"] == [id: ["price": "1"]]) }
        bench.check()
    }

    @Test("RC-099: an object that was destroyed meanwhile is not created again")
    func recreateDestroyed() throws {
        let bench = try Bench()
        let id = try bench.item.create(["price": "1"])
        bench.server.add("Item", "{\"create-error\":{\"\(id)-error\":{\"message\":\"no\"}}}", count: 0)
        let result = bench.client.syncAll()
        try bench.item.destroy(["object": id])
        try bench.client.onCreateError(result, action: .recreate)
        #expect(try !bench.item.isChanged())
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
    }

    @Test(
        "RC-100: a refused update is rolled back to the server's values, or sent again",
        arguments: [RhoConnectClient.UpdateErrorAction.rollback, .retry])
    func updateError(action: RhoConnectClient.UpdateErrorAction) throws {
        let bench = try Bench.filled()
        try bench.item.save(["object": "77", "price": "-1"])
        bench.server.add(
            "Item",
            #"{"update-error":{"77":{"price":"-1"},"77-error":{"message":"negative"}},"update-rollback":{"77":{"title":"Saw","price":"12"}}}"#,
            count: 0)
        let result = bench.client.syncAll()
        #expect(try bench.item.find("77")?["price"] == "-1")
        #expect(try !bench.item.isChanged())
        try bench.client.onUpdateError(result, action: action)
        #expect(try bench.item.find("77")?.attributes == ["title": "Saw", "price": action == .rollback ? "12" : "-1"])
        bench.client.syncAll()
        #expect(bench.server.uploads.count == (action == .retry ? 2 : 1))
        if action == .retry { #expect(try bench.upload(1)["update"] == ["77": ["price": "-1"]]) }
    }

    @Test("RC-101: the retry of an update does not replace a newer change that was not sent")
    func newerChange() throws {
        let bench = try Bench.filled()
        try bench.item.save(["object": "77", "price": "-1", "title": "bad"])
        bench.server.add(
            "Item",
            #"{"update-error":{"77":{"price":"-1","title":"bad"},"77-error":{"message":"negative"}},"update-rollback":{"77":{"title":"Saw","price":"12"}}}"#,
            count: 0)
        let result = bench.client.syncAll()
        try bench.item.save(["object": "77", "price": "20"])
        try bench.client.onUpdateError(result, action: .retry)
        bench.client.syncAll()
        #expect(try bench.upload(1)["update"] == ["77": ["price": "20", "title": "bad"]])
    }

    @Test("refusals that the application could not answer before its process ended are reported to the next one, answered ones are not")
    func unansweredErrors() throws {
        let bench = try Bench.filled()
        let id = try bench.item.create(["title": "New"])
        try bench.item.save(["object": "77", "price": "-1"])
        bench.server.add(
            "Item",
            "{\"create-error\":{\"\(id)\":{\"title\":\"New\"},\"\(id)-error\":{\"message\":\"no\"}},"
                + #""update-error":{"77":{"price":"-1"},"77-error":{"message":"negative"}},"update-rollback":{"77":{"title":"Saw","price":"12"}}}"#,
            count: 0)
        #expect(bench.client.syncAll().hasCreateErrors)
        let (client, item) = try bench.reopened()
        let again = client.syncAll()
        #expect(again.serverErrors.create.map(\.object) == [id] && again.serverErrors.create.map(\.message) == ["no"])
        #expect(
            again.serverErrors.update.map(\.object) == ["77"] && again.serverErrors.rollback.map(\.attributes) == [["title": "Saw", "price": "12"]])
        try client.onCreateError(again, action: .delete)
        let (last, lastItem) = try bench.reopened()
        let left = last.syncAll()
        #expect(!left.hasCreateErrors && left.hasUpdateErrors)
        try last.onUpdateError(left, action: .rollback)
        #expect(try lastItem.findAll().map(\.attributes) == [["title": "Saw", "price": "12"]])
        #expect(try !item.isChanged() && last.syncAll().serverErrors.isEmpty)
        #expect(try bench.reopened().0.syncAll().serverErrors.isEmpty)
    }

    @Test("a refused update of an object that the server does not have is answered by a rollback as well")
    func rollbackWithoutValues() throws {
        let bench = try Bench.filled()
        try bench.item.save(["object": "77", "price": "-1"])
        bench.server.add("Item", #"{"update-error":{"77":{"price":"-1"},"77-error":{"message":"gone"}}}"#, count: 0)
        try bench.client.onUpdateError(bench.client.syncAll(), action: .rollback)
        #expect(try bench.reopened().0.syncAll().serverErrors.isEmpty)
    }

    @Test("refusals of a page whose report the application stopped are reported by the next synchronization")
    func stoppedReport() throws {
        let bench = try Bench()
        for (object, token) in [("77", "21"), ("80", "22")] {
            let errors = "{\"\(object)\":{\"a\":\"b\"},\"\(object)-error\":{\"message\":\"no\"}}"
            bench.server.add("Item", "{\"insert\":{\"\(object)\":{\"a\":\"x\"}},\"update-error\":\(errors)}", token: token)
        }
        // Stopped in the transaction of the second page: it is committed, and not reported.
        let stored = SystemLock(0), stop = SystemLock<(@Sendable () -> Void)?>(nil)
        let profile = ConnectionProfile(
            path: bench.directory.file("store.db"),
            trace: { statement in
                guard statement.contains("SET errors"),
                    stored.withLock({
                        $0 += 1; return $0 == 2
                    })
                else { return }
                stop.withLock { $0 }?()
            })
        let client = RhoConnectClient(try RhoConnectClient.initDatabase(profile))
        stop.withLock { $0 = { client.stopSync() } }
        defer { stop.withLock { $0 = nil } }
        let item = RhomModel("Item")
        try client.addModels([item])
        try client.setSyncServer(bench.server.url)
        #expect(client.syncAll().errorCode == .cancelledByUser)
        #expect(try item.count() == 2)
        #expect(Set(client.syncAll().serverErrors.update.map(\.object)) == ["77", "80"])
        #expect(client.syncAll().serverErrors.isEmpty)
    }

    @Test("the rollback of an update replaces neither a newer change that was not sent, equal to the refused one, nor a newer value of a page")
    func rollbackOfOldValues() throws {
        let bench = try Bench.filled(["77": ["title": "Saw", "price": "12"], "80": ["title": "Axe", "price": "12"]])
        for object in ["77", "80"] { try bench.item.save(["object": object, "price": "-1"]) }
        let refused = ["77", "80"].map { "\"\($0)\":{\"price\":\"-1\"},\"\($0)-error\":{\"message\":\"negative\"}" }
        let old = ["77", "80"].map { "\"\($0)\":{\"title\":\"Saw\",\"price\":\"12\"}" }
        bench.server.add(
            "Item", "{\"update-error\":{\(refused.joined(separator: ","))},\"update-rollback\":{\(old.joined(separator: ","))}}", count: 0)
        let result = bench.client.syncAll()
        bench.server.add("Item", #"{"insert":{"80":{"price":"15"}}}"#, token: "11")
        bench.client.syncAll()
        // The user changes his mind, and back: the last word is the user's.
        for price in ["20", "-1"] { try bench.item.save(["object": "77", "price": price]) }
        try bench.client.onUpdateError(result, action: .rollback)
        #expect(try bench.item.find("77")?.attributes == ["title": "Saw", "price": "-1"])
        #expect(try bench.item.find("80")?["price"] == "15")
        let sent = bench.server.uploads.count
        bench.client.syncAll()
        #expect(try bench.upload(sent)["update"] == ["77": ["price": "-1"]])
    }

    @Test("the second answer to a refused create changes nothing: an object that waits to be created again is not removed")
    func secondAnswer() throws {
        let bench = try Bench()
        let id = try bench.item.create(["price": "1"])
        bench.server.add("Item", "{\"create-error\":{\"\(id)\":{\"price\":\"1\"},\"\(id)-error\":{\"message\":\"no\"}}}", count: 0)
        let result = bench.client.syncAll()
        try bench.client.onCreateError(result, action: .recreate)
        try bench.item.save(["object": id, "price": "2"])
        try bench.client.onCreateError(result, action: .delete)
        #expect(try bench.item.find(id)?["price"] == "2")
        bench.client.syncAll()
        #expect(try bench.upload(1)["create"] == [id: ["price": "2"]])
    }

    @Test(
        "a refusal that comes before the one before was answered takes its place, and names the changed attributes of both", arguments: [true, false])
    func newerRefusal(hasValues: Bool) throws {
        let bench = try Bench.filled()
        try bench.item.save(["object": "77", "price": "-1", "title": "bad"])
        bench.server.add(
            "Item",
            #"{"update-error":{"77":{"price":"-1","title":"bad"},"77-error":{"message":"first"}},"update-rollback":{"77":{"title":"Saw","price":"12"}}}"#,
            count: 0)
        bench.client.syncAll()
        let (client, item) = try bench.reopened()
        try item.save(["object": "77", "price": "-2"])
        let rollback = hasValues ? #","update-rollback":{"77":{"title":"Saw","price":"14"}}"# : ""
        bench.server.add("Item", "{\"update-error\":{\"77\":{\"price\":\"-2\"},\"77-error\":{\"message\":\"second\"}}\(rollback)}", count: 0)
        // Both results: that with the stored refusal and the new one, and that of the next process.
        for result in [client.syncAll(), try bench.reopened().0.syncAll()] {
            #expect(
                result.serverErrors.update
                    == [.init(sourceName: "Item", object: "77", message: "second", attributes: ["price": "-2", "title": "bad"])])
            #expect(result.serverErrors.rollback.map(\.attributes) == (hasValues ? [["title": "Saw", "price": "14"]] : []))
        }
        let (last, lastItem) = try bench.reopened()
        try last.onUpdateError(last.syncAll(), action: .retry)
        let sent = bench.server.uploads.count
        last.syncAll()
        #expect(try bench.upload(sent)["update"] == ["77": ["price": "-2", "title": "bad"]])
        #expect(try lastItem.find("77")?.attributes == ["price": "-2", "title": "bad"])
    }

    @Test("refused creates and deletions have one refusal, the newer one")
    func newerRefusalOfOtherKinds() throws {
        let bench = try Bench.filled()
        let id = try bench.item.create(["title": "New"])
        try bench.item.destroy(["object": "77"])
        func errors(_ message: String, _ title: String) -> String {
            "{\"create-error\":{\"\(id)\":{\"title\":\"\(title)\"},\"\(id)-error\":{\"message\":\"\(message)\"}},"
                + "\"delete-error\":{\"77\":{\"title\":\"\(title)\"},\"77-error\":{\"message\":\"\(message)\"}}}"
        }
        bench.server.add("Item", errors("first", "old"), count: 0)
        bench.client.syncAll()
        let (client, _) = try bench.reopened()
        bench.server.add("Item", errors("second", "new"), count: 0)
        for result in [client.syncAll(), try bench.reopened().0.syncAll()] {
            #expect(
                result.serverErrors.create + result.serverErrors.delete
                    == [id, "77"].map { .init(sourceName: "Item", object: $0, message: "second", attributes: ["title": "new"]) })
        }
    }

    @Test("the retry of a deletion leaves an object that exists again")
    func deleteErrorOfPresentObject() throws {
        let bench = try Bench.filled()
        try bench.item.destroy(["object": "77"])
        bench.server.add("Item", #"{"delete-error":{"77":{"title":"Saw","price":"12"},"77-error":{"message":"in use"}}}"#, count: 0)
        let result = bench.client.syncAll()
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw","price":"15"}}}"#, token: "12")
        bench.client.syncAll()
        try bench.client.onDeleteError(result, action: .retry)
        #expect(try !bench.item.isChanged())
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
        #expect(try bench.item.find("77")?["price"] == "15")
    }

    @Test("the retry of a deletion leaves a newer one that waits", arguments: [#""77":{"title":"Saw","price":"12"},"#, ""])
    func deleteErrorOfDestroyedObject(echo: String) throws {
        let bench = try Bench.filled()
        try bench.item.destroy(["object": "77"])
        bench.server.add("Item", "{\"delete-error\":{\(echo)\"77-error\":{\"message\":\"in use\"}}}", count: 0)
        let result = bench.client.syncAll()
        bench.server.add("Item", #"{"insert":{"77":{"title":"Saw","price":"15"}}}"#, token: "12")
        bench.client.syncAll()
        try bench.item.destroy(["object": "77"])
        try bench.client.onDeleteError(result, action: .retry)
        bench.client.syncAll()
        #expect(try bench.upload(1)["delete"] == ["77": ["price": "15", "title": "Saw"]])
    }

    @Test("RC-102: a refused deletion is sent again")
    func deleteError() throws {
        let bench = try Bench.filled()
        try bench.item.destroy(["object": "77"])
        bench.server.add("Item", #"{"delete-error":{"77":{"title":"Saw","price":"12"},"77-error":{"message":"in use"}}}"#, count: 0)
        let result = bench.client.syncAll()
        #expect(try !bench.item.isChanged())
        try bench.client.onDeleteError(result, action: .retry)
        bench.client.syncAll()
        #expect(try bench.upload(1)["delete"] == ["77": ["price": "12", "title": "Saw"]])
    }
}
