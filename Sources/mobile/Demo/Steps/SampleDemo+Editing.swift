import Foundation
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

extension SampleDemo {
    // MARK: 4

    func editOffline() throws -> OfflineEdits {
        narrator.begin("Offline: create, update, delete, and a picture")
        try device.application.stopConnection(timeout: .seconds(10))
        narrator.say("the connection is stopped; everything below happens in the local database alone")
        let crm = device.package

        let today = Demo.today
        let created = Customer(in: crm)
        created.name = "Harbour Foods"
        created.street = "1 Quay"
        created.city = "Dublin"
        created.since = today
        created.creditLimit = 5000
        state.add("created in memory", created)
        for total in [120, 80] as [Decimal] {
            let order = SalesOrder(in: crm)
            order.orderDate = today
            order.total = total
            created.orders.append(order)
        }
        try created.save()
        state.add("saved, with two orders", created)
        state.add("one of its orders", created.orders[0])

        let candidates = try Customer.findAll(skip: 1000, take: 500, in: crm)
        guard candidates.count >= 3, let deleted = try candidates.first(where: { try $0.orders.all().isEmpty }) ?? candidates.last else {
            throw DemoFailure("too few customers on the device")
        }
        let others = candidates.filter { $0.surrogateKey != deleted.surrogateKey }
        let (updated, refused) = (others[0], others[1])
        state.add("read from the database", updated)
        updated.street = "2 New Road"
        state.add("changed in memory", updated)
        try updated.update()
        state.add("updated", updated)

        let limit = refused.creditLimit
        refused.creditLimit = -100
        try refused.update()
        state.add("updated, against a rule", refused)

        let deletedID = try number(of: deleted)
        try deleted.delete()
        state.add("deleted", deleted)
        narrator.lines(state.newLines())

        let (product, fingerprint) = try streamPicture()
        narrator.say("pending now: \(try crm.hasPendingOperations())")
        return OfflineEdits(
            created: created, updated: updated, updatedID: try number(of: updated), newStreet: updated.street, refused: refused, refusedID: try number(of: refused),
            creditLimitBefore: limit, deletedID: deletedID, productID: product, pictureFingerprint: fingerprint)
    }

    /// Streams a file into a large attribute, in pieces.
    private func streamPicture() throws -> (product: Int64, fingerprint: UInt64) {
        guard let product = try Product.page(size: 1, in: device.package).first else { throw DemoFailure("there is no product") }
        let bytes = (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }
        let file = folder.path("picture.jpg")
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        ProcessMemory.resetPeak()
        let before = ProcessMemory.resident() ?? 0, start = ContinuousClock.now
        try product.picture.copyFromFile(file)
        try product.update()
        let duration = ContinuousClock.now - start
        narrator.say(
            "a picture of \(Format.bytes(bytes.count)) went from its file into \"\(product.name)\" in \(Format.time(duration)), "
                + "\(Format.byteRate(bytes.count, in: duration)); memory grew by \(Format.bytes(max(0, (ProcessMemory.peak() ?? before) - before)))")
        var fingerprint = Fingerprint()
        fingerprint.add(bytes.span.bytes)
        return (product.id_, fingerprint.value)
    }

    // MARK: 5

    func replay(_ edits: OfflineEdits) throws {
        narrator.begin("Online again: the changes are replayed on the back end, one of them against its rules")
        try device.application.startConnection(timeout: .seconds(30))
        let crm = device.package
        try crm.submitPendingOperations()
        try edits.refused.refresh()
        state.add("submitted", edits.refused)
        let result = try device.synchronize()
        narrator.say(
            "\(Format.count(result.operationsSent, "operation")) sent: \(result.operationsAccepted) accepted, \(result.operationsRejected) rejected; "
                + "\(Format.bytes(result.bytesSent)) up, \(Format.bytes(result.bytesReceived)) down in \(Format.time(result.duration))")
        try narrator.check("exactly one operation was rejected", result.operationsRejected == 1, "rejected: \(result.operationsRejected)")

        try edits.updated.refresh()
        state.add("accepted", edits.updated)
        try edits.refused.refresh()
        state.add("rejected", edits.refused)
        try narrator.check(
            "the rejected change is still there, marked as failed",
            edits.refused.creditLimit == -100 && edits.refused.replayFailure != 0 && edits.refused.state == .failed)
        for record in try edits.refused.logRecords() {
            narrator.say("log record: code \(record.code), back end's code \(record.eisCode ?? "none"): \(record.message)")
        }
        try edits.refused.cancelPending()
        try edits.refused.refresh()
        state.add("cancelled", edits.refused)
        narrator.lines(state.newLines())
        try narrator.check(
            "cancelPending brought \(Format.money(edits.creditLimitBefore)) back, and nothing is pending",
            edits.refused.creditLimit == edits.creditLimitBefore && !(try crm.hasPendingOperations()))

        try edits.created.refresh()
        let number = try number(of: edits.created)
        narrator.say("the back end has numbered \(edits.created.name): \(number)")
        try narrator.check(
            "its orders carry that number", number > 0 && edits.created.orders.allSatisfy { $0.customerId == number })
    }

    /// Returns the number that the back end has given to a customer.
    private func number(of customer: Customer) throws -> Int64 {
        guard let number = customer.id_ else { throw DemoFailure("\(customer.name) has no number yet") }
        return number
    }
}
