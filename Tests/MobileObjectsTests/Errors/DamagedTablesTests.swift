import Foundation
import MobileObjects
import MobileStore
import Testing

/// Values that the framework has never written, in its own tables: each reader reports the value that it found, and does not accept it.
@Suite struct DamagedTablesTests {
    struct Damage: CustomTestStringConvertible, Sendable {
        let sql: String
        let message: String
        let read: @Sendable (Shop) throws -> Void

        init(_ sql: String, _ message: String, _ read: @escaping @Sendable (Shop) throws -> Void) {
            (self.sql, self.message, self.read) = (sql, message, read)
        }

        var testDescription: String { sql }
    }

    private static let outbox: @Sendable (Shop) throws -> Void = { _ = try $0.database.outbox }
    private static let settle: @Sendable (Shop) throws -> Void = {
        try $0.answer($0.database.outbox(after: 0, limit: 1).first?.id ?? 0, accepted: true)
    }

    private static let change: @Sendable (Shop) throws -> Void = { shop in
        for product in try shop.objects("Product").findAll() {
            try product.set("name", .string("\(product.name) again"))
            try product.update()
        }
    }

    @Test(arguments: [
        Damage(#"UPDATE "_outbox" SET "change" = 'X'"#, #"table _outbox, column change: "X" is stored where"#, outbox),
        Damage(#"UPDATE "_outbox" SET "sk" = 'one'"#, "table _outbox, column sk", outbox),
        Damage(#"UPDATE "_outbox" SET "batch" = x'00'"#, "table _outbox, column batch: 1 bytes is stored where", outbox),
        Damage(#"UPDATE "_outbox" SET "attributes" = '[]'"#, "table _outbox, column attributes", outbox),
        Damage(#"UPDATE "_outbox" SET "parameters" = '{'"#, "table _outbox, column parameters", outbox),
        Damage(#"UPDATE "_outbox" SET "changed" = '1,x'"#, "table _outbox, column changed", settle),
        Damage(#"UPDATE "_outbox" SET "imported" = 2"#, "table _outbox, column imported: 2 is stored where 0 or 1", settle),
        Damage(#"UPDATE "_outbox_large" SET "attribute" = x'05'"#, "table _outbox_large, column attribute", outbox),
        Damage(#"UPDATE "_outbox_large" SET "value" = 'much'"#, "table _outbox_large, column value", outbox),
        Damage(#"UPDATE "Product_os" SET "_pc" = 9"#, #"table "Product_os", column _pc: 9 is stored where one of its numbers"#, settle),
        Damage(#"UPDATE "Product_os" SET "_sv" = 7"#, "column _sv", settle),
        Damage(#"UPDATE "Product_os" SET "_fc" = 'late'"#, "column _fc", settle),
        Damage(#"UPDATE "Product_os" SET "_ch" = '-1'"#, "column _ch", change),
        Damage(#"UPDATE "_log_record" SET "level" = 99"#, "table _log_record, column level: 99") { _ = try $0.database.logRecords(Query()) },
        Damage(#"UPDATE "_log_record" SET "timestamp" = 'noon'"#, "a date and time must be") { _ = try $0.database.logRecords(Query()) },
        Damage(#"UPDATE "_change_log" SET "change" = 'Z'"#, "table _change_log, column change") { _ = try $0.database.changeLogs() },
        Damage(#"UPDATE "_subscription" SET "parameters" = '7'"#, "table _subscription, column parameters") { _ = try $0.database.subscriptionSets },
        Damage(#"UPDATE "_personalization" SET "value" = x'05' WHERE "name" = 'region'"#, "table _personalization, column value") {
            _ = try $0.database.personalization.value("region")
        },
        Damage(#"UPDATE "_personalization" SET "value" = '[]' WHERE "name" = 'region'"#, #"personalization key "region": expected string, found []"#)
        {
            _ = try $0.database.personalization.value("region")
        },
        Damage(#"UPDATE "_group" SET "token" = x'05'"#, "table _group, column token") { _ = try $0.database.token(ofGroup: "default") },
        Damage(#"UPDATE "_group" SET "synchronized" = 'once'"#, "column synchronized") {
            _ = try $0.database.lastSynchronization(ofGroup: "default")
        },
        Damage(#"UPDATE "_settings" SET "value" = x'01' WHERE "name" = 'client_id'"#, "table _settings, column value") {
            _ = try $0.database.clientID
        },
    ])
    func `what cannot be is told, with its table and column`(damage: Damage) throws {
        let shop = try Shop()
        let product = try shop.new("Product", ["id": .integer(7), "name": .string("Rope"), "price": .decimal(1)])
        try product.create()
        try shop.write(picture: [1, 2, 3], to: product)
        try product.submitPending()
        try product.set("name", .string("Cord"))
        try product.update()
        var personalization = shop.database.personalization
        try personalization.setValue("SOUTH", "region")
        try personalization.save()
        var record = shop.database.newLogRecord(level: .warn, message: "low")
        try record.save()
        let store = try shop.database.store
        try store.write { connection in
            try connection.execute(
                #"INSERT INTO "_change_log" ("entity", "sk", "change", "root_entity", "root_sk") VALUES ('Product', 1, 'U', 'Product', 1)"#)
            try connection.execute(#"INSERT INTO "_subscription" ("entity", "parameters") VALUES ('Customer', '{}')"#)
            try connection.execute(
                #"INSERT OR REPLACE INTO "_group" ("name", "token", "synchronized") VALUES ('default', 't', '2026-11-22T10:00:00.000Z')"#)
        }
        try damage.read(shop)
        // The rows that were read now exist again, and are damaged.
        if try shop.count("_outbox") == 0 {
            try product.submitPending()
            try product.set("name", .string("String"))
            try product.update()
        }
        let damaged = try store.write { try $0.execute(damage.sql) }
        #expect(damaged > 0)
        let error = #expect(throws: ObjectError.self) { try damage.read(shop) }
        let told = error.map { "\($0)" }
        #expect(told?.contains(damage.message) == true, "\(told ?? "nothing")")
    }
}
