import Foundation
import MobileObjects
import MobileStore
import TestSupport
import Testing

/// The mark next to a database file, by which a copy is noticed.
@Suite struct CopyMarkTests {
    @Test(
        "a mark that cannot be read is replaced, with a warning: identity, keys and operations stay",
        arguments: ["", "{", "{\"name\": 1}", "\u{0}\u{1}"])
    func unreadable(content: String) throws {
        let lines = RecordedLines()
        let shop = try Shop(console: ConsoleLogger(level: .warn) { lines.add($0) })
        let customer = try shop.newCustomer("c1")
        try customer.create()
        let client = try shop.database.clientID, mark = shop.database.databasePath + "-mark"
        try shop.database.closeConnection()
        try Data(content.utf8).write(to: URL(filePath: mark))
        #expect(try shop.database.clientID == client && shop.customer(customer.surrogateKey)?.name == "Harbour Foods")
        #expect(lines.all.filter { $0.contains("cannot be read") }.count == 1)
        // It is a whole one now, and nothing is said any more.
        for _ in 0..<2 {
            try shop.database.closeConnection()
            #expect(try shop.database.clientID == client)
        }
        #expect(lines.all.filter { $0.contains("cannot be read") }.count == 1)
    }

    @Test("a mark that cannot be read and written is an error at each open, and the identity stays")
    func unwritable() throws {
        let shop = try Shop()
        let customer = try shop.newCustomer("c1")
        try customer.create()
        let client = try shop.database.clientID, mark = shop.database.databasePath + "-mark"
        try shop.database.closeConnection()
        let content = try Data(contentsOf: URL(filePath: mark))
        try FileManager.default.removeItem(atPath: mark)
        try FileManager.default.createDirectory(atPath: mark + "/inside", withIntermediateDirectories: true)
        for _ in 0..<3 {
            let error = #expect(throws: ObjectError.self) { try shop.database.openConnection() }
            #expect(error?.code == .store && error?.message.contains(mark) == true)
        }
        try FileManager.default.removeItem(atPath: mark)
        try content.write(to: URL(filePath: mark))
        #expect(try shop.database.clientID == client && shop.customer(customer.surrogateKey) != nil)
    }
}
