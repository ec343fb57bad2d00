import Foundation
import MobileObjects
import MobileStore
import Testing

/// Random sequences of everything that can happen to pending rows, compared with the rules after each step.
@Suite struct RandomOperationTests {
    @Test("every transition, in every order: what the database has is what the rules say", arguments: RandomSequences.seeds(24))
    func sequence(seed: UInt64) throws {
        var run = try RandomRun(seed: seed)
        for step in 0..<150 {
            let event = try run.step()
            try #require(try run.visible() == run.reference.visible, "seed \(seed), step \(step): \(event)")
            try #require(try run.pending() == run.reference.pending, "seed \(seed), step \(step): \(event)")
            try #require(try run.waiting() == run.reference.waiting, "seed \(seed), step \(step): \(event)")
        }
        try run.finish()
        #expect(try run.contents() == run.serverContents, "seed \(seed): after the last synchronization")
        #expect(try !run.shop.database.hasPendingOperations())
    }
}

/// One device and a server, driven by chance.
private struct RandomRun {
    let shop: Shop
    var reference: ReferenceClient
    private var random: SeededRandom
    /// The server's rows, and what it has told the device so far.
    private var server: [Int64: Version] = [:]
    private var told: [Int64: Version] = [:]
    /// Operations that the server has processed and not answered.
    private var answers: [(id: Int64, accepted: Bool)] = []
    private var nextServerKey: Int64 = 1
    private var texts = 0
    /// Handles of rows that were deleted here, by which they are submitted and cancelled.
    private var deleted: [Int64: GenericEntity] = [:]

    init(seed: UInt64) throws {
        shop = try Shop()
        random = SeededRandom(seed: seed)
        reference = ReferenceClient(clock: shop.clock.now)
    }

    mutating func step() throws -> String {
        if Bool.random(using: &random) {
            shop.clock.now += Int64.random(in: 0...3, using: &random)
            reference.clock = shop.clock.now
        }
        switch Int.random(in: 0..<20, using: &random) {
        case 0...1: return try createCustomer()
        case 2...4: return try createOrder()
        case 5...8: return try updateAny()
        case 9...10: return try deleteAny()
        case 11...13: return try submitAny()
        case 14: return try cancelAny()
        case 15: return changeOnServer()
        case 16...17: return replayOnServer()
        case 18: return try tellDevice()
        default: return try answerDevice()
        }
    }

    // MARK: The device

    private mutating func text() -> String {
        texts += 1
        return "t\(texts)"
    }

    private mutating func createCustomer() throws -> String {
        let text = text()
        let customer = try shop.new("Customer", ["id": .string("new \(text)"), "name": .string(text)])
        try customer.create()
        reference.create(customer.surrogateKey, Version(isOrder: false, text: text))
        return "create customer \(customer.surrogateKey)"
    }

    private mutating func createOrder() throws -> String {
        guard let parent = pick(isOrder: false), let customer = try shop.customer(parent) else { return "nothing" }
        let text = text(), order = try shop.new("SalesOrder", ["status": .string(text)])
        customer.orders.append(order)
        try Bool.random(using: &random) ? order.create() : customer.save()
        reference.create(order.surrogateKey, Version(isOrder: true, text: text, parent: parent))
        return "create order \(order.surrogateKey) of \(parent)"
    }

    private mutating func updateAny() throws -> String {
        let isOrder = Bool.random(using: &random)
        guard let key = pick(isOrder: isOrder) else { return "nothing" }
        let text = text(), object = try find(key, isOrder)
        try object.set(isOrder ? "status" : "name", .string(text))
        try object.update()
        reference.update(key, text)
        return "update \(key)"
    }

    private mutating func deleteAny() throws -> String {
        let isOrder = Bool.random(using: &random)
        guard let key = pick(isOrder: isOrder) else { return "nothing" }
        let object = try find(key, isOrder)
        if !isOrder {
            for order in try object.orders.all() { deleted[order.surrogateKey] = order }
        }
        try object.delete()
        deleted[key] = object
        reference.delete(key)
        return "delete \(key)"
    }

    private mutating func submitAny() throws -> String {
        guard let (key, object) = try pickPending() else { return "nothing" }
        try object.submitPending()
        reference.submit(key)
        return "submit \(key)"
    }

    private mutating func cancelAny() throws -> String {
        guard let (key, object) = try pickPending() else { return "nothing" }
        try object.cancelPending()
        reference.cancel(key)
        return "cancel \(key)"
    }

    private mutating func pick(isOrder: Bool) -> Int64? {
        reference.rows.filter { $0.value.now?.isOrder == isOrder }.keys.sorted().randomElement(using: &random)
    }

    private func find(_ key: Int64, _ isOrder: Bool) throws -> GenericEntity {
        try shop.objects(isOrder ? "SalesOrder" : "Customer").load(key)
    }

    /// Mostly rows with a pending change, sometimes any; with the object to call.
    private mutating func pickPending() throws -> (Int64, GenericEntity)? {
        let any = Int.random(in: 0..<4, using: &random) == 0
        let keys = reference.rows.filter { $0.value.change != "N" || any }.keys.sorted()
        guard let key = keys.randomElement(using: &random), let row = reference.rows[key] else { return nil }
        if let now = row.now { return (key, try find(key, now.isOrder)) }
        guard let object = deleted[key], object.isDeleted else { return nil }
        return (key, object)
    }

    // MARK: The server

    private mutating func changeOnServer() -> String {
        let key = server.keys.sorted().randomElement(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            let text = text()
            server[nextServerKey] = Version(isOrder: false, text: text)
            nextServerKey += 1
            return "server makes a customer"
        case 1:
            guard let parent = server.filter({ !$0.value.isOrder }).keys.sorted().randomElement(using: &random) else { return "nothing" }
            let text = text()
            server[nextServerKey] = Version(isOrder: true, text: text, parent: parent)
            nextServerKey += 1
            return "server makes an order of \(parent)"
        case 2:
            guard let key else { return "nothing" }
            let text = text()
            server[key]?.text = text
            return "server changes \(key)"
        default:
            guard let key else { return "nothing" }
            removeOnServer(key)
            return "server deletes \(key)"
        }
    }

    private mutating func removeOnServer(_ key: Int64) {
        for (child, version) in server where version.parent == key { server[child] = nil }
        server[key] = nil
    }

    /// Takes the operations that were not taken before, in their order.
    private mutating func replayOnServer(refusing: Bool = true) -> String {
        let new = reference.outbox.filter { operation in !answers.contains { $0.id == operation.id } }
        for operation in new {
            var accepted = !refusing || Int.random(in: 0..<4, using: &random) > 0
            switch operation.change {
            case "C": accepted = accepted && (operation.version?.parent == 0 || server[operation.version?.parent ?? 0] != nil)
            default: accepted = accepted && server[operation.key] != nil
            }
            if accepted {
                if let version = operation.version { server[operation.key] = version } else { removeOnServer(operation.key) }
            }
            answers.append((operation.id, accepted))
        }
        return "server replays \(new.map(\.id))"
    }

    /// Imports everything that the device was not told.
    private mutating func tellDevice() throws -> String {
        for isOrder in [false, true] {
            let changed = server.filter { $0.value.isOrder == isOrder && told[$0.key] != $0.value }.sorted { $0.key < $1.key }
            let gone = told.filter { $0.value.isOrder == isOrder && server[$0.key] == nil }.keys.sorted()
            for (key, version) in changed {
                if isOrder {
                    try shop.importRows(
                        "SalesOrder", ["number", "customerId", "status", "_ref_customer"],
                        "[[\(key),\(key),\"c\(version.parent)\",\"\(version.text)\",\(version.parent)]]")
                } else {
                    try shop.importRows("Customer", ["id", "name", "credit"], "[[\(key),\"c\(key)\",\"\(version.text)\",0]]")
                }
                reference.imported(key, version)
            }
            for key in gone {
                try shop.importDeletions(isOrder ? "SalesOrder" : "Customer", key)
                reference.imported(key, nil)
            }
        }
        told = server
        return "import"
    }

    private mutating func answerDevice() throws -> String {
        // Mostly the import that belongs to the answers comes first; without it the submitted values must do.
        if Int.random(in: 0..<4, using: &random) > 0 { _ = try tellDevice() }
        let now = answers
        answers = []
        for answer in now {
            try shop.answer(answer.id, accepted: answer.accepted)
            reference.answered(answer.id, accepted: answer.accepted)
        }
        return "answers \(now.map { "\($0.id) \($0.accepted)" })"
    }

    /// Everything is sent and answered, refused changes are given up, and the rest is imported: both sides have the same then.
    mutating func finish() throws {
        for _ in 0..<3 {
            try shop.database.submitPendingOperations()
            reference.submitAll()
            #expect(try waiting() == reference.waiting)
            _ = replayOnServer(refusing: false)
            _ = try tellDevice()
            _ = try answerDevice()
        }
        for name in ["Customer", "SalesOrder"] { try shop.database.cancelPendingOperations(of: shop.objects(name).metadata) }
        // What was cancelled came back as the device knew it; the server tells all of it once more.
        for key in told.keys { told[key]?.text += "?" }
        for (key, row) in reference.rows where told[key] == nil { told[key] = Version(isOrder: isOrder(row), text: "?") }
        _ = try tellDevice()
    }

    private func isOrder(_ row: ReferenceClient.Row) -> Bool {
        if let now = row.now { return now.isOrder }
        return row.lastParent != 0
    }

    // MARK: Looking

    func visible() throws -> [String] {
        try rows(
            """
            SELECT "_sk", "name", 0, "_pc", "_rc", "_rp", "_rf" FROM "Customer"
            UNION ALL SELECT "_sk", "status", "_ref_customer", "_pc", "_rc", "_rp", "_rf" FROM "SalesOrder" ORDER BY 1
            """)
    }

    func pending() throws -> [String] {
        try rows(
            """
            SELECT "_sk", "_pc", "_rc", "_rp", "_rf" FROM "Customer_os" UNION ALL SELECT "_sk", "_pc", "_rc", "_rp", "_rf" FROM "SalesOrder_os"
            ORDER BY 1
            """, letterAt: 1)
    }

    func waiting() throws -> [String] {
        try shop.database.outbox.map { record in
            let text = (record.attributes["name"] ?? record.attributes["status"])?.string ?? ""
            return "\(record.id) \(record.change.rawValue) \(record.surrogateKey) \(text)"
        }
    }

    func contents() throws -> [String] {
        try shop.database.read { connection in
            try connection.rows(
                """
                SELECT "_sk", "name", 0 FROM "Customer" UNION ALL SELECT "_sk", "status", "_ref_customer" FROM "SalesOrder" ORDER BY 1
                """)
        }.map { "\($0[0].integer ?? 0) \($0[1].text ?? "") \($0[2].integer ?? 0)" }
    }

    var serverContents: [String] { server.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value.text) \($0.value.parent)" } }

    private func rows(_ sql: String, letterAt: Int = 3) throws -> [String] {
        try shop.database.read { try $0.rows(sql) }.map { row in
            row.enumerated().map { index, value in
                index == letterAt ? String((PendingChange(rawValue: Int(value.integer ?? 0)) ?? .none).letter) : value.text ?? "\(value.integer ?? 0)"
            }.joined(separator: " ")
        }
    }
}
