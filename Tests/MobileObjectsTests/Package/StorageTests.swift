import FaultInjection
import Foundation
import MobileExecution
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// A disk that becomes full, and has free space again.
@Suite struct StorageTests {
    private final class Recorder: CallbackHandler {
        let heard = SystemLock<[String]>([])
        func onStorageSpaceLow() { heard.withLock { $0.append("low") } }
        func onStorageSpaceRecovered() { heard.withLock { $0.append("recovered") } }
        var list: [String] { heard.withLock { $0 } }
    }

    private final class Disk: Sendable {
        let free = SystemLock<Int64?>(1_000_000_000)
        let looks = SystemLock(0)
        func look() -> Int64? {
            looks.withLock { $0 += 1 }
            return free.withLock { $0 }
        }
    }

    @Test("CBK-24: low storage is told once behind a write, and its end once, with some room between the two")
    func lowAndRecovered() throws {
        let disk = Disk(), recorder = Recorder()
        let shop = try Shop(freeStorage: { _ in disk.look() })
        shop.database.registerCallbackHandler(recorder)
        shop.database.lowStorageLimit = .megabytes(100)
        func write(_ free: Int64?) throws {
            disk.free.withLock { $0 = free }
            shop.clock.seconds += 2
            try shop.newCustomer("c\(shop.clock.seconds)").create()
        }
        try write(500_000_000)
        #expect(recorder.list == [] && !shop.database.isStorageSpaceLow)
        try write(99_000_000)
        try write(50_000_000)
        try write(nil)
        try write(110_000_000)
        #expect(recorder.list == ["low"] && shop.database.isStorageSpaceLow)
        try write(125_000_000)
        try write(126_000_000)
        #expect(recorder.list == ["low", "recovered"] && !shop.database.isStorageSpaceLow)
    }

    @Test("CBK-24: the system is asked once a second at most, and not at all while nobody listens")
    func looksSeldom() throws {
        let disk = Disk()
        let shop = try Shop(freeStorage: { _ in disk.look() })
        for number in 1...20 { try shop.newCustomer("a\(number)").create() }
        #expect(disk.looks.withLock { $0 } == 0)
        shop.database.registerCallbackHandler(Recorder())
        for number in 1...20 { try shop.newCustomer("b\(number)").create() }
        #expect(disk.looks.withLock { $0 } == 1)
        shop.clock.seconds += 1
        try shop.newCustomer("c").create()
        #expect(disk.looks.withLock { $0 } == 2)
    }

    @Test("CBK-24: a write that finds no room tells it at once, and leaves the database as it was")
    func fullDisk() throws {
        let recorder = Recorder()
        let shop = try Shop()
        shop.database.registerCallbackHandler(recorder)
        shop.database.lowStorageLimit = 0
        let pages = try shop.database.store.fileSpace().pages
        try shop.database.store.write { _ = try $0.rows("PRAGMA max_page_count = \(pages + 2)") }
        let customer = try shop.newCustomer("big", name: String(repeating: "x", count: 80))
        try customer.create()
        let error = #expect(throws: ObjectError.self) {
            try shop.database.transaction {
                for number in 1...2000 { try shop.newCustomer("n\(number)", name: String(repeating: "y", count: 80)).create() }
            }
        }
        #expect(error?.code == .store && recorder.list == ["low"])
        #expect(try shop.count("Customer") == 1)
    }

    /// A database whose disk the test fills.
    private struct FillableDisk {
        let storage: OpaquePointer
        let lines = RecordedLines(), recorder = Recorder()
        let database: PackageDatabase

        init(_ shop: Shop, isFull: Bool) throws {
            storage = try #require(fault_storage_create(nil))
            var profile = shop.database.connectionProfile
            let name = String(cString: fault_storage_name(storage)), lines = lines
            profile.storageLayers = [StorageLayer("faults") { _ in name }]
            fault_storage_fill(storage, isFull)
            database = PackageDatabase(
                metadata: try PackageMetadata(ShopModel.model), profile: profile,
                environment: Environment(console: ConsoleLogger(level: .info) { lines.add($0) }))
            database.registerCallbackHandler(recorder)
        }

        func fill(_ isFull: Bool) { fault_storage_fill(storage, isFull) }

        func add(_ id: String) throws {
            let customer = try GenericEntity("Customer", in: database)
            try customer.set("id", .string(id))
            try customer.set("name", "Harbour Foods")
            try customer.create()
        }

        func count() throws -> Int { try database.entity("Customer").findAll().count }

        func end() throws {
            try database.close()
            fault_storage_free(storage)
        }
    }

    @Test("a database opens on a full disk for reading, with a warning, and for writing as soon as there is room")
    func opensOnFullDisk() throws {
        let shop = try Shop()
        try shop.newCustomer("c1").create()
        try shop.database.close()
        let disk = try FillableDisk(shop, isFull: true)
        #expect(try disk.count() == 1)
        #expect(disk.recorder.list == ["low"] && disk.lines.all.count == 1)
        let warning = disk.lines.all.first ?? ""
        #expect(
            warning.hasPrefix("WARN: database Shop: opened for reading only, because its disk is full (") && warning.hasSuffix("opens it for writing")
        )
        let error = ObjectError.of { try disk.add("c2") }
        #expect(
            error?.code == .store && error?.message.contains("its disk is full, and the database is open for reading only; free some space") == true)
        #expect(try disk.count() == 1 && disk.lines.all.count == 1)
        disk.fill(false)
        try disk.add("c2")
        #expect(try disk.count() == 2)
        #expect(disk.lines.all.last == "INFO: database Shop: opened for writing, because its disk has room again")
        try disk.database.vacuumDatabase()
        try disk.end()
    }

    @Test("a thread that reads a database of a full disk may write as soon as there is room")
    func writesWhileItReads() throws {
        let shop = try Shop()
        try shop.newCustomer("c1").create()
        try shop.database.close()
        let disk = try FillableDisk(shop, isFull: true)
        try disk.database.read { connection in
            disk.fill(false)
            try disk.add("c2")
            #expect(try connection.number("SELECT count(*) FROM \"Customer\"") == 1)
        }
        try disk.add("c3")
        #expect(try disk.count() == 3)
        try disk.end()
    }

    @Test("a database with a log of a killed process opens on a full disk as well; one that needs an upgrade, and a new one, do not")
    func opensWithLogOnFullDisk() throws {
        let shop = try Shop()
        try shop.newCustomer("c1").create()
        // The first database stays open, so that its log has content.
        let disk = try FillableDisk(shop, isFull: true)
        #expect(try disk.count() == 1)
        disk.fill(false)
        try disk.end()
        try shop.database.close()

        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var profile = shop.database.connectionProfile
        profile.storageLayers = [StorageLayer("faults") { _ in name }]
        fault_storage_fill(storage, true)
        let later = shopModel { $0.attribute("Line", "text") { ($0.name, $0.was) = ("remark", "text") } }
        let upgraded = PackageDatabase(metadata: try PackageMetadata(later), profile: profile)
        #expect(ObjectError.of { try upgraded.openConnection() }?.code == .store)
        profile.path = shop.directory.appending(path: "new.db").path
        let new = PackageDatabase(metadata: try PackageMetadata(ShopModel.model), profile: profile)
        #expect(ObjectError.of { try new.openConnection() }?.code == .store)
        fault_storage_fill(storage, false)
        try upgraded.openConnection()
        try new.openConnection()
        try upgraded.close()
        try new.close()
    }

    @Test("CBK-24: the system says how much is free")
    func systemSays() throws {
        let shop = try Shop()
        let free = try #require(Environment.systemFreeStorage(shop.directory.path))
        #expect(free > 0 && Environment.systemFreeStorage(shop.directory.path + "/nowhere") == nil)
    }
}
