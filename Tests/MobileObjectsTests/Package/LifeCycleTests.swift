import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Rules that hold over many starts of an application, and when its database is made again.
@Suite struct LifeCycleTests {
    /// Returns the files of `directory` that this process has open; nil where the system does not report them.
    private func openFiles(in directory: URL) -> [String]? {
        guard let descriptors = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") else { return nil }
        return descriptors.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
            .filter { $0.hasPrefix(directory.path) }
    }

    @Test("LIF-12: starting and stopping again and again keeps no database, no object and no file")
    func startsAndStops() throws {
        let directory = try TemporaryDirectory()
        weak var lastDatabase: PackageDatabase?
        weak var lastObject: GenericEntity?
        for number in 1...50 {
            let database = try PackageDatabase(
                model: ShopModel.model, profile: ConnectionProfile(path: directory.file("shop.db")))
            let note = try GenericEntity("Note", in: database)
            try note.setValue(.string("start \(number)"), "title")
            try note.create()
            #expect(try database.entity("Note").findAll().count == number)
            (lastDatabase, lastObject) = (database, note)
            try database.closeConnection()
        }
        #expect(lastDatabase == nil && lastObject == nil)
        #expect(openFiles(in: directory.url) ?? [] == [])
    }

    @Test("LBO-03: local objects are carried into a database that is made anew, by copying each of them")
    func localObjectsSurviveRecovery() throws {
        let shop = try Shop()
        for number in 1...3 { try shop.new("Note", ["title": .string("note \(number)"), "body": .string("text \(number)")]).save() }
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        let copyPath = shop.directory.appending(path: "shop.db.recover").path
        try shop.database.closeConnection()
        try FileManager.default.copyItem(atPath: shop.database.databasePath, toPath: copyPath)
        try shop.database.deleteDatabase()
        #expect(try shop.objects("Note").findAll().isEmpty)

        let former = try PackageDatabase(model: ShopModel.model, profile: ConnectionProfile(path: copyPath))
        for note in try former.entity("Note").findAll() {
            let copy = try shop.objects("Note").newObject()
            try copy.copyAll(note)
            try copy.create()
        }
        try former.deleteDatabase()
        let notes = try shop.objects("Note").findAll()
        #expect(try notes.map { try $0.value("title") } == [.string("note 1"), .string("note 2"), .string("note 3")])
        #expect(try notes.map { try $0.value("body") } == [.string("text 1"), .string("text 2"), .string("text 3")])
        #expect(try shop.count("Customer") == 0, "what the server has, the next synchronization brings")
    }
}
