import Foundation
import MobileStore
import Testing

@_spi(GeneratedCode) @testable import MobileObjects

/// Saves of one object that overlap, and changes of an object whose save waits for the writer.
@Suite struct OverlappingSaveTests {
    private let shop: Shop
    init() throws {
        shop = try Shop()
        for key in [1, 2, 3] as [Int64] { try shop.importCustomer(key, id: "c\(key)", name: "Harbour Foods") }
        try shop.importOrder(11, number: 11, customer: 1)
    }

    @Test func `a second save of a new object waits for the first, so there is one row, also of its children`() async throws {
        try await Screen(shop.database).saveTwice()
        #expect(try shop.count("Customer") == 4 && shop.count("SalesOrder") == 2)
    }

    @Test func `a second create of an object waits for the first, and is refused then`() async throws {
        #expect(try await Screen(shop.database).createTwice() == .alreadySaved)
        #expect(try shop.count("Customer") == 4)
    }

    @Test func `a second update returns after the first has written, and writes what was set since`() async throws {
        #expect(try await Screen(shop.database).updateTwice() == ["PAID", "SENT"])
    }

    @Test func `a call that cannot wait for the save is refused`() async throws {
        #expect(try await Screen(shop.database).saveAtOnce() == [.misuse, .misuse, .misuse, .misuse])
        #expect(try shop.count("Customer") == 4)
    }

    @Test(arguments: [false, true], [Setting.key(2), .object(2)])
    fileprivate func `what is set while an update waits stays, whether the update succeeds or fails`(isStale: Bool, first: Setting) async throws {
        for second in [Setting.key(3), .object(3)] {
            #expect(try await Screen(shop.database).update(first, then: second, isStale: isStale) == ["c3 3", "c3 3"])
            let order = try await shop.objects("SalesOrder").load(11)
            try await order.cancelPending()
        }
    }

    @Test func `a refresh that keeps changes keeps those as well that are made while it reads`() async throws {
        #expect(try await Screen(shop.database).changeDuringRefresh() == ["SENT", "c2"])
    }
}

/// A way to give an order another customer.
private enum Setting: Sendable {
    case key(Int64), object(Int64)
}

/// Holds the writer of a database on a thread of its own.
private final class HeldWriter: Sendable {
    private let end = DispatchSemaphore(value: 0)

    init(_ database: PackageDatabase) {
        let begun = DispatchSemaphore(value: 0), end = end
        Thread.detachNewThread {
            try? database.write("hold") { _ in
                begun.signal()
                end.wait()
            }
        }
        begun.wait()
    }

    func release() { end.signal() }
}

/// Tasks of one actor that use one object.
private actor Screen {
    private let database: PackageDatabase
    private var object: GenericEntity?
    private var customers: [Int64: GenericEntity] = [:]
    private var begun = 0

    init(_ database: PackageDatabase) { self.database = database }

    private func newCustomer() throws {
        let customer = try GenericEntity("Customer", in: database)
        try customer.setValue("c9", "id")
        customer.orders.append(try GenericEntity("SalesOrder", in: database))
        object = customer
    }

    private func loadOrder() async throws { object = try await database.entity("SalesOrder").load(11) }

    private func save() async throws {
        begun += 1
        try await object?.save()
    }

    private func create() async throws {
        begun += 1
        try await object?.create()
    }

    private func update() async throws {
        begun += 1
        try await object?.update()
    }

    private func refresh() async throws {
        begun += 1
        try await object?.refresh(keepingChanges: true)
    }

    /// Waits until this number of tasks has begun. They wait for the writer then.
    private func waitForTasks(_ count: Int) async { while begun < count { await Task.yield() } }

    func saveTwice() async throws {
        try newCustomer()
        let held = HeldWriter(database), saves = (0..<2).map { _ in Task { try await self.save() } }
        await waitForTasks(2)
        held.release()
        for save in saves { try await save.value }
    }

    func createTwice() async throws -> ObjectError.Code? {
        try newCustomer()
        let held = HeldWriter(database), first = Task { try await self.create() }
        await waitForTasks(1)
        let second = Task { try await self.create() }
        await waitForTasks(2)
        held.release()
        try await first.value
        do { try await second.value } catch let error as ObjectError { return error.code }
        return nil
    }

    /// Returns the row's status after each of two updates.
    func updateTwice() async throws -> [String] {
        try await loadOrder()
        try object?.setValue("PAID", "status")
        let held = HeldWriter(database), first = Task { try await self.update() }
        await waitForTasks(1)
        let second = Task { try await self.update() }
        await waitForTasks(2)
        held.release()
        try await second.value
        var seen = [try await status()]
        try await first.value
        try object?.setValue("SENT", "status")
        try await update()
        seen.append(try await status())
        return seen
    }

    private func status() async throws -> String { "\(try await database.entity("SalesOrder").load(11).value("status"))" }

    /// Returns the errors of blocking calls during a save.
    func saveAtOnce() async throws -> [ObjectError.Code?] {
        try newCustomer()
        let held = HeldWriter(database), first = Task { try await self.save() }
        await waitForTasks(1)
        let codes = blockingCalls()
        held.release()
        try await first.value
        return codes
    }

    private func blockingCalls() -> [ObjectError.Code?] {
        let calls: [(GenericEntity) throws -> Void] = [
            { try $0.save() }, { try $0.create() }, { try $0.refresh() },
            { object in
                let database = object.package
                try database.save([object])
            },
        ]
        return calls.map { call in
            do { if let object { try call(object) } } catch let error as ObjectError { return error.code } catch {}
            return nil
        }
    }

    /// Sets two customers of an order, the second one while the update with the first one waits.
    /// - Returns: the customer's key and surrogate key in the object after that, and in the row after another update.
    func update(_ first: Setting, then second: Setting, isStale: Bool) async throws -> [String] {
        try await loadOrder()
        for key in [1, 2, 3] as [Int64] { customers[key] = try await database.entity("Customer").load(key) }
        try set(first)
        if isStale {
            let other = try await database.entity("SalesOrder").load(11)
            try other.setValue("PAID", "status")
            try await other.update()
        }
        begun = 0
        let held = HeldWriter(database), update = Task { try await self.update() }
        await waitForTasks(1)
        try set(second)
        held.release()
        if isStale {
            await #expect(throws: ObjectError.self) { try await update.value }
            try await object?.refresh(keepingChanges: true)
        } else {
            try await update.value
        }
        var seen = [try await customer(of: object)]
        try await object?.update()
        seen.append(try await customer(of: database.entity("SalesOrder").load(11)))
        return seen
    }

    private func set(_ setting: Setting) throws {
        switch setting {
        case .key(let key): try object?.setValue(.string("c\(key)"), "customerId")
        case .object(let key): object?.setParent(customers[key], 0)
        }
    }

    private func customer(of order: GenericEntity?) async throws -> String {
        guard let order else { return "" }
        let customer: GenericEntity? = try await order.parent("customer")
        return "\(try order.value("customerId")) \(customer?.surrogateKey ?? 0)"
    }

    func changeDuringRefresh() async throws -> [String] {
        try await loadOrder()
        try object?.setValue("PAID", "status")
        let refreshing = Task { try await self.refresh() }
        await waitForTasks(1)
        try object?.setValue("SENT", "status")
        try object?.setValue("c2", "customerId")
        try await refreshing.value
        return try ["status", "customerId"].map { "\(try object?.value($0) ?? .null)" }
    }
}
