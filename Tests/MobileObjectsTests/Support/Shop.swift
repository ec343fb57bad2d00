import Foundation
import MobileModel
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport

/// A shop's database in a directory of its own, with the effects of a server.
final class Shop {
    private let temporary: TemporaryDirectory
    let clock = VirtualClock(start: .seconds(1_000_000))
    let database: PackageDatabase

    /// - Parameters:
    ///   - trace: is called with each SQL statement.
    ///   - console: the place where the database writes to developers.
    ///   - freeStorage: the free bytes of its disk.
    ///   - performance: the agent that measures it.
    ///   - random: the chance of its database.
    ///   - ownKeyRangeSize: the number of keys of the ranges that the database makes itself.
    ///   - busyTimeout: the time that a connection waits for the locks of others.
    init(
        _ model: PackageModel = ShopModel.model, grantingKeys: Bool = true, maxConnections: Int = 2,
        trace: (@Sendable (String) -> Void)? = nil, console: ConsoleLogger = ConsoleLogger(),
        freeStorage: @escaping @Sendable (String) -> Int64? = { Environment.systemFreeStorage($0) }, performance: PerformanceAgent? = nil,
        random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }, ownKeyRangeSize: Int64 = 1 << 16,
        busyTimeout: Duration = .seconds(30)
    ) throws {
        temporary = try TemporaryDirectory()
        let clock = clock
        var environment = Environment(
            now: { clock.date }, random: random, console: console, freeStorage: freeStorage, performance: performance)
        environment.ownKeyRangeSize = ownKeyRangeSize
        database = try PackageDatabase(
            model: model,
            profile: ConnectionProfile(path: temporary.file("shop.db"), maxConnections: maxConnections, busyTimeout: busyTimeout, trace: trace),
            environment: environment)
        if grantingKeys { try grant(first: 1000, last: 9999) }
    }

    deinit { try? database.close() }

    var directory: URL { temporary.url }

    func grant(first: Int64, last: Int64) throws {
        try database.write("grant") { try $0.grantKeyRange(first: first, last: last) }
    }

    func objects(_ name: String) throws -> EntityClass { try database.entity(name) }

    /// Makes a new object with these values.
    func new(_ name: String, _ values: [String: AttributeValue]) throws -> GenericEntity {
        let object = try GenericEntity(name, in: database)
        for (name, value) in values { try object.setValue(value, name) }
        return object
    }

    func newCustomer(_ id: String, name: String = "Harbour Foods") throws -> GenericEntity {
        try new("Customer", ["id": .string(id), "name": .string(name)])
    }

    /// Makes a new order of a customer, in memory.
    func newOrder(of customer: GenericEntity, status: String = "NEW") throws -> GenericEntity {
        let order = try new("SalesOrder", ["status": .string(status)])
        customer.orders.append(order)
        return order
    }

    func newLine(of order: GenericEntity, _ number: Int64, text: String = "") throws -> GenericEntity {
        let line = try new("Line", ["line": .integer(number), "text": .string(text)])
        order.lines.append(line)
        return line
    }

    // MARK: The server

    /// Imports rows as the server sends them: a JSON array of arrays, `_sk` first.
    func importRows(_ name: String, _ columns: [String], _ json: String) throws {
        try database.write("import") { transaction in
            let rows = try transaction.importSession(for: name).rows(["_sk"] + columns)
            try rows.push([UInt8](json.utf8))
            try rows.finish()
        }
    }

    func importDeletions(_ name: String, _ keys: Int64...) throws {
        try database.write("import") { transaction in
            let rows = try transaction.importSession(for: name).deletions()
            try rows.push([UInt8](("[" + keys.map { "[\($0)]" }.joined(separator: ",") + "]").utf8))
            try rows.finish()
        }
    }

    func importCustomer(_ key: Int64, id: String, name: String, city: String = "Dublin") throws {
        try importRows("Customer", ["id", "name", "city", "credit"], "[[\(key),\"\(id)\",\"\(name)\",\"\(city)\",12.34]]")
    }

    func importOrder(_ key: Int64, number: Int64, customer: Int64, status: String = "NEW") throws {
        try importRows(
            "SalesOrder", ["number", "customerId", "status", "_ref_customer"], "[[\(key),\(number),\"c\(customer)\",\"\(status)\",\(customer)]]")
    }

    func importLine(_ key: Int64, order: Int64, number: Int64, text: String) throws {
        try importRows("Line", ["orderNumber", "line", "text", "_ref_order"], "[[\(key),\(order),\(number),\"\(text)\",\(order)]]")
    }

    @discardableResult
    func answer(_ id: Int64, accepted: Bool) throws -> ReplayOutcome? {
        try database.write("settle") { try $0.settle([ReplayAnswer(id: id, isAccepted: accepted)]).first }
    }

    /// Answers that an operation is deferred.
    @discardableResult
    func postpone(_ id: Int64, code: Int64 = 409, _ message: String = "busy") throws -> ReplayOutcome? {
        try database.write("settle") { try $0.settle([ReplayAnswer(id: id, .deferred(ReplayDeferral(code: code, message: message)))]).first }
    }

    func accept(_ id: Int64) throws { try answer(id, accepted: true) }
    func reject(_ id: Int64) throws { try answer(id, accepted: false) }

    // MARK: Looking

    func customer(_ key: Int64) throws -> GenericEntity? { try objects("Customer").find(key) }

    /// Returns the first column of the first row of a query.
    func value(_ sql: String) throws -> Value? { try database.read { try $0.first(sql)?.first } }

    func count(_ table: String) throws -> Int { Int(try value("SELECT count(*) FROM \"\(table)\"")?.integer ?? -1) }

    /// Returns changes of the outbox in order: `C Customer 1000`.
    func outboxLines() throws -> [String] {
        try database.outbox.map { "\($0.change.rawValue) \($0.entity) \($0.surrogateKey)" }
    }
}

extension GenericEntity {
    var orders: Children<GenericEntity> { children(0) }
    var lines: Children<GenericEntity> { children(1) }
    var name: String { (try? value("name"))?.description ?? "" }
    var city: String { (try? value("city"))?.description ?? "" }

    func set(_ name: String, _ value: AttributeValue) throws { try setValue(value, name) }

    /// The state attributes, as in the documented table.
    var stateRow: String {
        func letter(_ flag: Bool) -> String { flag ? "T" : "F" }
        return [
            letter(isNew), letter(isCreated), letter(isDirty), letter(isDeleted), letter(isUpdated), letter(isPending),
            String(pendingChange.letter), String(replayCounter), String(replayPending), String(replayFailure),
        ].joined(separator: " ")
    }
}
