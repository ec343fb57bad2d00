import FaultInjection
import Foundation
import MobileModel
import MobileObjects
import MobileStore
import Testing

/// An upgrade is one transaction: after any failure in it, and after any loss of power, the database is the old one or the new one.
@Suite struct UpgradeFaultTests {
    /// A model with a change of each kind that moves rows.
    static let target = shopModel { model in
        model.object("Customer") { customer in
            customer.queries = []
            customer.attributes.append(AttributeModel(name: "rank", type: .int, defaultValue: "3"))
        }
        model.attribute("Customer", "city") { $0.type = .bigString }
        model.attribute("Customer", "credit") { ($0.precision, $0.scale) = (13, 3) }
        model.attribute("Product", "manual") { $0.type = .string }
        model.attribute("Line", "text") { ($0.name, $0.was) = ("remark", "text") }
        model.objects.append(ObjectModel(name: "Region", isLocal: true, attributes: [AttributeModel(name: "id", type: .string)]))
    }

    private func shopWithWork() throws -> Shop {
        let shop = try Shop()
        try PendingWork.write(to: shop)
        return shop
    }

    @Test("an operation of the file system that fails leaves the old database, whichever it is; the next attempt succeeds")
    func everyOperationFails() throws {
        let shop = try shopWithWork()
        try shop.database.close()
        let profile = shop.database.connectionProfile
        let before = try DatabaseContents(profile)
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        let layer = StorageLayer("faults") { _ in name }
        var failures = 0, operation: Int64 = 0, step: Int64 = 1
        while true {
            fault_storage_fail_after(storage, operation, 10, true)
            let result = Result { try shop.upgraded(to: Self.target, layers: [layer]).close() }
            let hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            guard hasFailed else { break }
            if case .failure = result {
                failures += 1
                let after = try DatabaseContents(profile)
                // A failure after the commit, such as that of a checkpoint, comes too late to leave the old one.
                if after != before {
                    #expect(try PackageMetadata(storedIn: profile).model == Self.target)
                    break
                }
            } else {
                break
            }
            operation += step
            if operation > 60 { step = 7 }
        }
        #expect(failures > 20)
        let database = try shop.upgraded(to: Self.target)
        #expect(try database.metadata.model == PackageMetadata(storedIn: profile).model)
        #expect(try database.value("PRAGMA integrity_check") == .text("ok"))
    }

    @Test("a power cut at any moment leaves the old database or the new one", arguments: [UInt64(1), 2])
    func powerCuts(seed: UInt64) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        let layer = StorageLayer("faults") { _ in name }
        let shop = try shopWithWork()
        try shop.database.close()
        // A file that does not exist when the recording begins: the shop's own, copied through the recorded storage.
        let copy = shop.directory.appending(path: "copy.db").path
        fault_storage_record(storage, true)
        var profile = ConnectionProfile(path: copy)
        profile.synchronous = .full
        profile.storageLayers = [layer]
        try copyDatabase(from: shop.database.connectionProfile.path, to: profile)
        fault_storage_mark(storage, 1)
        let before = try DatabaseContents(shop.database.connectionProfile)
        let upgraded = try PackageDatabase(model: Self.target, profile: profile)
        fault_storage_mark(storage, 2)
        try upgraded.close()
        fault_storage_record(storage, false)
        profile.storageLayers = []
        let after = try DatabaseContents(profile)
        let cuts = shop.directory.appending(path: "cuts")
        try FileManager.default.createDirectory(at: cuts, withIntermediateDirectories: true)
        let replay = try #require(fault_replay_create(storage))
        defer { fault_replay_free(replay) }
        var olds = 0, news = 0, number = UInt64(0)
        while fault_replay_step(replay) {
            number += 1
            guard fault_replay_mark(replay) >= 1, number % 5 == 0 || fault_replay_mark(replay) == 2 else { continue }
            for file in try FileManager.default.contentsOfDirectory(at: cuts, includingPropertiesForKeys: nil) {
                try FileManager.default.removeItem(at: file)
            }
            #expect(fault_replay_write(replay, seed &* 1000 &+ number, cuts.path))
            let contents = try DatabaseContents(ConnectionProfile(path: cuts.appending(path: "copy.db").path))
            if contents == before { olds += 1 } else { news += 1 }
            #expect(contents == before || contents == after)
            if fault_replay_mark(replay) == 2 { #expect(contents == after) }
        }
        #expect(olds > 0 && news > 0)
    }

    /// Copies all rows into a new file.
    private func copyDatabase(from path: String, to profile: ConnectionProfile) throws {
        let source = try Database(ConnectionProfile(path: path)), target = try Database(profile)
        defer {
            try? source.close()
            try? target.close()
        }
        let (schema, version, tables) = try source.read { connection in
            let schema = try connection.rows("SELECT sql, name, type FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC")
            let tables = try schema.filter { $0[2].text == "table" }.map { table in
                (table[1].text ?? "", try connection.rows("SELECT * FROM \"\(table[1].text ?? "")\""))
            }
            return (schema.compactMap { $0[0].text }, try connection.first("PRAGMA user_version")?[0].integer ?? 0, tables)
        }
        try target.write { connection in
            for statement in schema where !statement.contains("sqlite_") { try connection.execute(statement) }
            for (name, rows) in tables where !name.hasPrefix("sqlite_") {
                for row in rows {
                    let places = row.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                    try connection.execute("INSERT INTO \"\(name)\" VALUES (\(places))", row)
                }
            }
            // As a database of an earlier release, it has no mark: it is not taken for a copy.
            try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" IN ('mark', 'opened')")
            try connection.execute("PRAGMA user_version = \(version)")
        }
    }
}
