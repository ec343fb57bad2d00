import Foundation
import MobileModel
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Databases of every former format version are in `Tests/Fixtures/upgrade`; every later release opens them.
///
/// When the format changes, write one of the new version: `UPGRADE_FIXTURES=write swift test --filter FormatUpgradeTests`.
@Suite struct FormatUpgradeTests {
    static let fixtures = Repository.fixture("upgrade")
    static let versions = try! FileManager.default.contentsOfDirectory(atPath: fixtures.path).filter { $0.hasSuffix(".db") }.sorted {
        version($0) < version($1)
    }

    private static func version(_ fixture: String) -> Int { Int(fixture.filter(\.isNumber)) ?? 0 }

    /// Opens a copy of a fixture with a model.
    private func open(_ fixture: String, _ model: PackageModel, in shop: Shop) throws -> PackageDatabase {
        let copy = shop.directory.appending(path: fixture)
        if !FileManager.default.fileExists(atPath: copy.path) {
            try FileManager.default.copyItem(at: Self.fixtures.appending(path: fixture), to: copy)
        }
        return try PackageDatabase(
            model: model, profile: ConnectionProfile(path: copy.path), environment: Environment(now: { Date(timeIntervalSince1970: 2_000_000) }))
    }

    @Test("a database of each format opens, with all of its work, and has the tables of a new one", arguments: versions)
    func opens(fixture: String) throws {
        let shop = try Shop()
        let database = try open(fixture, ShopModel.model, in: shop)
        let contents = try database.read { try DatabaseContents($0) }
        #expect(contents.schema == (try shop.database.read { try DatabaseContents($0) }).schema)
        #expect(try database.outbox.map { "\($0.change.rawValue) \($0.entity)" } == ["U Customer", "C Customer", "U Product"])
        #expect(try database.load("Customer", 1).city == "Galway" && database.load("Customer", 2).name == "Two")
        #expect(try database.text("Product", 31, "manual") == "Pour water.")
        #expect(try database.personalization.value("region") == "SOUTH" && database.logRecords().map(\.message) == ["call back"])
        #expect(try database.changeLogs().count > 0 && database.token(ofGroup: "default") == "t1")
        #expect(try database.value("PRAGMA user_version") == .integer(10))
        #expect(try database.outbox.allSatisfy { $0.digest.utf8.count == 64 } && Set(database.outbox.map(\.digest)).count == 3)
        // An earlier release may have sent them without an answer.
        if Self.version(fixture) < 5 { #expect(try database.beginDoubt(through: 0) == database.outbox.last?.id) }
        // Cancel, submit and settle continue from their state.
        let first = try database.load("Customer", 1), second = try database.load("Customer", 2)
        try first.cancelPending()
        #expect(first.city == "Dublin")
        for record in try database.outbox { try database.accept(record.id) }
        try second.refresh()
        #expect(second.pendingChange == .update)
        try second.submitPending()
        #expect(try database.outbox.map(\.attributes) == [["city": "Sligo"]])
        try database.accept(second.replayPending)
        try database.submitPendingOperations()
        for record in try database.outbox { try database.accept(record.id) }
        #expect(try !database.hasPendingOperations())
        #expect(try database.value("PRAGMA integrity_check") == .text("ok"))
        try database.close()
    }

    @Test("and is upgraded to a newer model, by way of its own where the format did not keep it", arguments: versions)
    func upgrades(fixture: String) throws {
        let shop = try Shop()
        if fixture == "format1.db" {
            let error = #expect(throws: ObjectError.self) { _ = try open(fixture, UpgradeFaultTests.target, in: shop) }
            #expect(error?.code == .version && error?.message.contains("open it once with the model that it was made from") == true)
            try open(fixture, ShopModel.model, in: shop).close()
        }
        let database = try open(fixture, UpgradeFaultTests.target, in: shop)
        #expect(try database.text("Customer", 1, "city") == "Galway" && database.load("Customer", 1).value("rank") == .integer(3))
        #expect(try database.load("Product", 31).value("manual") == "Pour water.")
        #expect(try database.outbox.count == 3)
        // The upgrade has rewritten the records, and left the digests that the operations had.
        let other = try Shop(), former = try open(fixture, ShopModel.model, in: other)
        #expect(
            try database.outbox.map(\.digest) == former.outbox.map(\.digest) && database.outbox.map(\.attributes) != former.outbox.map(\.attributes))
        try former.close()
        try database.close()
    }

    @Test("the fixture of the present format is written on request", .enabled(if: ProcessInfo.processInfo.environment["UPGRADE_FIXTURES"] == "write"))
    func write() throws {
        let shop = try Shop(grantingKeys: false)
        // Small pages make a small file.
        try shop.database.deleteDatabase()
        shop.database.connectionProfile.pageSize = 1024
        try shop.grant(first: 1000, last: 9999)
        try PendingWork.write(to: shop)
        let version = try shop.database.value("PRAGMA user_version")?.integer ?? 0
        try shop.database.close()
        try FileManager.default.createDirectory(at: Self.fixtures, withIntermediateDirectories: true)
        let target = Self.fixtures.appending(path: "format\(version).db")
        try? FileManager.default.removeItem(at: target)
        try FileManager.default.copyItem(at: URL(filePath: shop.database.databasePath), to: target)
    }
}
