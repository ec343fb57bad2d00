import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// `save` of several objects in one transaction.
@Suite struct SavingSeveralTests {
    private let directory: TemporaryDirectory
    private let crm: CRM

    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
    }

    private func customer(_ name: String) -> Customer {
        let customer = Customer(in: crm)
        (customer.name, customer.since) = (name, .epoch)
        return customer
    }

    @Test func `all of them are written, with a child before its new parent in the list, and an object that is given twice`() throws {
        let shop = customer("Quay Books"), order = SalesOrder(in: crm)
        order.orderDate = .epoch
        order.customer = shop
        try crm.save([shop, order, shop])
        #expect(try Customer.findAll(in: crm).map(\.name) == ["Quay Books"] && SalesOrder.findAll(in: crm).count == 1)
        #expect(!order.isNew && order.customer === shop)
        shop.city = "Cork"
        try crm.save([shop, customer("Castle Inn")])
        #expect(try Customer.where(\.city == "Cork").count(in: crm) == 1 && Customer.findAll(in: crm).count == 2)
        try crm.save([])
    }

    @Test func `one that cannot be saved keeps all of them from being written, and they can be saved later`() async throws {
        let first = customer("Quay Books"), second = Customer(in: crm)
        second.name = "Castle Inn"  // without a date
        let error = await #expect(throws: ObjectError.self) { try await crm.save([first, second]) }
        #expect(error?.code == .missingValue && error?.message == "create of Customer: since has no value")
        #expect(first.isNew && first.isDirty && second.isNew)
        #expect(try await Customer.findAll(in: crm).isEmpty)
        second.since = .epoch
        try await crm.save([first, second])
        #expect(try await Customer.findAll(in: crm).count == 2)
        try await first.delete()
        let deleted = await #expect(throws: ObjectError.self) { try await crm.save([second, first]) }
        #expect(deleted?.code == .notFound)
    }
}
