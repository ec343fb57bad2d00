import MobileProtocol
import MobileServer
import MobileStore
import TestSupport
import Testing

/// The information that a device gets about the server's back end: codes and sentences, but no statements and names.
@Suite struct DisclosureTests {
    /// The sentence of a rejection for people.
    struct Sentence: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let object: String
        let attributes: JSONObject
        let code: Int64
        let message: String
    }

    static let sentences = [
        Sentence(
            testDescription: "CHECK", object: "Customer", attributes: RejectionTests.changed("credit", -1), code: 412,
            message: "the back end does not accept this value of \"credit\" of \"Customer\""),
        Sentence(
            testDescription: "NOT NULL", object: "Customer", attributes: RejectionTests.changed("name", .null), code: 412,
            message: "\"name\" of \"Customer\" must have a value"),
        Sentence(
            testDescription: "UNIQUE", object: "Customer", attributes: RejectionTests.changed("code", "taken"), code: 412,
            message: "there is a \"Customer\" with the same \"code\" already"),
        Sentence(
            testDescription: "FOREIGN KEY", object: "Order", attributes: ["customerId": 999, "status": "NEW"], code: 412,
            message: "\"Order\": the back end has no row that this one refers to (\"customerId\" 999)"),
        Sentence(
            testDescription: "PRIMARY KEY", object: "Line", attributes: ["orderId": 10, "line": 1, "product": "salt", "quantity": 1], code: 412,
            message: "there is a \"Line\" with the same \"orderId\", \"line\" already"),
        Sentence(
            testDescription: "RAISE in a trigger", object: "Order", attributes: ["customerId": 1, "status": "TUESDAY"], code: 412,
            message: "no orders on Tuesday"),
    ]

    @Test("PSP-07 LRC-04: a rejection says what is wrong in the words of the model; the statement is in the server's log", arguments: sentences)
    func rejections(_ sentence: Sentence) throws {
        let lines = RecordedLines()
        let server = try FieldSales.server { $0.log = { lines.add($0) } }
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET code = 'taken' WHERE \"customer no\" = 1") }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let result = try device.synchronize([device.create(sentence.object, sentence.attributes)])
        #expect(result.results.map(\.code) == [sentence.code])
        #expect(result.results.map(\.message) == [sentence.message])
        #expect(result.logRecords.map(\.message) == [sentence.message])
        #expect(lines.all.contains { $0.contains("rejected") && $0.contains("INSERT INTO") })
    }

    @Test("PSP-10 ERR-08: what the back end cannot do at all is one sentence for the device")
    func failures() throws {
        let lines = RecordedLines()
        let server = try FieldSales.server { $0.log = { lines.add($0) } }
        let device = try TestDevice.inRegion("NORTH", of: server)
        try server.backEnd { try $0.execute("ALTER TABLE \"the customers\" RENAME COLUMN name TO \"other name\"") }
        let failed = try device.synchronize([device.create("Customer", RejectionTests.customer)], groups: [])
        #expect(failed.results.map(\.message) == ["the back end could not do this; the server's log says why"])
        try server.backEnd { try $0.execute("DROP TABLE \"order line\"") }
        let create = device.create("Line", ["orderId": 11, "line": 5, "product": "tea", "quantity": 1])
        let missing = try device.synchronize([create], groups: [])
        #expect(missing.results.map(\.code) == [404] && missing.results.map(\.message) == ["the back end does not contain the data of \"Line\""])
        #expect(lines.all.contains { $0.contains("no such table: order line") || $0.contains("order line\" does not exist") })
    }

    @Test("PND-12: neither does an operation whose batch was undone tell of it")
    func batches() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let customer = device.create("Customer", RejectionTests.customer)
        let other = device.create("Customer", RejectionTests.changed("credit", -1), batch: customer.id)
        let result = try device.synchronize([customer, other])
        #expect(result.results.map(\.outcome) == [.rejected, .rejected])
        #expect(result.results.allSatisfy { !$0.message.contains("INSERT") && !$0.message.contains("credit >= 0") }, "\(result.results)")
    }
}
