import Foundation
import MobileObjects
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// A working day without a network.
@Suite struct OfflineWorkTests {
    @Test("ARC-10 ARC-06: everything that a user does works on the local database without a network, and reaches the back end when there is one")
    func dayOffline() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        bench.network.conditions.fault = { _, _ in .refuse }
        let requests = bench.network.requestCount

        let customers = try Customer.findAll(in: device.crm)
        #expect(customers.count == bench.contents.northCustomers)
        let first = try #require(customers.first), last = try #require(customers.last)
        first.city = "Kinsale"
        try first.update()
        let new = Customer(in: device.crm)
        (new.name, new.since, new.region) = ("Harbour Foods", LocalDate(daysSince1970: 20_000), "NORTH")
        try new.save()
        let visit = try #require(try Customer.find(new.surrogateKey, in: device.crm))
        #expect(visit.name == "Harbour Foods" && visit.isPending)
        #expect(try Customer.where(\.city == "Kinsale").find(in: device.crm).count == 1)
        last.city = "Nowhere"
        try last.update()
        try last.cancelPending()
        try device.crm.submitPendingOperations()
        #expect(bench.network.requestCount == requests, "the work of a day asks the network for nothing")
        #expect(#expect(throws: SyncError.self) { try device.crm.synchronize() }?.code == .serverNotReached)
        #expect(try Customer.find(new.surrogateKey, in: device.crm)?.state == .submitted, "a try without a network changes nothing")

        bench.network.conditions = NetworkConditions()
        let result = try device.crm.synchronize()
        #expect(result.operationsAccepted == 2)
        #expect(try bench.value("SELECT count(*) FROM customer WHERE name = 'Harbour Foods' OR city = 'Kinsale'") == .integer(2))
        try bench.change("UPDATE customer SET city = 'Bantry' WHERE city = 'Kinsale'")
        try device.crm.synchronize()
        #expect(try Customer.findAll(in: device.crm).filter { $0.city == "Bantry" }.count == 1, "and what changes there comes here")
    }
}
