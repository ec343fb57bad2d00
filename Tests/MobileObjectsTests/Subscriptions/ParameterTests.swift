import Foundation
import MobileObjects
import MobileStore
import SampleCRM
import TestSupport
import Testing

/// Synchronization parameters and personalization keys, as local state.
@Suite struct ParameterTests {
    @Test("PAR-03 PAR-04 PAR-05 PAR-06: parameter sets are added, listed and removed; several may be active")
    func subscriptions() throws {
        let shop = try Shop()
        let customer = try shop.objects("Customer").metadata
        #expect(try shop.database.subscriptions(of: customer).isEmpty)
        let north = try shop.database.addSubscription(["region": "NORTH"], to: customer)
        try shop.database.addSubscription(["region": "SOUTH"], to: customer)
        #expect(try shop.database.addSubscription(["region": "NORTH"], to: customer) == north)
        #expect(try shop.database.subscriptions(of: customer).map { $0.parameters["region"] } == ["NORTH", "SOUTH"])
        #expect(try shop.database.subscriptionSets.flatMap(\.parameters).map(\.description) == [#"{"region":"NORTH"}"#, #"{"region":"SOUTH"}"#])
        try shop.database.removeSubscription(north)
        #expect(try shop.database.subscriptions(of: customer).map { $0.parameters["region"] } == ["SOUTH"])
    }

    @Test("an unknown synchronization parameter, or one of another type, is refused")
    func badSubscription() throws {
        let shop = try Shop()
        let customer = try shop.objects("Customer").metadata
        #expect(#expect(throws: ObjectError.self) { try shop.database.addSubscription(["area": "N"], to: customer) }?.code == .noSuchParameter)
        #expect(#expect(throws: ObjectError.self) { try shop.database.addSubscription(["region": 5], to: customer) }?.code == .invalidValue)
    }

    @Test("PER-01 PER-05: a key has its default, which has no effect until save")
    func defaults() throws {
        let shop = try Shop()
        var parameters = shop.database.personalization
        #expect(try parameters.value("region") == "NORTH")
        #expect(try shop.database.personalizationValues.isEmpty)
        try parameters.save()
        #expect(
            try shop.database.personalizationValues == ["region": "NORTH", "password": .null]
                || shop.database.personalizationValues == ["region": "NORTH"])
        try parameters.setValue("WEST", "region")
        #expect(try shop.database.personalization.value("region") == "NORTH")
        try parameters.save()
        #expect(try shop.database.personalization.value("region") == "WEST")
    }

    @Test("PER-02: client keys are stored, session keys are not")
    func kinds() throws {
        let shop = try Shop()
        var parameters = shop.database.personalization
        try parameters.setValue("WEST", "region")
        try parameters.setValue("secret", "password")
        try parameters.save()
        #expect(try shop.database.personalization.value("password") == "secret")
        #expect(try shop.value("SELECT group_concat(name) FROM \"_personalization\"")?.text == "region")
        let again = try PackageDatabase(model: ShopModel.model, profile: shop.database.connectionProfile)
        #expect(try again.personalization.value("region") == "WEST" && again.personalization.value("password") == .null)
        try again.close()
        #expect(#expect(throws: ObjectError.self) { try parameters.setValue("x", "colour") }?.code == .noSuchParameter)
        #expect(#expect(throws: ObjectError.self) { try parameters.setValue(.null, "region") }?.code == .invalidValue)
    }
}

/// The older form: one object with a set of parameters, saved and sent.
@Suite struct SynchronizationParametersTests {
    @Test(
        "PAR-02: the class's set of parameters has size, user and a property per parameter; saving it makes it the object's one set, without a submit"
    )
    func save() throws {
        let directory = try TemporaryDirectory()
        let profile = ConnectionProfile(path: directory.file("crm.db"))
        let crm = try CRM.open(profile)
        var sp = try Customer.synchronizationParameters(in: crm)
        #expect(sp.size == 0 && sp.user == "" && sp.region == "NORTH")
        try Customer.addSubscription(CustomerSubscription(region: "WEST"), in: crm)
        #expect(try Customer.synchronizationParameters(in: crm).region == "WEST")
        sp.size = 3
        sp.user = "userone"
        sp.region = "EAST"
        #expect(try Customer.subscriptions(in: crm).map(\.region) == ["WEST"], "not before it is saved")
        try sp.save()
        #expect(try Customer.subscriptions(in: crm).map(\.region) == ["EAST"])
        #expect(try crm.subscriptionSets.map(\.entity) == ["Customer"], "what the next synchronization sends")
        #expect(try crm.outbox.isEmpty)
        try crm.close()
        let again = try CRM.open(profile)
        var known = try Customer.synchronizationParameters(in: again)
        #expect(known.size == 3 && known.user == "userone" && known.region == "EAST")
        known.region = "SOUTH"
        try known.save()
        try known.save()
        #expect(try Customer.subscriptions(in: again) == [CustomerSubscription(region: "SOUTH")])
        try again.close()
    }
}
