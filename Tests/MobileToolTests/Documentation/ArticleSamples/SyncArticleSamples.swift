import Foundation
import MobileObjects
import MobileStore
import MobileSync
import SampleCRM

/// The code of the articles of MobileSync, to be compiled: see `ArticleSampleTests`.
private enum SyncArticleSamples {
    func overview(password: String) async throws {
        let application = try Application(identifier: "CRM", profile: ConnectionProfile(path: "application.db"))
        application.connectionProperties = ConnectionProperties(
            serverName: "mobile.example.com", loginCredentials: LoginCredentials(user: "smith", password: password))

        let crm = try await CRM.open(ConnectionProfile(path: "crm.db"))
        crm.application = application
        try await application.register()
        try await crm.subscribe()
        let result = try await crm.synchronize()
        print(result.rowsImported, result.operationsRejected)
    }

    func announcements(_ crm: CRM) async throws {
        var group = try await crm.synchronizationGroup(named: "default")
        group.enableSIS = true
        group.interval = .seconds(2)
        try await group.save()
        crm.startBackgroundSynchronization()
    }

    func comingFromSUP(_ application: Application) async throws {
        let crm = try await CRM.open(ConnectionProfile(path: "crm.db"))
        crm.application = application
        let customer = Customer(in: crm)
        customer.name = "Harbour Foods"
        try await customer.save()
        try await customer.submitPending()
        try await crm.synchronize()
    }
}
