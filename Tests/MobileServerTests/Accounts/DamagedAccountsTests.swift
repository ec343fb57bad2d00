import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// Values that the server cannot have written, in the tables of its accounts: an administrator gets an error, not an empty name or a 0.
@Suite struct DamagedAccountsTests {
    struct Damage: CustomTestStringConvertible, Sendable {
        let sql: String
        let message: String
        let read: @Sendable (ServerAdministration) throws -> Int

        var testDescription: String { sql }
    }

    @Test(
        "LGN-01: a session whose times are at the limits of their numbers is at its end or goes on; the server stays",
        arguments: [
            ("began", Int64.min, 401), ("began", .max, 200), ("used", .min, 401), ("used", .max, 200),
        ])
    func extremeTimes(column: String, time: Int64, status: Int) throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.state { _ = try $0.execute("UPDATE _session SET \(column) = ?1", [.integer(time)]) }
        let answer = try device.synchronize().status
        #expect(answer == status)
    }

    @Test(
        .stateInFile,
        arguments: [
            Damage(sql: "UPDATE _user SET locked = 2", message: "table _user, column locked: 2 is stored where 0 or 1") { try $0.users().count },
            Damage(sql: "UPDATE _device SET user_name = x'05'", message: "table _device, column user_name: 1 bytes is stored where") {
                try $0.devices().count
            },
            Damage(sql: "UPDATE _device SET registered = 'once'", message: "table _device, column registered") { try $0.devices().count },
            Damage(sql: "UPDATE _session SET began = 'once'", message: "table _session, column began") { try $0.sessions().count },
            Damage(sql: "UPDATE _session SET user_name = x'05'", message: "table _session, column user_name") { try $0.sessions().count },
            Damage(sql: "UPDATE _client SET state = x'05'", message: "table _client, column state") { try $0.subscriptions().count },
            Damage(sql: "UPDATE _log_table SET row_count = 'many'", message: "table _log_table, column row_count") { try $0.logTables().count },
            // Subtracted from the time of day, it would stop the server.
            Damage(
                sql: "UPDATE _log_table SET retention = \(Int64.min)",
                message: "table _log_table, column retention: -9223372036854775808 is stored where 0 to 100 years"
            ) {
                let cleaned = try $0.applyLogRetention(ofPackage: "Field:2.0")
                return cleaned + 1
            },
        ])
    func `what cannot be is reported with its table and column`(damage: Damage) throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        #expect(try device.synchronize().status == 200)
        let found = try damage.read(server.server.administration)
        #expect(found > 0)
        let cache = try Database(ConnectionProfile(path: server.folder.file("cache.db")))
        defer { try? cache.close() }
        let changed = try cache.write { try $0.execute(damage.sql) }
        #expect(changed > 0)
        let error = #expect(throws: StoreError.self) { try damage.read(server.server.administration) }
        #expect(error?.code == .corrupt && error?.message.contains(damage.message) == true, "\(error?.message ?? "nothing")")
    }
}
