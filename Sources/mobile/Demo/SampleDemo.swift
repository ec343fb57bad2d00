import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

/// The demonstration on the sample: typed classes generated from `crm.mbo.json`, a back end with 40,000 customers. Each step is a method in
/// one of the extensions; the values that the steps share are here.
final class SampleDemo: Demonstration {
    let folder: DemoFolder
    let backEndPath: String
    var narrator = Narrator()
    /// Set from step 1 on.
    var contents = SampleBackEnd.Contents()
    var server: ServerProcess!
    /// Set from step 2 on.
    var device: Device<CRM>!
    var state = StateTable()

    init(folder: DemoFolder) {
        self.folder = folder
        backEndPath = folder.path("enterprise.db")
    }

    /// - Throws: ``DemoFailure`` if a promise is not kept, and the errors of the modules.
    func run() throws {
        Terminal.say("MobileObjects: an offline-first application from the first synchronization to a replayed change.")
        try playAllSteps()
    }

    /// A device of the sample's package, registered and subscribed with region = NORTH.
    func makeDevice(_ name: String) throws -> Device<CRM> {
        let device = try Device(name, in: folder, user: "sales", server: server) { try CRM.open($0) }
        try device.application.register(timeout: .seconds(30))
        // The parameter chooses the rows that this device loads: one region of four.
        for entity in device.package.metadata.entities where entity.model.synchronizationParameters.contains(where: { $0.name == "region" }) {
            try device.package.addSubscription(["region": "NORTH"], to: entity)
        }
        try device.package.subscribe()
        return device
    }

    /// Opens the back end directly, past the server, for reading.
    func openBackEnd() throws -> Database {
        var profile = ConnectionProfile(path: backEndPath, isReadOnly: true, createsFile: false)
        profile.journal = .unchanged
        return try Database(profile)
    }
}

extension Database {
    /// The number that a SELECT returns.
    func count(_ sql: String) throws -> Int { try read { Int(try $0.number(sql)) } }
}

/// The changes of step 4, for the steps after it.
struct OfflineEdits {
    /// Created with two orders.
    let created: Customer
    /// Updated in a way that the back end accepts.
    let updated: Customer
    let updatedID: Int64
    let newStreet: String
    /// Updated against a rule of the back end.
    let refused: Customer
    let refusedID: Int64
    let creditLimitBefore: Decimal
    let deletedID: Int64
    /// Its picture was streamed in.
    let productID: Int64
    let pictureFingerprint: UInt64
}
