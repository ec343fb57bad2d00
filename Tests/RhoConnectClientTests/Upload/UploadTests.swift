import MobileExecution
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct UploadTests {
    @Test(
        "RC-074 RC-076: the body has source, client and the operations that have changes: all attributes of a new object, the changed ones of an update, all of a deletion"
    )
    func body() throws {
        let bench = try Bench.filled(["77": ["title": "Saw", "price": "12"], "80": ["title": "Axe", "price": "9"]])
        let id = try bench.item.create(["title": "New", "price": "1"])
        try bench.item.save(["object": "77", "title": "Saw", "price": "13"])
        try bench.item.destroy(["object": "80"])
        bench.client.syncAll()
        #expect(
            try bench.upload(0) == [
                "source_name": "Item", "client_id": "client1", "create": [id: ["price": "1", "title": "New"]], "update": ["77": ["price": "13"]],
                "delete": ["80": ["price": "9", "title": "Axe"]],
            ] as JSONValue)
        #expect(bench.server.requests.map(\.method) == ["POST", "GET"])
        try bench.item.save(["object": "77", "price": "14"])
        bench.client.syncAll()
        #expect(try bench.upload(1) == ["source_name": "Item", "client_id": "client1", "update": ["77": ["price": "14"]]] as JSONValue)
        bench.check()
    }

    @Test("RC-075: all values are JSON strings, with quotes and control characters escaped")
    func escapes() throws {
        let bench = try Bench()
        let text = "say \"no\"\\\n\t\u{1}é😀"
        try bench.item.create(["text": text, "number": "4.50"])
        bench.client.syncAll()
        let created = try #require(try bench.upload(0)["create"]?.onlyValue)
        #expect(created["text"]?.string == text && created["number"] == "4.50")
        bench.check()
    }

    @Test("RC-077: with full updates all attributes of a changed object are sent")
    func fullUpdate() throws {
        var options = RhomModel.Options()
        options.sendsFullUpdates = true
        let bench = try Bench.filled(item: RhomModel("Item", options: options))
        try bench.item.save(["object": "77", "price": "13"])
        bench.client.syncAll()
        #expect(try bench.upload(0)["update"] == ["77": ["price": "13", "title": "Saw"]])
    }

    @Test("RC-078: reserved names are never sent, and names that the server would change are refused")
    func reservedNames() throws {
        let bench = try Bench()
        try bench.item.create([
            "title": "Saw", "source_id": "9", "update_type": "x", "attrib_type": "blob.file", "set_notification": "1", "clear_notification": "1",
        ])
        for object in [["id": "1"], ["a:b": "1"], ["": "x"], ["a": "b:^rho&:c"]] {
            #expect(throws: RhoConnectError.self) { try bench.item.create(object) }
        }
        bench.client.syncAll()
        #expect(try bench.upload(0)["create"]?.onlyValue == ["title": "Saw"])
        bench.check()
    }

    @Test("RC-079: an object without attributes is refused, and never sent")
    func emptyObjects() throws {
        let bench = try Bench()
        #expect(throws: RhoConnectError.self) { try bench.item.create([:]) }
        #expect(throws: RhoConnectError.self) { try bench.item.create(["object": "5", "source_id": "1"]) }
        #expect(try !bench.item.isChanged())
        bench.client.syncAll()
        #expect(bench.server.uploads.isEmpty)
    }

    @Test("RC-086: a link renames the object, its waiting changes of all kinds, and the values of associations in other models")
    func link() throws {
        let order = RhomModel("Order", associations: ["item": "Item"])
        let bench = try Bench(others: [order])
        let server = bench.server
        let id = try bench.item.create(["title": "Saw"])
        bench.server.onRequest { request in
            // While the model's pages come, the user changes the new object and refers to it.
            guard request.isUpload, request.source == "Item" else { return nil }
            server.add("Item", "{\"links\":{\"\(id)\":{\"l\":\"91\"}}}", token: "1", count: 0)
            return nil
        }
        let other = try bench.item.create(["title": "Second"])
        try order.create(["object": "o1", "item": id])
        try order.create(["object": "o2", "item": other])
        bench.client.syncAll()
        #expect(try bench.item.find("91")?.attributes == ["title": "Saw"])
        #expect(try bench.item.find(id) == nil)
        #expect(try order.find("o1")?.attributes == ["item": "91"])
        #expect(bench.server.uploads.map(\.source) == ["Item", "Order"])
        #expect(try bench.upload(1)["create"] == ["o1": ["item": "91"]])
        bench.check()
    }

    @Test("RC-086: updates and deletions that wait on the temporary id go out under the server's")
    func linkedChanges() throws {
        let bench = try Bench()
        let first = try bench.item.create(["title": "Saw"]), second = try bench.item.create(["title": "Axe"])
        bench.client.syncAll()
        try bench.item.save(["object": first, "title": "Saw 2"])
        try bench.item.destroy(["object": second])
        bench.server.add("Item", "{\"links\":{\"\(first)\":{\"l\":\"91\"},\"\(second)\":{\"l\":\"92\"}}}", token: "1", count: 0)
        bench.client.syncAll()
        bench.client.syncAll()
        let last = try #require(bench.server.uploads.last?.json)
        #expect(last["update"] == ["91": ["title": "Saw 2"]] && last["delete"] == ["92": ["title": "Axe"]] && last["create"] == nil)
        #expect(try bench.item.findAll().map(\.attributes) == [["title": "Saw 2"]])
        #expect(try !bench.item.isChanged())
        bench.check()
    }

    @Test("RC-087: an unknown temporary id in links is ignored")
    func unknownLink() throws {
        let bench = try Bench.filled()
        bench.server.add("Item", #"{"links":{"77":{"l":"99"},"tmp":{"l":"98"}}}"#, token: "11", count: 0)
        bench.client.syncAll()
        #expect(try bench.item.findAll().map { $0["object"] } == ["77"])
    }

    @Test("RC-103: pending creates are not uploaded again, and their local changes wait for the link")
    func pendingCreates() throws {
        let bench = try Bench { $0.createAttempts = 0 }
        let id = try bench.item.create(["title": "Saw"])
        bench.client.syncAll()
        try bench.item.save(["object": id, "title": "Saw 2"])
        bench.client.syncAll()
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
        #expect(try bench.item.isChanged())
    }

    @Test func `creates without an answer cause uploads without changes, a limited number of times`() throws {
        let bench = try Bench { $0.createAttempts = 2 }
        let id = try bench.item.create(["title": "Saw"])
        for _ in 0..<5 { bench.client.syncAll() }
        #expect(bench.server.uploads.count == 3)
        #expect(try bench.upload(2) == ["source_name": "Item", "client_id": "client1"] as JSONValue)
        #expect(try bench.item.unconfirmedCreates() == [id])
        bench.check()
    }

    @Test("RC-104 RC-105: an object that refers to a create without a link is held back, and its rows stay unsent")
    func heldBack() throws {
        let order = RhomModel("Order", associations: ["item": "Item"])
        let bench = try Bench(others: [order]) { $0.createAttempts = 0 }
        let id = try bench.item.create(["title": "Saw"])
        try order.create(["object": "o1", "item": id])
        try order.create(["object": "o2", "item": "77"])
        bench.client.syncAll()
        #expect(bench.server.uploads.map(\.source) == ["Item", "Order"])
        #expect(try bench.upload(1)["create"] == ["o2": ["item": "77"]])
        #expect(try bench.value("SELECT sent FROM changed_values WHERE object = 'o1'") == 0)
        bench.server.add("Item", "{\"links\":{\"\(id)\":{\"l\":\"91\"}}}", token: "1", count: 0)
        bench.client.syncAll()
        #expect(try bench.upload(2)["create"] == ["o1": ["item": "91"]])
        bench.check()
    }

    @Test("RC-086 RC-104: a change that refers to a create without a link is held back, and goes out with the server's id")
    func heldBackChange() throws {
        let order = RhomModel("Order", associations: ["item": "Item"])
        let bench = try Bench(others: [order]) { $0.createAttempts = 0 }
        bench.server.add("Order", #"{"insert":{"o1":{"item":"77","note":"old"}}}"#, token: "10")
        bench.client.syncAll()
        bench.server.forgetRequests()
        let id = try bench.item.create(["title": "Saw"])
        try order.save(["object": "o1", "item": id, "note": "new"])
        bench.client.syncAll()
        #expect(bench.server.uploads.map(\.source) == ["Item"])
        bench.server.add("Item", "{\"links\":{\"\(id)\":{\"l\":\"91\"}}}", token: "1", count: 0)
        bench.client.syncAll()
        #expect(try bench.upload(1)["update"] == ["o1": ["item": "91", "note": "new"]])
        #expect(try order.find("o1")?.attributes == ["item": "91", "note": "new"] && !order.isChanged())
        bench.check()
    }

    @Test("RC-106: a failed upload makes all changes unsent again, and skips the query")
    func failedUpload() throws {
        let bench = try Bench.filled(["77": ["title": "Saw"], "80": ["title": "Axe"]])
        let id = try bench.item.create(["title": "New"])
        try bench.item.save(["object": "77", "title": "Saw 2"])
        try bench.item.destroy(["object": "80"])
        bench.server.answer("POST /app/v1/Item", .text(401, "Not authenticated"))
        bench.server.answer("POST /app/v1/Item", .empty)
        #expect(bench.client.syncAll().errorCode == .unauthorized)
        #expect(bench.server.queries.isEmpty)
        #expect(try bench.value("SELECT count(*) FROM changed_values WHERE sent = 0") == 3)
        bench.client.syncAll()
        #expect(try bench.upload(1) == bench.upload(0))
        #expect(try bench.upload(1)["create"] == [id: ["title": "New"]])
    }

    @Test("RC-106: a failed upload's change of an object that was destroyed meanwhile is not sent again")
    func destroyedDuringUpload() throws {
        let bench = try Bench.filled()
        let item = bench.item
        try item.save(["object": "77", "price": "13"])
        bench.server.onRequest { request in
            guard request.isUpload else { return nil }
            _ = try? item.destroy(["object": "77"])
            return .text(500, "busy")
        }
        #expect(bench.client.syncAll().errorCode == .remoteServer)
        bench.server.onRequest(nil)
        bench.client.syncAll()
        #expect(
            try bench.upload(1) == ["source_name": "Item", "client_id": "client1", "delete": ["77": ["price": "13", "title": "Saw"]]] as JSONValue)
        #expect(try !item.isChanged())
    }

    @Test("RC-107: a change made during the upload is kept, and sent with the next synchronization")
    func changeDuringUpload() throws {
        let bench = try Bench.filled()
        let item = bench.item
        try item.save(["object": "77", "price": "13"])
        bench.server.onRequest { request in
            if request.isUpload { try? item.save(["object": "77", "price": "14"]) }
            return nil
        }
        bench.client.syncAll()
        bench.server.onRequest(nil)
        #expect(try item.find("77")?["price"] == "14")
        #expect(try item.isChanged())
        bench.client.syncAll()
        #expect(try bench.upload(1)["update"] == ["77": ["price": "14"]])
        #expect(try !item.isChanged())
    }

    @Test func `a change made during a page stays visible over the server's older value`() throws {
        let bench = try Bench.filled()
        let item = bench.item
        bench.server.add("Item", #"{"insert":{"77":{"price":"99"}},"delete":{"77":{"price":"12"}}}"#, token: "12", count: 2)
        bench.server.onRequest { request in
            if request.isQuery, request.query["token"] == "1" { try? item.save(["object": "77", "price": "14"]) }
            return nil
        }
        bench.client.syncAll()
        #expect(try item.find("77")?["price"] == "14")
        bench.client.syncAll()
        #expect(try bench.upload(0)["update"] == ["77": ["price": "14"]])
    }

    @Test("RC-108 RC-109 RC-110: created and destroyed sends nothing, two saves send the last value once, an equal value nothing")
    func mergedChanges() throws {
        let bench = try Bench.filled()
        let id = try bench.item.create(["title": "New"])
        try bench.item.save(["object": id, "title": "Newer"])
        try bench.item.destroy(["object": id])
        try bench.item.save(["object": "77", "price": "12", "title": "Saw"])
        #expect(try !bench.item.isChanged())
        try bench.item.save(["object": "77", "price": "13"])
        try bench.item.save(["object": "77", "price": "14"])
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
        #expect(try bench.upload(0) == ["source_name": "Item", "client_id": "client1", "update": ["77": ["price": "14"]]] as JSONValue)
        let second = try bench.item.create(["title": "A"])
        try bench.item.save(["object": second, "title": "B"])
        bench.client.syncAll()
        #expect(try bench.upload(1)["create"] == [second: ["title": "B"]])
        #expect(try bench.upload(1)["update"] == nil)
    }

    @Test("RC-111: after an upload without an answer the links come first, also those of the server's queue; only creates without one are sent again")
    func lostAnswer() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        let taken = try bench.item.create(["title": "Saw"]), lost = try bench.item.create(["title": "Axe"])
        let destroyed = try bench.item.create(["title": "gone"])
        transport.setFate { $0.method == "POST" && $0.url.contains("/app/v1/") ? .loseAnswer : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        #expect(bench.server.queries.isEmpty)
        transport.setFate { _ in .pass }
        try bench.item.save(["object": taken, "title": "Saw 2"])
        try bench.item.save(["object": lost, "title": "Axe 2"])
        try bench.item.destroy(["object": destroyed])
        bench.server.forgetRequests()
        bench.server.add("Item", "{\"links\":{\"\(taken)\":{\"l\":\"91\"}}}", token: "1", count: 0)
        let (client, item) = try bench.reopened()
        client.syncAll()
        // An upload without changes comes between: the server's queue may still hold some of them.
        #expect(bench.server.requests.map(\.method) == ["GET", "GET", "POST", "GET", "POST", "GET"])
        #expect(try bench.upload(0) == ["source_name": "Item", "client_id": "client1"] as JSONValue)
        #expect(
            try bench.upload(1) == [
                "source_name": "Item", "client_id": "client1", "create": [lost: ["title": "Axe 2"]], "update": ["91": ["title": "Saw 2"]],
            ] as JSONValue)
        #expect(try item.count() == 2)
        bench.check()
    }

    @Test("deletions wait for a page that may be on its way, other changes do not")
    func deletionsAfterThePage() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        bench.server.add("Item", #"{"insert":{"1":{"a":"x"},"2":{"a":"x"}}}"#, token: "11", count: 2)
        bench.client.syncAll()
        transport.setFate { $0.method == "GET" && $0.url.contains("/app/v1/") ? .refuse : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        transport.setFate { _ in .pass }
        try bench.item.save(["object": "1", "a": "y"])
        try bench.item.destroy(["object": "2"])
        bench.server.forgetRequests()
        let (client, _) = try bench.reopened()
        for _ in 0..<2 { #expect(client.syncAll().errorCode == .none) }
        #expect(bench.server.requests.map(\.method) == ["POST", "GET", "POST", "GET", "GET"])
        #expect(try bench.upload(0) == ["source_name": "Item", "client_id": "client1", "update": ["1": ["a": "y"]]] as JSONValue)
        #expect(try bench.upload(1) == ["source_name": "Item", "client_id": "client1", "delete": ["2": ["a": "x"]]] as JSONValue)
        bench.check()
    }

    @Test("RC-115: creates of a pass-through model leave the queue after a 200")
    func passThrough() throws {
        var options = RhomModel.Options()
        options.isPassThrough = true
        let bench = try Bench(item: RhomModel("Item", options: options))
        try bench.item.create(["title": "Saw"])
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
        #expect(try !bench.item.isChanged())
    }

    @Test("RC-152: a model is changed with unsent and with pending changes, and not any more after the end page")
    func isChanged() throws {
        let bench = try Bench()
        let item = bench.item
        let id = try item.create(["title": "Saw"])
        #expect(try item.isChanged())
        bench.client.syncAll()
        #expect(try item.isChanged())
        bench.server.add("Item", "{\"links\":{\"\(id)\":{\"l\":\"91\"}}}", token: "1", count: 0)
        bench.server.onRequest { request in
            if request.isQuery, request.query["token"] == "1", (try? item.isChanged()) == false {
                return .text(500, "not changed before the end page")
            }
            return nil
        }
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try !item.isChanged())
    }

    @Test("an id is in use as long as the deletion of its object waits")
    func idOfDestroyedObject() throws {
        let bench = try Bench.filled()
        try bench.item.destroy(["object": "77"])
        let error = #expect(throws: RhoConnectError.self) { try bench.item.create(["object": "77", "title": "Axe"]) }
        #expect(error?.message == "create in \"Item\": the id \"77\" is in use")
        #expect(throws: RhoConnectError.self) { try bench.item.save(["object": "77", "title": "Axe"]) }
        bench.client.syncAll()
        #expect(
            try bench.upload(0) == ["source_name": "Item", "client_id": "client1", "delete": ["77": ["price": "12", "title": "Saw"]]] as JSONValue)
        try bench.item.create(["object": "77", "title": "Axe"])
        bench.client.syncAll()
        #expect(try bench.upload(1)["create"] == ["77": ["title": "Axe"]])
        bench.check()
    }

    @Test func `pushChanges sends one upload without changes`() throws {
        let bench = try Bench()
        try bench.item.pushChanges()
        #expect(try bench.item.isChanged())
        bench.client.syncAll()
        bench.client.syncAll()
        #expect(bench.server.uploads.count == 1)
        #expect(try !bench.item.isChanged())
        bench.check()
    }
}
