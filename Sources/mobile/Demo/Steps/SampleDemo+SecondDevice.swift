import Foundation
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

extension SampleDemo {
    /// The number of operations in progress when the server is killed.
    private static let nightShift = 200
    private static let nightShiftCount = "SELECT count(*) FROM customer WHERE name LIKE 'Night shift %'"

    // MARK: 6

    func killServerAndCompareDevices(_ edits: OfflineEdits) throws {
        narrator.begin("The server is killed at work; a second device sees exactly the accepted changes")
        let replayed = try killServerDuringReplay()
        narrator.say("server killed (SIGKILL) after \(replayed) of \(Self.nightShift) operations, and started again on port \(server.port)")
        let result = try device.synchronize()
        narrator.say(
            "the device synchronizes again: \(Format.count(result.operationsSent, "operation")) sent once more, "
                + "\(result.operationsAccepted) accepted, \(result.operationsRejected) rejected")
        let backEnd = try openBackEnd()
        let all = try backEnd.count(Self.nightShiftCount)
        let distinct = try backEnd.count("SELECT count(DISTINCT name) FROM customer WHERE name LIKE 'Night shift %'")
        try backEnd.close()
        try narrator.check(
            "the back end has each of the \(Self.nightShift) new customers once: nothing lost, nothing doubled",
            all == Self.nightShift && distinct == Self.nightShift, "there are \(all), \(distinct) of them different")

        let second = try makeDevice("device-2")
        let first = try second.synchronize()
        narrator.say("device-2: \(Format.count(first.rowsImported, "row")) in \(Format.time(first.duration)), from the server's cache")
        try checkAcceptedChanges(edits, second.package)
        _ = try device.synchronize()
        let comparison = try DatabaseComparison(CRM.metadata, device.databasePath, second.databasePath)
        try narrator.check(
            "both devices have the same \(Format.count(comparison.rows, "row")), pictures and notes included", comparison.isEqual,
            "\(comparison.differences)")
        try second.close()
    }

    /// Uploads new customers and kills the server while it replays them.
    /// - Returns: the number of customers in the back end at that moment.
    private func killServerDuringReplay() throws -> Int {
        for number in 1...Self.nightShift {
            let customer = Customer(in: device.package)
            customer.name = "Night shift \(number)"
            customer.street = "\(number) Depot Lane"
            customer.city = "Dublin"
            customer.since = Demo.today
            try customer.create()
        }
        try device.package.submitPendingOperations()
        let backEnd = try openBackEnd()
        try device.package.beginSynchronize()
        // Polls until some have arrived; at most 20 s, in case the server has died for another reason.
        let limit = ContinuousClock.now + .seconds(20)
        while try backEnd.count(Self.nightShiftCount) < Self.nightShift / 10, ContinuousClock.now < limit { usleep(200) }
        server.kill()
        let replayed = try backEnd.count(Self.nightShiftCount)
        try backEnd.close()
        try server.start()
        return replayed
    }

    private func checkAcceptedChanges(_ edits: OfflineEdits, _ crm: CRM) throws {
        let created = try edits.created.id_.flatMap { try Customer.findByPrimaryKey($0, in: crm) }
        try narrator.check(
            "device-2 has \(edits.created.name) with two orders", created?.name == edits.created.name && created?.orders.count == 2)
        try narrator.check("device-2 has the new street", try Customer.findByPrimaryKey(edits.updatedID, in: crm)?.street == edits.newStreet)
        try narrator.check("device-2 does not have the deleted customer", try Customer.findByPrimaryKey(edits.deletedID, in: crm) == nil)
        try narrator.check(
            "device-2 has the credit limit that the rejected change would have replaced",
            try Customer.findByPrimaryKey(edits.refusedID, in: crm)?.creditLimit == edits.creditLimitBefore)
        guard let product = try Product.findByPrimaryKey(edits.productID, in: crm) else { throw DemoFailure("the product is missing") }
        let picture = product.picture
        var fingerprint = Fingerprint(), bytes: [UInt8] = []
        try picture.openForRead()
        while let piece = try picture.read(65536) { bytes += piece }
        try picture.close()
        fingerprint.add(bytes.span.bytes)
        try narrator.check("device-2 has the new picture, byte for byte", fingerprint.value == edits.pictureFingerprint)
    }

    // MARK: 7

    func summarize() throws {
        let pending = try device.package.hasPendingOperations()
        try device.close()
        server.kill()
        narrator.begin("Summary")
        narrator.lines([
            "- An application that reads and writes its own database: no step waited for a network except synchronizing.",
            "- Changes that wait as pending operations, with the original next to them, until the back end accepts or rejects them.",
            "- A rejection as a result that the user can look at and take back, not as an error.",
            "- A server that was killed while it worked, and databases that agree all the same\(pending ? "" : "; nothing is pending").",
            "Next: README.md, then the model and the code of this demonstration in Sources/SampleCRM/crm.mbo.json, Sources/mobile/Demo,",
            "and the architecture article (make docs).",
        ])
        if folder.isKept { narrator.say("The databases are in \(folder.url.path): mobile inspect \(device.databasePath)") }
        Terminal.say("\nDone in \(Format.time(narrator.elapsed)).")
    }
}
