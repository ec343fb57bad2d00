import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Queries by related objects, lists of children as collections, and refreshes that keep unsaved changes.
@Suite struct RelatedObjectTests {
    private let crm: CRM
    private let directory: TemporaryDirectory

    /// Three customers without a key of the back end: 0, 1 and 2 orders with a total of 100 times their number.
    init() throws {
        directory = try TemporaryDirectory()
        crm = try CRM.open(ConnectionProfile(path: directory.file("crm.db")))
        for count in 0...2 {
            let customer = Customer(in: crm, name: "Customer \(count)", street: "Quay \(count)", city: "Cork", since: .epoch)
            for number in 1...3 where number <= count {
                let order = SalesOrder(in: crm)
                (order.orderDate, order.total, order.status) = (.epoch, Decimal(100 * number), number == 2 ? "OPEN" : "NEW")
                customer.orders.append(order)
            }
            try customer.save()
        }
    }

    private func names(_ predicate: EntityPredicate<Customer>) throws -> [String] {
        try Customer.where(predicate).sorted(by: \.name).find(in: crm).map(\.name)
    }

    @Test func `objects are found by those of a relationship, also before the back end gave them keys`() throws {
        #expect(try Customer.all.find(in: crm).allSatisfy { $0.id_ == nil })
        #expect(try names(.contains(\.orders)) == ["Customer 1", "Customer 2"])
        #expect(try names(!.contains(\.orders)) == ["Customer 0"])
        #expect(try names(.contains(\.orders, where: \.total > 100)) == ["Customer 2"])
        #expect(try names(.contains(\.orders) { $0.status.starts(with: "N") } && \.name != "Customer 1") == ["Customer 2"])
        #expect(try names(.contains(\.orders, where: \.status == "OPEN") || .contains(\.name, "r 0")) == ["Customer 0", "Customer 2"])
        // Both ends, and a relationship inside of another.
        let orders = SalesOrder.where(.contains(\.customer, where: \.name == "Customer 2"))
        #expect(try orders.count(in: crm) == 2)
        #expect(try names(.contains(\.orders, where: .contains(\.customer, where: \.name == "Customer 1"))) == ["Customer 1"])
        #expect(try names(.contains(\.orders, where: .contains(\.lines))).isEmpty)
        // A deleted child does not count.
        let second = try #require(try Customer.where(\.name == "Customer 2").first(in: crm))
        for order in second.orders { try order.delete() }
        #expect(try names(.contains(\.orders)) == ["Customer 1"])
    }

    @Test func `a list of children is a random-access collection of identifiable objects`() throws {
        func check<List: RandomAccessCollection>(_ list: List) -> [Decimal]
        where List.Element == SalesOrder, List.Index == Int, List.Element: Identifiable {
            list.reversed().map(\.total)
        }
        let customer = try #require(try Customer.where(\.name == "Customer 2").first(in: crm))
        #expect(check(customer.orders) == [200, 100] && customer.orders.last?.total == 200 && customer.orders[1...].count == 1)
        #expect(check(try SalesOrder.all.find(in: crm)).count == 3)
        #expect(Set(customer.orders.map(\.id)).count == 2)
    }

    @Test func `a refresh keeps what is not saved, and reads the rest`() throws {
        let held = try #require(try Customer.where(\.name == "Customer 1").first(in: crm)), other = try Customer.load(held.surrogateKey, in: crm)
        (other.city, other.phone, other.contact) = ("Galway", "1", "Ann")
        try other.update()
        held.phone = "2"
        let added = SalesOrder(in: crm)
        (added.orderDate, added.total) = (.epoch, 900)
        held.orders.append(added)
        try held.notes.openForWrite()
        try held.notes.write("unsaved")
        try held.notes.close()
        try held.refresh(keepingChanges: true)
        #expect(held.city == "Galway" && held.contact == "Ann" && held.phone == "2" && held.isDirty && held.orders.count == 2)
        try held.save()
        let read = try Customer.load(held.surrogateKey, in: crm)
        #expect(read.city == "Galway" && read.phone == "2" && read.contact == "Ann" && read.orders.map(\.total) == [100, 900])
        try read.notes.openForRead()
        #expect(try read.notes.read(100) == "unsaved")
        try read.notes.close()

        held.phone = "3"
        try held.refresh(keepingChanges: false)
        #expect(held.phone == "2" && !held.isDirty)
    }

    @Test func `asynchronous code does the same`() async throws {
        let held = try #require(try await Customer.where(.contains(\.orders, where: \.total > 100)).first(in: crm))
        held.phone = "2"
        try await held.refresh(keepingChanges: true)
        #expect(held.phone == "2" && held.isDirty)
        try await held.refresh(keepingChanges: false)
        #expect(held.phone == nil && !held.isDirty)
    }

    @Test func `a refresh keeps a parent that was set, and nothing of a deleted row`() throws {
        let order = try #require(try SalesOrder.where(\.total == 200).first(in: crm))
        let first = try #require(try Customer.where(\.name == "Customer 1").first(in: crm))
        order.customer = first
        try order.refresh(keepingChanges: true)
        #expect(order.customer === first && order.isDirty)
        try order.save()
        #expect(try SalesOrder.load(order.surrogateKey, in: crm).customer?.name == "Customer 1")

        let copy = try SalesOrder.load(order.surrogateKey, in: crm)
        try copy.delete()
        order.total = 1
        try? order.refresh(keepingChanges: true)
        #expect(!order.isDirty)
        let gone = try #require(try SalesOrder.where(\.total == 100).first(in: crm))
        gone.total = 5
        try SalesOrder.load(gone.surrogateKey, in: crm).delete()
        try? gone.refresh(keepingChanges: true)
        #expect(!gone.isDirty)
    }
}
