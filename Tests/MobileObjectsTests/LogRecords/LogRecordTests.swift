import Foundation
import MobileObjects
import MobileStore
import Testing

/// The log table of a package.
@Suite struct LogRecordTests {
    let shop: Shop
    init() throws {
        shop = try Shop()
        try shop.importCustomer(1, id: "c1", name: "Harbour Foods")
        try shop.importCustomer(2, id: "c2", name: "Castle Inn")
    }

    /// Stores a record as the server sends one.
    private func serverRecord(_ message: String, key: String, code: Int = 412, operation: String = "33") throws {
        try shop.database.write("log") { transaction in
            _ = try transaction.store(
                transaction.database.makeLogRecord(
                    level: .error, code: code, eisCode: "275", message: message, component: "Customer", entityKey: key, operation: "update",
                    requestID: operation, timestamp: Date(timeIntervalSince1970: 1_000_000)))
        }
    }

    @Test("LRC-09 LRC-03 PSP-08 PSP-11: an object finds the records of its row, with all of their fields")
    func ofObject() throws {
        try serverRecord("credit limit below 0", key: "1")
        try serverRecord("another row", key: "2")
        let record = try #require(try shop.objects("Customer").load(1).logRecords().first)
        #expect(try shop.objects("Customer").load(1).logRecords().count == 1)
        #expect(record.component == "Customer" && record.entityKey == "1" && record.code == 412 && record.eisCode == "275")
        #expect(record.message == "credit limit below 0" && record.operation == "update" && record.requestID == "33")
        #expect(record.level == .error && record.messageID > 0 && record.timestamp == Date(timeIntervalSince1970: 1_000_000))
        #expect(!record.isFromClient)
    }

    @Test("a record of a failure is settled when the same operation is accepted after all", arguments: [(412, true), (LogRecord.Code.success, false)])
    func sameOperation(code: Int, isSettled: Bool) throws {
        let customer = try #require(try shop.customer(1))
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        try serverRecord("not there", key: "1", code: code, operation: "\(customer.replayPending)")
        #expect(try customer.logRecords().map(\.isSettled) == [false])
        try shop.accept(customer.replayPending)
        #expect(try customer.logRecords().map(\.isSettled) == [isSettled])
    }

    @Test("LRC-01 LRC-08: the package's table has the server's records and the client's, the newest first")
    func ofPackage() throws {
        try serverRecord("first", key: "1")
        var record = shop.database.newLogRecord(level: .info, message: "second")
        try record.save()
        #expect(try shop.database.logRecords().map(\.message) == ["second", "first"])
        #expect(try shop.database.logRecords().map(\.isFromClient) == [true, false])
    }

    @Test("LRC-05 LRC-06: a new record of an object carries its component and key; save writes it")
    func newRecord() throws {
        let customer = try shop.objects("Customer").load(1)
        var record = customer.newLogRecord(level: .warn, message: "asked to be called")
        #expect(try customer.logRecords().isEmpty)
        try record.save()
        #expect(try customer.logRecords().map(\.message) == ["asked to be called"])
        #expect(record.code == 9998 && record.messageID > 0)
        record.message = "was called"
        try record.save()
        #expect(try customer.logRecords().map(\.message) == ["was called"])
    }

    @Test("LRC-08: the package's records are read with a query on their attributes, or all together")
    func queries() async throws {
        try serverRecord("credit limit below 0", key: "1")
        try serverRecord("again", key: "2", code: 500)
        var own = shop.database.newLogRecord(level: .info, message: "own")
        try await own.save()
        let database = shop.database
        func messages(_ query: Query) throws -> [String] { try database.logRecords(query).map(\.message) }
        #expect(try messages(Query()) == ["own", "again", "credit limit below 0"])
        #expect(try messages(Query().where(.equal("component", "Customer") && .equal("entityKey", "1"))) == ["credit limit below 0"])
        #expect(try messages(Query().where(.greaterEqual("level", 5)).sorted(by: .ascending("code"))) == ["credit limit below 0", "again"])
        #expect(try messages(Query().where(.equal("timestamp", Date(timeIntervalSince1970: 1_000_000)) && .equal("isFromClient", true))) == ["own"])
        #expect(try messages(Query().where(.isNull("eisCode"))) == ["own"])
        #expect(try messages(Query().sorted(by: .ascending("messageId")).take(1)) == ["credit limit below 0"])
        #expect(try await database.logRecords(Query().from("LogRecord", "l").where(.contains("l.message", "aga"))).map(\.code) == [500])
        #expect(#expect(throws: ObjectError.self) { try messages(Query().where(.equal("colour", "red"))) }?.code == .noSuchAttribute)
        #expect(#expect(throws: ObjectError.self) { try messages(Query().from("Customer")) }?.code == .invalidQuery)
    }

    @Test("LRC-14: a record that was handled is deleted")
    func delete() throws {
        try serverRecord("handled", key: "1")
        var own = shop.database.newLogRecord(level: .info, message: "own")
        try own.save()
        for record in try shop.database.logRecords() { try record.delete() }
        #expect(try shop.database.logRecords().isEmpty)
        // The server's record keeps a mark until the server is notified; the client's own is gone.
        #expect(try shop.count("_log_record") == 1)
    }

    @Test("LRC-13: rows with records are told from others by their keys as text, read once")
    func keys() throws {
        try serverRecord("credit limit below 0", key: "1")
        try serverRecord("again", key: "1")
        var own = shop.database.newLogRecord(level: .info, message: "about the package")
        try own.save()
        let records = try shop.database.logRecords()
        let keys = Set(records.filter { $0.component == "Customer" }.map(\.entityKey))
        let found = try shop.objects("Customer").findAll().map { keys.contains($0.keyToString()) }
        #expect(found == [true, false])
        #expect(try shop.database.keysWithLogRecords(of: shop.objects("Customer").metadata) == keys)
        for record in records { try record.delete() }
        #expect(try shop.database.keysWithLogRecords(of: shop.objects("Customer").metadata).isEmpty)
    }

    @Test("LRC-14: the documented way of handling a rejection: cancel the change, delete the record, submit that")
    func handling() throws {
        let customer = try shop.objects("Customer").load(1)
        try customer.set("city", "Cork")
        try customer.update()
        try customer.submitPending()
        try serverRecord("credit limit below 0", key: "1")
        try shop.reject(customer.replayPending)
        for record in try shop.database.logRecords() where record.component == "Customer" {
            let key = try #require(Int64(record.entityKey))
            let rejected = try shop.objects("Customer").load(key)
            if rejected.isPending { try rejected.cancelPending() }
            try record.delete()
            try record.submitPending()
        }
        #expect(try shop.objects("Customer").load(1).city == "Dublin")
        #expect(try shop.database.logRecords().isEmpty && !shop.database.hasPendingOperations())
        let new = shop.database.newLogRecord(level: .info, message: "new")
        #expect(#expect(throws: ObjectError.self) { try new.submitPending() }?.code == .notSaved)
    }

    @Test("a record of the client's is submitted alone")
    func submitOne() throws {
        var first = shop.database.newLogRecord(level: .info, message: "first")
        var second = shop.database.newLogRecord(level: .info, message: "second")
        try first.save()
        try second.save()
        try second.submitPending()
        #expect(try shop.value("SELECT group_concat(message) FROM \"_log_record\" WHERE \"state\" = 1")?.text == "second")
    }

    @Test("LRC-10: the levels have the documented numbers")
    func levels() {
        #expect(LogLevel.allCases.map(\.rawValue) == [1, 2, 3, 4, 5, 6, 7])
        #expect(LogLevel.allCases.map(\.name) == ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "OFF"])
    }

    @Test("LRC-12 LRC-02: the line has the documented fields in the documented order")
    func line() throws {
        try serverRecord("credit limit below 0", key: "1")
        #expect(
            try shop.database.logRecords().first?.line
                == "ERROR, 412, 275, credit limit below 0, Customer, 1, update, 33, 1970-01-12T13:46:40.000Z")
    }

    @Test("LRC-07: submitLogRecords prepares the client's records for upload")
    func submit() throws {
        try serverRecord("the server's", key: "1")
        var own = shop.database.newLogRecord(level: .info, message: "own")
        try own.save()
        try shop.database.submitLogRecords()
        #expect(try shop.value("SELECT group_concat(message) FROM \"_log_record\" WHERE \"state\" = 1")?.text == "own")
    }
}
