import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// Operations that the back end refuses, and uploads that the server refuses before.
@Suite struct RejectionTests {
    /// One operation that the back end refuses, and its code.
    struct Refused: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let object: String
        let attributes: JSONObject
        let code: Int64
        let backEndCode: String
        let message: String
    }

    static let customer: JSONObject = ["name": "New", "region": "NORTH", "credit": 1, "active": true]

    static func changed(_ name: String, _ value: JSONValue) -> JSONObject {
        var attributes = customer
        attributes[name] = value
        return attributes
    }

    static let refused = [
        Refused(
            testDescription: "CHECK", object: "Customer", attributes: changed("credit", -1), code: 412, backEndCode: "275",
            message: "\"credit\" of \"Customer\""),
        Refused(
            testDescription: "NOT NULL", object: "Customer", attributes: changed("name", .null), code: 412, backEndCode: "1299",
            message: "\"name\" of \"Customer\" must have a value"),
        Refused(
            testDescription: "UNIQUE", object: "Customer", attributes: changed("code", "taken"), code: 412, backEndCode: "2067",
            message: "the same \"code\""),
        Refused(
            testDescription: "FOREIGN KEY", object: "Order", attributes: ["customerId": 999, "status": "NEW"], code: 412, backEndCode: "787",
            message: "refers to"),
        Refused(
            testDescription: "PRIMARY KEY", object: "Line", attributes: ["orderId": 10, "line": 1, "product": "salt", "quantity": 1], code: 412,
            backEndCode: "1555", message: "the same \"orderId\", \"line\""),
        Refused(
            testDescription: "RAISE in a trigger", object: "Order", attributes: ["customerId": 1, "status": "TUESDAY"], code: 412,
            backEndCode: "1811",
            message: "no orders on Tuesday"),
    ]

    /// The codes of PostgreSQL for those of SQLite.
    static let sqlStates = ["275": "23514", "1299": "23502", "2067": "23505", "787": "23503", "1555": "23505", "1811": "P0001", "1": "42703"]

    @Test(
        "ERR-07 PSP-07 PSP-08 LRC-04: a constraint of the back end rejects the operation with code 412, a log record, and no change",
        arguments: refused)
    func constraints(_ refused: Refused) throws {
        let server = try FieldSales.server()
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET code = 'taken' WHERE \"customer no\" = 1") }
        let device = try TestDevice.inRegion("NORTH", of: server)
        let before = try ["the customers", "order", "order line"].map { try contents($0, server) }
        let operation = device.create(refused.object, refused.attributes)
        let result = try device.synchronize([operation])
        let outcome = try #require(result.results.first)
        #expect(outcome.outcome == .rejected && outcome.id == operation.id && outcome.key == operation.key)
        #expect(outcome.code == refused.code)
        #expect(outcome.message.contains(refused.message), "\(outcome.message)")
        let record = try #require(result.logRecords.first)
        #expect(record.component == refused.object && record.code == refused.code)
        #expect(record.eisCode == (BackEndKind.underTest == .sqlite ? refused.backEndCode : Self.sqlStates[refused.backEndCode]))
        #expect(record.requestId == String(operation.id) && record.operation == "create" && record.level == .error)
        #expect(record.entityKey == String(operation.key))
        #expect(try ["the customers", "order", "order line"].map { try contents($0, server) } == before)
    }

    private func contents(_ table: String, _ server: TestServer) throws -> [[Value]] {
        try server.backEnd { try $0.rows("SELECT * FROM \"\(table)\" ORDER BY 1, 2") }
    }

    @Test("ERR-05: a table that is gone is 404; a row that is gone is too")
    func missing() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let update = device.update("Line", where: "product", is: "tea", set: ["quantity": 3], primaryKey: ["orderId": 11, "line": 1])
        try server.backEnd { try $0.execute("DELETE FROM \"order line\" WHERE product = 'tea'") }
        let gone = try #require(try device.synchronize([update], groups: []).results.first)
        #expect(gone.code == 404 && gone.message == "the row of \"Line\" is not in the back end any more")
        try server.backEnd { try $0.execute("DROP TABLE \"order line\"") }
        let create = device.create("Line", ["orderId": 11, "line": 5, "product": "tea", "quantity": 1])
        let missing = try #require(try device.synchronize([create], groups: []).results.first)
        #expect(missing.code == 404 && missing.message == "the back end does not contain the data of \"Line\"")
    }

    @Test("LRC-11: codes are 200 for what is done, the code that a failure of the back end maps to, and 500 where there is none")
    func codes() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let done = try #require(try device.synchronize([device.create("Customer", Self.customer)], groups: []).results.first)
        #expect(done.outcome == .accepted && done.code == 200)
        let refused = try device.synchronize([device.create("Customer", Self.changed("credit", -1))], groups: [])
        #expect(refused.logRecords.map(\.code) == [412])
        try server.backEnd { try $0.execute("ALTER TABLE \"the customers\" RENAME COLUMN name TO \"other name\"") }
        let unknown = try device.synchronize([device.create("Customer", Self.customer)], groups: [])
        #expect(unknown.results.map(\.code) == [500])
        #expect(unknown.logRecords.map(\.code) == [500])
        #expect(unknown.logRecords.map(\.eisCode) == (BackEndKind.underTest == .sqlite ? ["1"] : ["42703"]))
    }

    @Test("PND-12: a batch is done as a whole or not at all")
    func batches() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let customer = device.create("Customer", Self.customer)
        let order = device.create("Order", ["customerId": 0, "status": "TUESDAY"], refs: ["customer": .integer(customer.key)], batch: customer.id)
        let separate = device.create("Customer", Self.changed("name", "Other"))
        let result = try device.synchronize([customer, order, separate])
        #expect(result.results.map(\.outcome) == [.rejected, .rejected, .accepted])
        #expect(result.results[0].message.contains("another operation of its batch was rejected"))
        #expect(result.results[1].message.contains("no orders on Tuesday"))
        #expect(result.logRecords.count == 2)
        #expect(try server.backEndValue("SELECT group_concat(name) FROM \"the customers\" WHERE \"customer no\" > 3") == "Other")
    }

    @Test("PSP-13: a rejected operation stays rejected when it comes again; a new one is judged anew")
    func repeated() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let operation = device.create("Customer", Self.changed("code", "x"))
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET code = 'x' WHERE \"customer no\" = 1") }
        let first = try device.synchronize([operation])
        try server.backEnd { try $0.execute("UPDATE \"the customers\" SET code = NULL") }
        let second = try device.synchronize([operation])
        #expect(second.results == first.results && second.logRecords == first.logRecords)
        let resubmitted = OperationFrame(
            id: device.nextID(), object: "Customer", change: .create, key: operation.key, attributes: operation.attributes)
        #expect(try device.synchronize([resubmitted]).results.map(\.outcome) == [.accepted])
    }

    /// An upload that contradicts the model.
    struct Wrong: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let operation: OperationFrame
        let status: Int
        let message: String
    }

    static func frame(
        _ object: String = "Customer", _ change: OperationFrame.Change = .create, attributes: JSONObject = [:], operation: String? = nil,
        refs: JSONObject = [:], parameters: JSONObject = [:], primaryKey: JSONObject = [:]
    ) -> OperationFrame {
        OperationFrame(
            id: 2, object: object, change: change, operation: operation, key: 1, attributes: attributes, primaryKey: primaryKey, refs: refs,
            parameters: parameters)
    }

    static let wrong = [
        Wrong(testDescription: "unknown object", operation: frame("Nobody"), status: 404, message: "\"Nobody\""),
        Wrong(testDescription: "unknown attribute", operation: frame(attributes: ["nick": "x"]), status: 400, message: "\"nick\""),
        Wrong(testDescription: "large attribute in the row", operation: frame(attributes: ["notes": "x"]), status: 400, message: "\"notes\""),
        Wrong(testDescription: "string for a number", operation: frame(attributes: ["credit": "x"]), status: 400, message: "expected a number"),
        Wrong(testDescription: "too many digits", operation: frame(attributes: ["credit": .number("1.234")]), status: 400, message: "2 of them"),
        Wrong(
            testDescription: "fraction for an integer", operation: frame("Line", attributes: ["line": .number("1.5")]), status: 400, message: "an int"
        ),
        Wrong(
            testDescription: "integer out of range", operation: frame("Line", attributes: ["line": 3_000_000_000]), status: 400, message: "2147483647"
        ),
        Wrong(testDescription: "number for a boolean", operation: frame(attributes: ["active": 1]), status: 400, message: "true or false"),
        Wrong(testDescription: "no date", operation: frame(attributes: ["since": "yesterday"]), status: 400, message: "YYYY-MM-DD"),
        Wrong(testDescription: "unknown operation", operation: frame(.init("Customer"), .other, operation: "drop"), status: 404, message: "\"drop\""),
        Wrong(testDescription: "unknown relationship", operation: frame(refs: ["boss": 1]), status: 400, message: "\"boss\""),
        Wrong(
            testDescription: "unknown parameter", operation: frame("Customer", .other, operation: "raise", parameters: ["x": 1]), status: 400,
            message: "\"x\""),
        Wrong(
            testDescription: "too many digits of a parameter",
            operation: frame("Customer", .other, operation: "raise", parameters: ["amount": .number("0.1234")]), status: 400,
            message: "a decimal of at most 8 digits, 3 of them after the point"),
        Wrong(
            testDescription: "no part of the key", operation: frame("Customer", .update, primaryKey: ["name": "x"]), status: 400, message: "\"name\""),
    ]

    @Test("PSP-12: an upload that contradicts the model is refused as a whole, and nothing has changed", arguments: wrong)
    func contradictions(_ wrong: Wrong) throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let right = OperationFrame(id: 1, object: "Customer", change: .create, key: device.nextKey(), attributes: Self.customer)
        let result = try device.synchronize([right, wrong.operation])
        #expect(result.status == wrong.status)
        #expect(result.failure?.code == Int64(wrong.status))
        #expect(result.failure?.message.contains(wrong.message) == true, "\(result.failure?.message ?? "")")
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 3)
    }

    @Test("SYN-10: an upload that ends anywhere before its end changes nothing")
    func truncated() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        let operation = device.create("Customer", Self.customer)
        let upload = try device.upload([operation], large: [operation.id: ["photo": [1, 2, 3]]])
        for length in stride(from: 0, to: upload.count, by: 7) {
            let result = try device.synchronize(upload: Array(upload[..<length]))
            #expect(result.status == 400, "\(length) bytes")
        }
        #expect(try device.synchronize(upload: upload + [0]).status == 400)
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 3)
        #expect(try device.synchronize(upload: upload).results.map(\.outcome) == [.accepted])
    }
}
