import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Databases of a package in memory, for tests and previews.
@Suite struct InMemoryDatabaseTests {
    private func add(_ id: String, to database: PackageDatabase) throws {
        let customer = try GenericEntity("Customer", in: database)
        try customer.set("id", .string(id))
        try customer.set("name", "Harbour Foods")
        try customer.create()
    }

    @Test func `objects and pending changes are those of a file, and no file is made`() throws {
        let before = try FileManager.default.contentsOfDirectory(atPath: ".").sorted()
        let database = try PackageDatabase(model: ShopModel.model, profile: .inMemory())
        let other = try PackageDatabase(model: ShopModel.model, profile: .inMemory())
        for number in 1...3 { try add("c\(number)", to: database) }
        // Objects are changed while a list of them is read.
        for customer in try database.entity("Customer").findAll() {
            try customer.set("city", "Cork")
            try customer.update()
        }
        let pending = try database.entity("Customer").findAll().filter { try $0.isPending }
        #expect(pending.count == 3)
        #expect(try other.entity("Customer").findAll().count == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: ".").sorted() == before)
        try database.close()
        try other.close()
    }

    @Test func `a file of the same name is left alone`() throws {
        let directory = try TemporaryDirectory(), file = directory.file("shop.db")
        try Data("mine".utf8).write(to: URL(filePath: file))
        let database = PackageDatabase(metadata: try PackageMetadata(ShopModel.model), profile: .inMemory(named: file))
        #expect(!database.databaseExists)
        try add("c1", to: database)
        #expect(database.databaseExists)
        try FileManager.default.createDirectory(atPath: database.downloadFolder, withIntermediateDirectories: true)
        let folder = database.downloadFolder
        try database.deleteDatabase()
        #expect(!database.databaseExists && !FileManager.default.fileExists(atPath: folder))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["shop.db"])
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("mine".utf8))
    }

    @Test func `objects of one name are one database, which the last one takes with it`() throws {
        let profile = ConnectionProfile.inMemory(named: UUID().uuidString)
        let first = try PackageDatabase(model: ShopModel.model, profile: profile),
            second = try PackageDatabase(model: ShopModel.model, profile: profile)
        try add("c1", to: first)
        #expect(try second.entity("Customer").findAll().count == 1)
        try first.close()
        #expect(try second.entity("Customer").findAll().count == 1)
        try second.close()
        #expect(try second.entity("Customer").findAll().count == 0, "it was opened again")
        try second.close()
    }
}
