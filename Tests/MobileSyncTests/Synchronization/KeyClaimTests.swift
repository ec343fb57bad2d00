import Foundation
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Rows that are created before the first grant of surrogate keys, or without granted keys, and their way to the server.
@Suite struct KeyClaimTests {
    private func newCustomer(_ name: String, orders: Int = 0, in crm: CRM) throws -> Customer {
        let customer = Customer(in: crm)
        (customer.name, customer.since, customer.region) = (name, LocalDate(daysSince1970: 20_000), "NORTH")
        for _ in 0..<orders {
            let order = SalesOrder(in: crm)
            order.orderDate = customer.since
            customer.orders.append(order)
        }
        try customer.save()
        return customer
    }

    @Test("KEY-02 KEY-04: a device that never met a server creates parents and children, and its first synchronization brings them there")
    func freshDevice() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        let customer = try newCustomer("Harbour Foods", orders: 2, in: device.crm)
        try customer.submitPending()
        #expect(customer.surrogateKey >= 1 << 62)
        let later = try newCustomer("Quay Books", in: device.crm)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 3 && result.operationsRejected == 0)
        try customer.refresh()
        #expect(try customer.state == .unchanged && customer.id_ ?? 0 > 0 && customer.orders.all().allSatisfy { $0.customerId == customer.id_ })
        #expect(later.state == .pending)
        #expect(try newCustomer("With a granted key", in: device.crm).surrogateKey < 1 << 62)
        try device.crm.submitPendingOperations()
        #expect(try device.crm.synchronize().operationsAccepted == 2)
        let other = try bench.synchronizedDevice("other")
        #expect(try device.customers() == other.customers())
        #expect(try Customer.find(customer.surrogateKey, in: other.crm)?.orders.count == 2)
    }

    @Test func `granted keys that are used up offline are followed by keys of the device's own, and by granted ones after the next grant`() throws {
        let bench = try TestBench { $0.keyRangeSize = 10 }
        let device = try bench.synchronizedDevice()
        let customers = try (0..<30).map { try newCustomer("Customer \($0)", in: device.crm) }
        #expect(customers.count { $0.surrogateKey >= 1 << 62 } == 20)
        try device.crm.submitPendingOperations()
        #expect(try device.crm.synchronize().operationsAccepted == 30)
        #expect(try newCustomer("Next", in: device.crm).surrogateKey < 1 << 62)
        #expect(try device.customers().count == bench.contents.northCustomers + 31)
    }

    @Test func `the claims are read after the last operation of the upload is fixed, so that each operation's key is claimed`() throws {
        let bench = try TestBench(), lines = RecordedLines()
        let device = try bench.subscribedDevice()
        try newCustomer("First", in: device.crm).submitPending()
        device.crm.connectionProfile.trace = { lines.add($0) }
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        let statements = lines.all
        let last = try #require(statements.firstIndex { $0.contains("max(\"id\") FROM \"_outbox\"") })
        let claims = try #require(statements.firstIndex { $0.contains("\"_key_range\"") && $0.contains("\"next\" > \"first\"") })
        #expect(last < claims)
    }

    @Test func `two clients with one range: the second one's rows are renumbered and accepted in the same synchronization`() throws {
        let bench = try TestBench()
        let first = try bench.newDevice("first")
        let parent = try newCustomer("Before", in: first.crm)
        try parent.cancelPending()
        try first.crm.closeConnection()
        try bench.copyDatabase(of: first, to: "second", isImage: true)
        let second = try bench.newDevice("second")
        try second.crm.write("identity") { try $0.connection.execute("UPDATE \"_settings\" SET \"value\" = 'copy' WHERE \"name\" = 'client_id'") }
        let original = try newCustomer("First", orders: 1, in: first.crm)
        let copy = try newCustomer("Second", orders: 2, in: second.crm), changed = try newCustomer("Changed", in: second.crm)
        #expect(original.surrogateKey == copy.surrogateKey)
        for device in [first, second] {
            try device.crm.submitPendingOperations()
            try device.application.register(timeout: .seconds(60))
            try device.crm.subscribe()
        }
        // In flight is one change, pending is the next one.
        try changed.refresh()
        changed.city = "Cork"
        try changed.update()
        #expect(try first.crm.synchronize().operationsAccepted == 2)
        let result = try second.crm.synchronize()
        #expect(result.operationsAccepted == 4 && result.operationsRejected == 0 && result.operationsSent == 4 && result.rowsImported > 0)
        try copy.refresh()
        #expect(copy.surrogateKey != original.surrogateKey && copy.name == "Second" && copy.state == .unchanged && copy.orders.count == 2)
        try changed.refresh()
        #expect(changed.state == .pending && changed.city == "Cork" && changed.id_ ?? 0 > 0)
        try second.crm.submitPendingOperations()
        #expect(try second.crm.synchronize().operationsAccepted == 1)
        try first.crm.synchronize()
        #expect(try first.customers() == second.customers() && first.customers().count == bench.contents.northCustomers + 3)
        #expect(try bench.value("SELECT count(*) FROM customer WHERE name IN ('First', 'Second', 'Changed')") == .integer(3))
    }

    @Test func `an operation whose answer was lost keeps its key when the range is refused later, and the others get new ones`() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        let known = try newCustomer("Known", in: device.crm), key = known.surrogateKey
        try known.submitPending()
        bench.network.conditions.fault = { _, _ in .cutResponse }
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        bench.network.conditions = NetworkConditions()
        // As after the loss of the server's records, and a copy of this database that came first afterwards.
        let cache = try Database(ConnectionProfile(path: bench.directory.file("cache.db")))
        try cache.write { _ = try $0.execute("UPDATE _key_range SET client = 'copy' WHERE first >= 1 << 62") }
        try cache.close()
        let new = try newCustomer("New", in: device.crm), former = new.surrogateKey
        try new.submitPending()
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 2 && result.operationsSent == 1)
        try known.refresh()
        try new.refresh()
        #expect(known.surrogateKey == key && known.state == .unchanged && new.surrogateKey != former && new.state == .unchanged)
        #expect(try bench.value("SELECT count(*) FROM customer WHERE name IN ('Known', 'New')") == .integer(2))
        #expect(try device.customers().count == bench.contents.northCustomers + 2)
    }
}
