import FaultInjection
import Foundation
import MobileObjects
import MobileStore
import Testing

/// The index of words has the words of the rows after any operation of the file system has failed.
@Suite struct SearchFaultTests {
    /// A first load, which makes the index at its end; changes, deletions, and an edit, which update it.
    private static func work(_ database: PackageDatabase) throws {
        func rows(_ keys: ClosedRange<Int>, _ word: String) -> String {
            "[" + keys.map { "[\($0),\"c\($0)\",\"\(word)\($0 % 7)\",\"city\($0)\"]" }.joined(separator: ",") + "]"
        }
        try database.importRows("Customer", ["id", "name", "city"], rows(1...400, "a"))
        try database.importRows("Customer", ["id", "name", "city"], rows(300...500, "b"))
        let customer = try database.load("Customer", 1)
        try customer.set("name", "edited")
        try customer.update()
        try database.load("Customer", 2).delete()
    }

    @Test("an operation of the file system that fails leaves rows and index of one state, whichever it is", arguments: [true, false])
    func everyOperationFails(isFull: Bool) throws {
        let storage = try #require(fault_storage_create(nil))
        defer { fault_storage_free(storage) }
        let name = String(cString: fault_storage_name(storage))
        var failures = 0, operation: Int64 = 0
        while true {
            let shop = try Shop(SearchIndexTests.model)
            try shop.database.close()
            var profile = shop.database.connectionProfile
            // Few pages of memory, so that a transaction writes before its end.
            profile.cacheSize = .bytes(40_960)
            profile.storageLayers = [StorageLayer("faults") { _ in name }]
            let database = try PackageDatabase(model: SearchIndexTests.model, profile: profile)
            try database.openConnection()
            // SQLITE_FULL for all further operations, or SQLITE_IOERR for one.
            fault_storage_fail_after(storage, operation, isFull ? 13 : 10, isFull)
            let result = Result { try Self.work(database) }
            let hasFailed = fault_storage_has_failed(storage)
            fault_storage_fail_after(storage, -1, 0, false)
            if case .failure = result { failures += 1 }
            // The same open database, whose connections have seen the failure, and its next edit. In every second round a new start comes first.
            if operation % 2 == 0 {
                let customer = try GenericEntity("Customer", in: database)
                try customer.set("id", "next")
                try customer.set("name", "next")
                try customer.create()
                try database.checkSearchIndexes("operation \(operation)")
                try customer.cancelPending()
            }
            try? database.close()
            let again = try shop.upgraded(to: SearchIndexTests.model)
            try again.checkSearchIndexes("operation \(operation), opened again")
            if case .failure = result, failures % 5 == 0, try again.entity("Customer").find(2) != nil || again.entity("Customer").find(1) == nil {
                try Self.work(again)
                try again.checkSearchIndexes("operation \(operation), done again")
                #expect(try again.entity("Customer").countWithQuery(Query().where(.matching("edited"))) == 1)
            }
            try again.close()
            guard hasFailed else { break }
            operation += operation < 30 ? 1 : 5
        }
        #expect(failures > 10)
    }
}
