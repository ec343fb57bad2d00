import Foundation
import MobileExecution
import MobileStore
import Testing

@_spi(GeneratedCode) @testable import MobileObjects

/// Submitting and cancelling many rows: in portions, so that others can write in between.
@Suite struct PendingPortionTests {
    /// A shop with new customers, each with this number of orders.
    private func shop(customers: Int, orders: Int = 0, trace: StatementTrace? = nil) throws -> Shop {
        let shop: Shop
        if let trace {
            shop = try Shop(trace: { trace.append($0) })
        } else {
            shop = try Shop()
        }
        var objects: [any SavableEntity] = []
        for number in 0..<customers {
            let customer = try shop.newCustomer("c\(number)")
            for _ in 0..<orders { _ = try shop.newOrder(of: customer) }
            objects.append(customer)
        }
        try shop.database.save(objects)
        return shop
    }

    /// The progress of a call, and what others see at that time.
    private final class Steps: Sendable {
        private let lock = SystemLock<[PendingProgress]>([])
        func append(_ progress: PendingProgress) { lock.withLock { $0.append(progress) } }
        var all: [PendingProgress] { lock.withLock { $0 } }
        var done: [Int] { all.map(\.done) }
    }

    @Test("PND-04: the rows are submitted in portions of whole trees, and others write between two of them")
    func portions() throws {
        let shop = try shop(customers: 700, orders: 2), steps = Steps()
        var treesAreWhole = true
        try shop.database.submitPendingOperations { progress in
            steps.append(progress)
            do {
                // A write waits for the writer: it would never return if the call still had it.
                try shop.importCustomer(Int64(100_000 + progress.done), id: "x\(progress.done)", name: "Between")
                let half = "SELECT count(*) FROM (SELECT \"batch\" FROM \"_outbox\" GROUP BY \"batch\" HAVING count(*) <> 3)"
                if try shop.value(half) != .integer(0) { treesAreWhole = false }
                if try shop.count("_outbox") != progress.done { treesAreWhole = false }
            } catch { treesAreWhole = false }
        }
        #expect(
            steps.all == [
                PendingProgress(done: 1002, total: 2100), PendingProgress(done: 2004, total: 2100), PendingProgress(done: 2100, total: 2100),
            ])
        #expect(treesAreWhole)
    }

    @Test("the portions have the order that one transaction has, also where rows need each other")
    func order() throws {
        var lines: [[String]] = []
        for isOne in [false, true] {
            let shop = try Shop()
            // Each customer's favourite is created after it, and must go first.
            var customers: [GenericEntity] = [], products: [GenericEntity] = []
            for number in 0..<600 {
                customers.append(try shop.newCustomer("c\(number)"))
                products.append(
                    try shop.new("Product", ["id": .integer(Int64(number)), "name": "P", "price": .decimal(1)]))
            }
            try shop.database.transaction {
                for customer in customers { try customer.create() }
                for product in products.reversed() { try product.create() }
                for (customer, product) in zip(customers, products) {
                    customer.setParent(product, 1)
                    try customer.update()
                }
            }
            if isOne {
                try shop.database.transaction { try shop.database.submitPendingOperations() }
            } else {
                try shop.database.submitPendingOperations()
            }
            lines.append(try shop.outboxLines())
        }
        #expect(lines[0].count == 1200 && lines[0] == lines[1])
    }

    @Test("a cancelled task leaves whole portions submitted, says how many, and another call goes on")
    func cancellation() async throws {
        let shop = try shop(customers: 1500), database = shop.database, steps = Steps()
        let task = Task {
            try await database.submitPendingOperations { progress in
                steps.append(progress)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        let error = await #expect(throws: ObjectError.self) { try await task.value }
        #expect(error?.code == .cancelled && error?.cause is CancellationError)
        #expect(
            error?.message
                == "submit pending operations: the task was cancelled after 1000 of 1500 rows, which stay done; call it again for the others")
        #expect(try await database.outbox.count == 1000)
        try await database.submitPendingOperations(onProgress: steps.append)
        #expect(steps.done == [1000, 500] && steps.all.map(\.total) == [1500, 500])
        #expect(try await database.outbox.count == 1500)
    }

    @Test("PND-07 PND-08: many rows are cancelled in portions, and an edit that began after the call stays", arguments: [false, true])
    func cancel(ofObject: Bool) throws {
        let shop = try shop(customers: 1100), steps = Steps()
        try shop.importRows("Customer", ["id", "name"], "[\((0..<300).map { "[\($0 + 1),\"s\($0)\",\"Server\"]" }.joined(separator: ","))]")
        try shop.database.transaction {
            for customer in try shop.objects("Customer").findAll() where customer.pendingChange == .none {
                try customer.set("name", "Changed")
                try customer.update()
            }
        }
        let edit = { (progress: PendingProgress) in
            steps.append(progress)
            guard steps.all.count == 1, let customer = try? shop.customer(1) else { return }
            try? customer.set("city", "Edited since")
            try? customer.update()
        }
        if ofObject {
            try shop.database.cancelPendingOperations(of: shop.objects("Customer").metadata, onProgress: edit)
        } else {
            try shop.database.cancelPendingOperations(onProgress: edit)
        }
        #expect(steps.all == [PendingProgress(done: 1000, total: 1400), PendingProgress(done: 1400, total: 1400)])
        #expect(try shop.count("Customer") == 300 && shop.count("Customer_os") == 1)
        #expect(try shop.customer(1)?.name == "Server" && shop.customer(1)?.city == "Edited since")
    }

    @Test("in a transaction all of it is one portion, which is rolled back with it")
    func inTransaction() throws {
        let shop = try shop(customers: 1200), steps = Steps()
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try shop.database.transaction {
                try shop.database.submitPendingOperations(onProgress: steps.append)
                #expect(try shop.database.outbox.count == 1200)
                throw Stop()
            }
        }
        #expect(try shop.database.outbox.isEmpty && steps.all.isEmpty)
    }

    @Test("the number of statements of a submit and of a cancel is in proportion to the rows", arguments: [true, false])
    func statements(isSubmit: Bool) throws {
        func count(_ customers: Int) throws -> Int {
            let trace = StatementTrace(), shop = try shop(customers: customers, orders: 2, trace: trace), before = trace.count
            try isSubmit ? shop.database.submitPendingOperations() : shop.database.cancelPendingOperations()
            return trace.count - before
        }
        let (none, one, two) = (try count(0), try count(100), try count(200))
        #expect(one > none && two - none <= 2 * (one - none) + 4)
    }

    @Test("no statement of a submit or a cancel searches all pending rows for those of one parent")
    func plans() throws {
        let trace = StatementTrace(), shop = try shop(customers: 3, orders: 2, trace: trace)
        try shop.importOrder(50, number: 7, customer: try #require(try shop.objects("Customer").findAll().first).surrogateKey)
        let before = trace.count
        try shop.database.submitPendingOperations()
        try shop.database.cancelPendingOperations(of: shop.objects("SalesOrder").metadata)
        let statements = Set(trace.all[before...]).filter { $0.contains("_os\"") && $0.contains("?1") }
        #expect(!statements.isEmpty)
        for statement in statements {
            let plan = try shop.database.read { try $0.rows("EXPLAIN QUERY PLAN " + statement) }.compactMap { $0[3].text }
            #expect(!plan.contains { $0.hasPrefix("SCAN") && $0.contains("_os") }, "\(statement): \(plan)")
        }
    }
}
