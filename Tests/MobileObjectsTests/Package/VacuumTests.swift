import Foundation
import MobileObjects
import MobileStore
import Testing

/// A file full of gaps becomes small again.
@Suite struct VacuumTests {
    private func bytes(_ shop: Shop) throws -> Int {
        try FileManager.default.attributesOfItem(atPath: shop.database.databasePath)[.size] as? Int ?? 0
    }

    /// Makes a shop whose file is mostly gaps: of 2,000 customers the last ten are left, one of them changed.
    private func emptied(busyTimeout: Duration = .seconds(30)) throws -> Shop {
        let shop = try Shop(busyTimeout: busyTimeout)
        try shop.database.transaction {
            for key in 1...2000 { try shop.importCustomer(Int64(key), id: "c\(key)", name: String(repeating: "Harbour ", count: 10)) }
        }
        try shop.database.store.write { _ = try $0.execute("DELETE FROM \"Customer\" WHERE \"_sk\" <= 1990") }
        let customer = try shop.objects("Customer").load(1995)
        try customer.set("city", "Cork")
        try customer.update()
        return shop
    }

    @Test("DBL-08: vacuumDatabase gives the room of deleted rows back to the disk, and every row stays, with its marks")
    func vacuum() throws {
        let shop = try emptied()
        let before = try shop.database.store.fileSpace()
        try shop.database.vacuumDatabase()
        let after = try shop.database.store.fileSpace()
        #expect(before.freePages > 10 && after.freePages == 0 && after.pages < before.pages / 2)
        #expect(try bytes(shop) == Int(after.bytes), "the file itself is smaller")
        #expect(try shop.count("Customer") == 10)
        let customer = try shop.objects("Customer").load(1995)
        #expect(try customer.isPending && shop.count("Customer_os") == 1)
        #expect(try shop.database.store.read { try $0.first("PRAGMA integrity_check")?[0] } == .text("ok"))
        try shop.newCustomer("new").create()
    }

    @Test("DBL-08: inside of a transaction it is refused, and nothing is lost; the async form does the same work")
    func insideTransaction() async throws {
        let shop = try emptied()
        let database = shop.database
        try refuseInTransaction(database)
        #expect(try shop.count("Customer") == 10)
        try await database.vacuumDatabase()
        #expect(try database.store.fileSpace().freePages == 0)
    }

    private func refuseInTransaction(_ database: PackageDatabase) throws {
        try database.transaction {
            let error = #expect(throws: ObjectError.self) { try database.vacuumDatabase() }
            #expect(error?.code == .store)
        }
    }

    @Test("DBL-08: a reader that is under way keeps what it sees while the file is compacted")
    func besideReader() throws {
        // At its end the work waits for the reader, which holds the file at its size; it does not fail then.
        let shop = try emptied(busyTimeout: .milliseconds(50))
        try shop.database.store.read { reader in
            let count = try reader.first("SELECT count(*) FROM \"Customer\"")?[0]
            try shop.database.vacuumDatabase()
            #expect(try reader.first("SELECT count(*) FROM \"Customer\"")?[0] == count)
        }
    }
}
