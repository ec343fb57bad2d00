import Foundation
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import MobileTransport
import SampleCRM
import Testing

/// The main job over HTTP on the loopback interface.
@Suite struct LoopbackTests {
    @Test func `two devices and a server do the main job over HTTP`() throws {
        let bench = try TestBench()
        let server = bench.server
        let http = try HTTPServer(serving: server)
        defer { http.stop() }
        let transport = HTTPTransport()
        func device(_ name: String) throws -> Device {
            let device = try bench.newDevice(name, transport: transport)
            device.application.connectionProperties.serverName = "127.0.0.1"
            device.application.connectionProperties.portNumber = Int(http.port)
            try device.application.register(timeout: .seconds(60))
            try device.crm.subscribe()
            try device.crm.synchronize()
            return device
        }
        let first = try device("first"), second = try device("second")
        #expect(try Product.findAll(in: first.crm).count == bench.contents.products)
        let picture = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let product = try #require(try Product.findByPrimaryKey(3, in: first.crm))
        try write(picture, to: product.picture)
        try product.update()
        try product.submitPending()
        let customer = try #require(try Customer.findByPrimaryKey(1, in: first.crm))
        customer.creditLimit = -1
        try customer.update()
        try customer.submitPending()
        let result = try first.crm.synchronize()
        #expect(result.operationsAccepted == 1 && result.operationsRejected == 1)
        try second.crm.synchronize()
        let theirs = try #require(try Product.findByPrimaryKey(3, in: second.crm))
        #expect(try bytes(of: theirs.picture) == picture)
        #expect(try Customer.findByPrimaryKey(1, in: second.crm)?.creditLimit != -1)
    }

    @Test(
        "LGN-01 ERR-04: a session that an administrator ended is begun again, whatever has to be sent; a locked user is told 403, and keeps his changes"
    )
    func revocation() throws {
        let bench = try TestBench()
        let http = try HTTPServer(serving: bench.server)
        defer { http.stop() }
        let device = try bench.newDevice(transport: HTTPTransport())
        device.application.connectionProperties.serverName = "127.0.0.1"
        device.application.connectionProperties.portNumber = Int(http.port)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        try device.crm.synchronize()
        let product = try #require(try Product.findByPrimaryKey(3, in: device.crm))
        // Far more than the socket's buffers hold, so that the server's answer arrives while the device still sends.
        var generator = SystemRandomNumberGenerator()
        try write((0..<4_000_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }, to: product.picture)
        try product.update()
        try product.submitPending()
        let administration = bench.server.administration
        try administration.setLocked(true, user: TestBench.user)
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code.rawValue == 403 && error?.message.contains("an administrator has locked the user") == true, "\(error as Any)")
        try administration.setLocked(false, user: TestBench.user)
        #expect(try administration.sessions().isEmpty)
        #expect(try device.crm.synchronize().operationsAccepted == 1)
        #expect(try administration.sessions().count == 1)
    }

    @Test func `an operation about a customer takes his primary key, which a new customer has only after a synchronization`() async throws {
        let bench = try TestBench()
        let http = try HTTPServer(serving: bench.server)
        defer { http.stop() }
        let device = try bench.newDevice(transport: HTTPTransport()), crm = device.crm
        device.application.connectionProperties.serverName = "127.0.0.1"
        device.application.connectionProperties.portNumber = Int(http.port)
        try await device.application.register(timeout: .seconds(60))
        try await crm.subscribe()
        try await crm.synchronize()
        let customer = try #require(try await Customer.findByPrimaryKey(1, in: crm))
        let before = customer.creditLimit
        let raise = try await customer.raiseCreditLimit(amount: 250)
        #expect(raise.customerId == 1 && raise.amount == 250 && raise.isPending)
        try await raise.submitPending()
        try await customer.call("raiseCreditLimit", ["amount": 100]).submitPending()
        #expect(try await crm.synchronize().operationsAccepted == 2)
        try await customer.refresh()
        #expect(customer.creditLimit == before + 350)

        let new = Customer(in: crm, name: "Pier Head", street: "Pier 1", city: "Galway", since: LocalDate(year: 2026, month: 11, day: 24)!)
        func refused(_ part: String) async {
            let error = await #expect(throws: ObjectError.self) { _ = try await new.raiseCreditLimit(amount: 1) }
            #expect(error?.code == .notSaved && error?.message.contains(part) == true, "\(error?.message ?? "")")
        }
        await refused("raiseCreditLimit of a new Customer: create or save it first")
        try await new.save()
        await refused("the back end has not given the object its primary key yet")
        try await new.submitPending()
        await refused("the back end has not given the object its primary key yet")
        #expect(try await crm.synchronize().operationsAccepted == 1)
        try await new.refresh()
        try await new.raiseCreditLimit(amount: 75).submitPending()
        #expect(try await crm.synchronize().operationsAccepted == 1)
        try await new.refresh()
        #expect(new.creditLimit == 75)
    }

    @Test func `a server that is gone is not reached, and the device waits for it`() throws {
        let bench = try TestBench()
        let server = bench.server
        let http = try HTTPServer(serving: server)
        let device = try bench.newDevice(transport: HTTPTransport())
        device.application.connectionProperties.serverName = "127.0.0.1"
        device.application.connectionProperties.portNumber = Int(http.port)
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        http.stop()
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code == .serverNotReached && error?.isRecoverable == true)
    }
}
