import Foundation
import MobileExecution
import MobileObjects
import MobileServer
import MobileStore
import MobileSync
import SampleCRM
import TestSupport
import Testing

/// Examples in the comments of objects that need a server: it refuses a credit limit below zero, and defers what its back end is too busy for.
@Suite struct RejectionExampleTests {
    /// Keeps the names of the customers whose changes were rejected.
    private final class Rejections: CallbackHandler {
        private let list = SystemLock<[String]>([])
        var names: [String] { list.withLock { $0 } }

        func onReplayFailure(_ object: Entity) {
            guard let name = try? object.value("name") else { return }
            list.withLock { $0.append("\(name)") }
        }
    }

    @Test func `a rejected change`() throws {
        let bench = try TestBench(), printed = RecordedLines()
        func print(_ line: String) { printed.add(line) }
        let crm = try bench.synchronizedDevice().crm
        // Example: ModelledEntity.registerCallbackHandler(_:in:)
        let rejections = Rejections()  // a `CallbackHandler` with `onReplayFailure(_:)`
        Customer.registerCallbackHandler(rejections, in: crm)
        // Example: end
        let customer = try #require(try Customer.findByPrimaryKey(1, in: crm))
        customer.creditLimit = -1
        try customer.update()
        try customer.submitPending()
        #expect(try crm.synchronize().operationsRejected == 1)
        #expect(rejections.names == [customer.name])

        // Example: Entity.logRecords()
        for record in try customer.logRecords() where record.level >= .error {
            print("\(customer.name): \(record.message)")
        }
        // Example: end
        let lines = printed.take()
        #expect(lines.count == 1 && lines[0].hasPrefix("\(customer.name): "))
    }

    @Test func `a deferred change`() throws {
        let bench = try TestBench { $0.connectionTimeout = .milliseconds(50) }, printed = RecordedLines()
        func print(_ line: String) { printed.add(line) }
        let crm = try bench.synchronizedDevice().crm
        let customer = try #require(try Customer.findByPrimaryKey(1, in: crm))
        customer.city = "Sligo"
        try customer.update()
        try customer.submitPending()
        let result = try bench.backEnd.write { connection in
            _ = try connection.execute("UPDATE customer SET city = city WHERE id = 2", [])
            return try crm.synchronize()
        }
        #expect(result.operationsDeferred == 1)

        // Example: Entity.deferredOperations()
        for operation in try customer.deferredOperations() {
            print("\(operation.message); next try at \(operation.nextTry)")
        }
        // Example: end
        let lines = printed.take()
        #expect(lines.count == 1 && lines[0].hasPrefix("the back end is busy; try again; next try at "))
    }
}
