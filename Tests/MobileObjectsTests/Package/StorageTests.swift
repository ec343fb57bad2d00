import Foundation
import MobileExecution
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

    @Test("CBK-24: the system says how much is free")
    func systemSays() throws {
        let shop = try Shop()
        let free = try #require(Environment.systemFreeStorage(shop.directory.path))
        #expect(free > 0 && Environment.systemFreeStorage(shop.directory.path + "/nowhere") == nil)
    }
}
