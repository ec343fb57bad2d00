import Foundation
import MobileObjects
import SampleCRM
import Testing

@testable import MobileSync

/// The threads of the work, and the number of notifications that a list on the screen gets for an import.
@Suite struct ThreadingTests {
    @Test("LIF-11: no call needs the main thread, long ones have an asynchronous form, and an import reaches a list as one group")
    func groupedImport() async throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try await device.application.register(timeout: .seconds(60))
        try await device.crm.subscribe()
        var customers = device.crm.observe(Customer.where(\.name != "")).makeAsyncIterator()
        #expect(try await customers.next()?.count == 0)
        _ = device.handler.take()
        try await device.crm.synchronize("default")
        #expect(device.handler.take().count { $0 == "commit" } == 1, "one transaction for all rows of the group")
        #expect(try await customers.next()?.count == bench.contents.northCustomers)
        let first = try #require(try await Customer.findAll(in: device.crm).first)
        first.name = "Renamed"
        try await first.save()
        #expect(try await customers.next()?.contains { $0.name == "Renamed" } == true)
        try await first.submitPending()
        try await device.crm.synchronize("default")
        #expect(!device.handler.wasOnMainThread)
    }
}
