import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// Clients that have unsubscribed or were removed.
@Suite struct UnsubscribedTests {
    @Test("SUB-05 RCV-12: a client that is not subscribed gets no rows, and what it sends is not done; it may subscribe again")
    func unsubscribed() throws {
        let server = try FieldSales.server()
        let device = try TestDevice.inRegion("NORTH", of: server)
        #expect(try device.send(.unsubscribe).header.method == .unsubscribe.result)
        device.tokens = [:]
        let refused = try device.synchronize([device.create("Customer", RejectionTests.customer)], groups: ["default", "system"])
        #expect(refused.status == 404 && refused.upserts.isEmpty)
        #expect(refused.failure == ProtocolFailure(code: 404, message: "the client is not subscribed to \"Field:2.0\""))
        #expect(try server.backEndValue("SELECT count(*) FROM \"the customers\"") == 3)
        #expect(try device.send(.subscribe).header.method == .subscribe.result)
        #expect(try device.synchronize().upserts["Customer"] == 2)
    }
}
