import Foundation
import MobileExecution
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

@Suite struct BlobTests {
    static func model(_ rule: RhomModel.BlobRule = .keeps) -> RhomModel {
        var options = RhomModel.Options()
        options.blobAttributes = ["photo": rule]
        return RhomModel("Item", options: options)
    }

    /// The file of a stored value.
    static func file(_ value: String?, _ bench: Bench) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: bench.directory.file("store.db-files/") + (try #require(value)))))
    }

    @Test("RC-116: an upload with files has a part per file, and at its end the changes with the names of the fields")
    func multipart() throws {
        let bench = try Bench(item: Self.model())
        let bytes = patternBytes(200_000)
        let path = try bench.directory.write(bytes, to: "a \"photo\".jpg")
        let id = try bench.item.create(["title": "Saw", "photo": path])
        let plain = try bench.item.create(["title": "Axe"])
        bench.client.syncAll()
        let request = try #require(bench.server.uploads.first ?? bench.server.requests.first { $0.method == "POST" && $0.path == "/app/v1/Item" })
        let parts = try #require(Multipart(request)).parts
        #expect(parts.map(\.name) == ["photo-\(id)", "cud"])
        #expect(parts[0].content == bytes && parts[0].contentType == "application/octet-stream" && parts[0].filename == "a %22photo%22.jpg")
        #expect(parts[1].filename == nil)
        #expect(
            try JSONValue(parsing: parts[1].content) == [
                "source_name": "Item", "client_id": "client1", "create": [id: ["photo": .string(path), "title": "Saw"], plain: ["title": "Axe"]],
                "blob_fields": ["photo"],
            ] as JSONValue)
        #expect(request.headers["x-rhoconnect-client-id"] == "client1")
        bench.check()
    }

    @Test("the file of a value is deleted when another value takes its place or its object goes, and not before a waiting change has used it")
    func replacedFiles() throws {
        let bench = try Bench(item: Self.model(.overwrites))
        bench.server.onRequest { $0.path.hasPrefix("/files/") ? .init(contentType: "image/png", body: [1, 2]) : nil }
        let root = bench.server.root
        func files() throws -> Set<String> { Set(try FileManager.default.contentsOfDirectory(atPath: bench.directory.file("store.db-files"))) }
        bench.server.add(
            "Item", "{\"insert\":{\"1\":{\"photo\":\"\(root)/files/a.png\"},\"2\":{\"photo\":\"\(root)/files/b.png\"}}}", token: "1", count: 2)
        bench.client.syncAll()
        let first = try #require(try bench.item.find("1")?["photo"]), second = try #require(try bench.item.find("2")?["photo"])
        #expect(try files() == [first, second])
        // A page with another value.
        bench.server.add(
            "Item", "{\"delete\":{\"1\":{\"photo\":\"\(root)/files/a.png\"}},\"insert\":{\"1\":{\"photo\":\"\(root)/files/c.png\"}}}", token: "2",
            count: 2)
        bench.client.syncAll()
        let third = try #require(try bench.item.find("1")?["photo"])
        #expect(third != first)
        #expect(try files() == [second, third])
        // The user's own file takes the place of the second one; a further one does so before the first was sent.
        try bench.directory.write([7], to: "store.db-files/mine.png")
        try bench.item.save(["object": "2", "photo": "mine.png"])
        #expect(try files() == [third, "mine.png"])
        // In a bulk update nothing goes before its end.
        try bench.item.startBulkUpdate()
        try bench.item.destroy(["object": "1"])
        #expect(try files() == [third, "mine.png"])
        try bench.item.stopBulkUpdate()
        #expect(try files() == ["mine.png"])
        // A file outside of the folder belongs to the application.
        let path = try bench.directory.write([8], to: "own.png")
        try bench.item.save(["object": "2", "photo": path])
        try bench.item.destroy(["object": "2"])
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(try files() == [])
    }

    @Test func `a missing file is an error before anything is sent, and the object stays unsent`() throws {
        let bench = try Bench(item: Self.model())
        try bench.item.create(["photo": "/nowhere/photo.jpg"])
        #expect(bench.client.syncAll().errorCode == .runtime)
        #expect(bench.server.uploads.isEmpty)
        #expect(try bench.item.isChanged())
    }

    @Test(
        "RC-120: an attribute with the suffix of files is downloaded, and stored under its plain name with the extension of the rule",
        arguments: [("/files/a.png", ".png"), ("/files/a?x=1&extension=.jpg", ".jpg"), ("/files/a", ".bin"), ("/files/a.b%2F..%2Fc", ".b2F")])
    func suffix(path: String, ending: String) throws {
        let bench = try Bench()
        let bytes = patternBytes(100_000)
        bench.server.onRequest { $0.path.hasPrefix("/files/") ? .init(contentType: "image/png", body: bytes) : nil }
        bench.server.add("Item", "{\"insert\":{\"1\":{\"title\":\"Saw\",\"photo-rhoblob\":\"\(bench.server.root)\(path)\"}}}", token: "1")
        #expect(bench.client.syncAll().errorCode == .none)
        let object = try #require(try bench.item.find("1"))
        #expect(Set(object.attributes.keys) == ["title", "photo"])
        #expect(try Self.file(object["photo"], bench) == bytes)
        let stored = try #require(object["photo"])
        #expect(
            !stored.contains("/") && stored.hasSuffix(ending.hasPrefix(".b2") ? ".b2F2Fc" : ending) || stored.hasSuffix(".bin")
                || stored.hasSuffix("c"), "\(stored)")
        let request = try #require(bench.server.requests.first { $0.path.hasPrefix("/files/") })
        #expect(request.query["client_id"] == "client1" && request.headers["cookie"] == bench.server.session + ";")
    }

    @Test("RC-121: without overwrite a local file is kept, with it the new one is downloaded", arguments: [RhomModel.BlobRule.keeps, .overwrites])
    func overwrite(rule: RhomModel.BlobRule) throws {
        let bench = try Bench(item: Self.model(rule))
        bench.server.onRequest { $0.path.hasPrefix("/files/") ? .init(body: [UInt8]($0.path.utf8)) : nil }
        let root = bench.server.root
        bench.server.add("Item", "{\"insert\":{\"1\":{\"photo\":\"\(root)/files/one.png\"}}}", token: "1")
        bench.server.add("Item", "{\"insert\":{\"1\":{\"photo\":\"\(root)/files/two.png\"}}}", token: "2")
        bench.client.syncAll()
        let value = try bench.item.find("1")?["photo"]
        #expect(try Self.file(value, bench) == [UInt8]((rule == .keeps ? "/files/one.png" : "/files/two.png").utf8))
        bench.server.add(
            "Item", "{\"delete\":{\"1\":{\"photo\":\"\(root)/files/two.png\"}},\"insert\":{\"1\":{\"photo\":\"\(root)/files/three.png\"}}}",
            token: "3", count: 2)
        bench.client.syncAll()
        #expect(
            try Self.file(try bench.item.find("1")?["photo"], bench) == [UInt8]("/files/three.png".utf8), "the deletion of the old value comes first")
    }

    @Test("RC-122: a file that the server does not have leaves its attribute out, and the model ends with the error")
    func missingFile() async throws {
        let bench = try Bench()
        bench.server.onRequest { $0.path.hasPrefix("/files/") ? .text(404, "no such file") : nil }
        bench.server.add("Item", "{\"insert\":{\"1\":{\"title\":\"Saw\",\"photo-rhoblob\":\"\(bench.server.root)/files/a.png\"}}}", token: "1")
        let notes = await bench.client.notifications()
        #expect(notes.words == ["Item:in_progress", "Item:error", "complete"])
        #expect(notes[1].errorCode == .remoteServer && notes[1].errorMessage == "no such file")
        #expect(try await bench.item.find("1")?.attributes == ["title": "Saw"])
    }

    @Test func `without a connection for a file the page is left for the next time`() throws {
        let transport = CuttingTransport()
        let bench = try Bench(transport: transport)
        let page = StrictServer.page(
            "{\"insert\":{\"1\":{\"title\":\"Saw\",\"photo-rhoblob\":\"\(bench.server.root)/files/a.png\"}}}", token: "5", count: 1)
        bench.server.onRequest { request in
            if request.path.hasPrefix("/files/") { return .init(body: [1, 2, 3]) }
            return request.isQuery ? .json(request.query["token"] == "5" ? StrictServer.page() : page) : nil
        }
        transport.setFate { $0.url.contains("/files/") ? .cut(after: 1) : .pass }
        #expect(bench.client.syncAll().errorCode == .network)
        #expect(try bench.item.count() == 0)
        transport.setFate { _ in .pass }
        #expect(bench.client.syncAll().errorCode == .none)
        #expect(try Self.file(try bench.item.find("1")?["photo"], bench) == [1, 2, 3])
        #expect(try FileManager.default.contentsOfDirectory(atPath: bench.directory.file("store.db-files")).count == 1)
    }

    @Test("RC-123: session and client id are not sent to another origin")
    func foreignOrigin() throws {
        let bench = try Bench(), foreign = try StrictServer()
        defer { foreign.stop() }
        foreign.onRequest { _ in .init(body: [7]) }
        bench.server.add("Item", "{\"insert\":{\"1\":{\"photo-rhoblob\":\"\(foreign.root)/files/a.png?x=1\"}}}", token: "1")
        #expect(bench.client.syncAll().errorCode == .none)
        let request = try #require(foreign.requests.first)
        #expect(request.headers["cookie"] == nil && request.headers["x-rhoconnect-client-id"] == nil && request.query == ["x": "1"])
    }
}
