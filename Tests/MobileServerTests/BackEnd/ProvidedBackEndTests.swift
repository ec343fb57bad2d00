import Foundation
import MobileExecution
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// A back end that an operator writes, with the public protocol alone: neither file sees the server's own types.
@Suite struct ProvidedBackEndTests {
    private let shop = Shop()

    private func device() throws -> TestDevice { try Self.device(over: shop) }

    /// Makes a server over a back end with articles, and a device of it.
    static func device(over backEnd: any BackEnd) throws -> TestDevice {
        let json = """
            {"format": 1, "name": "Shop", "version": "1.0", "synchronizationGroups": [{"name": "default"}],
             "backEnds": [{"name": "shop", "kind": "sqlite"}],
             "objects": [{"name": "Article", "primaryKey": ["number"],
                "attributes": [{"name": "number", "type": "long"}, {"name": "name", "type": "string", "length": 40},
                    {"name": "price", "type": "decimal", "precision": 10, "scale": 2}, {"name": "shelf", "type": "string", "length": 10},
                    {"name": "picture", "type": "bigBinary", "nullable": true}],
                "synchronizationParameters": [{"name": "shelf", "type": "string"}], "operations": ["create", "update", "delete"],
                "binding": {"backEnd": "shop", "table": "articles", "load": "SELECT * FROM articles WHERE shelf = :shelf"}}]}
            """
        let model = try PackageModel(json: json)
        let server = try TestServer(model: model) { configuration in
            configuration.packages = [PackageDeployment(model)]
            configuration.packages[0].providedBackEnds = ["shop": backEnd]
        }
        let device = try TestDevice(server)
        device.subscriptions = ["Article": [["shelf": "A"]]]
        return device
    }

    private func article(_ number: Int64, _ name: String, _ price: String = "1.50", shelf: String = "A") -> JSONObject {
        ["number": .integer(number), "name": .string(name), "price": .number(price), "shelf": .string(shelf)]
    }

    @Test("its rows come to devices, and only changed ones come again")
    func rows() throws {
        shop.articles.withLock { $0 = [1: article(1, "salt"), 2: article(2, "tea", shelf: "B"), 3: article(3, "oil")] }
        shop.pictures.withLock { $0 = [3: [1, 2, 3]] }
        let device = try device()
        #expect(try device.synchronize().upserts == ["Article": 2])
        #expect(device.rows("Article", by: "number")[1]?["price"] == .number("1.5"))
        #expect(device.largeValues["Article"]?[device.key("Article", "number", 3)] == ["picture": [1, 2, 3]])
        #expect(try device.synchronize().upserts.isEmpty)
        shop.articles.withLock { $0[3]?["price"] = .number("2") }
        shop.articles.withLock { $0[1] = nil }
        shop.pictures.withLock { $0[3] = [4] }
        let changed = try device.synchronize()
        #expect(changed.upserts == ["Article": 1] && changed.deletes == ["Article": 1] && changed.largeValues == 1)
        #expect(device.rows("Article", by: "number")[3]?["price"] == 2)
    }

    @Test("operations are done on it, refused by it, or deferred while it is out of reach")
    func operations() throws {
        let device = try device()
        try device.synchronize()
        let create = device.create("Article", article(7, "ink"))
        #expect(try device.synchronize([create], large: [create.id: ["picture": [9, 9]]]).results.map(\.outcome) == [.accepted])
        #expect(device.rows["Article"]?[create.key]?["name"] == "ink" && device.largeValues["Article"]?[create.key] == ["picture": [9, 9]])
        let update = device.update("Article", where: "number", is: 7, set: ["name": "blue ink"], primaryKey: ["number": 7])
        let refused = device.create("Article", article(8, "forbidden"))
        let taken = device.create("Article", article(7, "other"))
        let result = try device.synchronize([update, refused, taken])
        #expect(result.results.map(\.code) == [200, 412, 403] && result.results[1].message == "the shop does not sell this")
        shop.isOpen.withLock { $0 = false }
        let delete = OperationFrame(id: device.nextID(), object: "Article", change: .delete, key: create.key, primaryKey: ["number": 7])
        let deferred = try device.synchronize([delete], groups: [])
        #expect(deferred.results.map(\.outcome) == [.deferred] && deferred.results.map(\.code) == [503])
        shop.isOpen.withLock { $0 = true }
        #expect(try device.synchronize([delete]).results.map(\.outcome) == [.accepted])
        #expect(device.rows["Article"]?[create.key] == nil && shop.articles.withLock { $0[7] == nil })
    }

    @Test("a row with a value that does not fit its attribute is held back until it does")
    func misfit() throws {
        shop.articles.withLock { $0 = [1: article(1, "salt", "1.234")] }
        let device = try device()
        #expect(try device.synchronize().upserts.isEmpty)
        shop.articles.withLock { $0[1]?["price"] = 1 }
        #expect(try device.synchronize().upserts == ["Article": 1])
    }

    @Test func `the article shows the back end that these tests run`() throws {
        let article = try String(contentsOf: Repository.file("Sources/MobileServer/MobileServer.docc/BackEnds.md"), encoding: .utf8)
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "Shop.swift")
        let code = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "// Article\n").last ?? ""
        #expect(code.contains("BackEndTransaction") && article.contains("```swift\n\(code)```"))
    }
}
