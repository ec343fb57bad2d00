import Foundation
import MobileModel
import MobileObjects
import MobileProtocol
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Subscriptions of a package, synchronization parameters, personalization, login and groups.
@Suite struct SubscriptionTests {
    @Test("SUB-01 SUB-10 CBK-10: a subscribe that the server accepts reports success and is remembered")
    func subscribe() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        #expect(try !device.crm.isSubscribed())
        try device.crm.subscribe()
        #expect(device.handler.take() == ["subscribeSuccess", "commit"])
        #expect(try device.crm.isSubscribed())
        #expect(try bench.newDevice().crm.isSubscribed(), "in the next run too")
    }

    @Test(
        "SUB-01 CBK-10 REG-25: a subscribe that fails reports failure, changes nothing and may be repeated; a lost network shows as a connection error"
    )
    func subscribeFails() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        _ = device.events.take()
        bench.network.conditions.fault = { _, _ in .refuse }
        let error = #expect(throws: SyncError.self) { try device.crm.subscribe() }
        #expect(error?.code == .serverNotReached)
        #expect(device.handler.take() == ["subscribeFailure"])
        #expect(try !device.crm.isSubscribed())
        device.application.work.sync {}
        #expect(device.application.connectionStatus == .connectionError && device.events.takeStatuses() == ["connectionError"])
        bench.network.conditions.fault = { _, _ in nil }
        try device.crm.subscribe()
        #expect(try device.crm.isSubscribed())
    }

    @Test(
        "SUB-02 LGN-08 SYP-05: subscribing needs an application that is registered; user and password of the synchronization profile are logged in first"
    )
    func credentials() throws {
        let bench = try TestBench { $0.users["jones"] = "other" }
        let device = try bench.newDevice()
        let unregistered = #expect(throws: SyncError.self) { try device.crm.subscribe() }
        #expect(unregistered?.code == .applicationNotRegistered)
        try device.application.register(timeout: .seconds(60))
        device.crm.synchronizationProfile.user = TestBench.user
        device.crm.synchronizationProfile.password = "wrong"
        let wrong = #expect(throws: SyncError.self) { try device.crm.subscribe() }
        #expect(wrong?.code == .authenticationFailed)
        #expect(try !device.crm.isSubscribed())
        device.crm.synchronizationProfile.password = TestBench.password
        try device.crm.subscribe()
        #expect(try device.crm.isSubscribed())
    }

    @Test("SUB-05 SUB-06 X-05 CBK-11: unsubscribing empties the local data, pending changes only if it is told so, and keeps local objects")
    func unsubscribe() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice()
        let visit = Visit(in: device.crm)
        visit.id_ = "1"
        visit.customerName = "x"
        visit.plannedFor = .now
        try visit.create()
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Naas"
        try customer.update()
        _ = device.handler.take()
        // A change, and an operation without an answer.
        for _ in 0..<2 {
            let refused = #expect(throws: SyncError.self) { try device.crm.unsubscribe() }
            #expect(refused?.code == .pendingChanges && device.handler.take() == ["unsubscribeFailure"])
            #expect(
                try device.crm.isSubscribed() && device.crm.hasPendingOperations() && Customer.findByPrimaryKey(1, in: device.crm)?.city == "Naas")
            try device.crm.submitPendingOperations()
        }
        try device.crm.unsubscribe(discardingPending: true)
        #expect(device.handler.take() == ["unsubscribeSuccess", "commit"])
        #expect(try Customer.findAll(in: device.crm).isEmpty && Product.findAll(in: device.crm).isEmpty)
        #expect(try Visit.findAll(in: device.crm).count == 1)
        #expect(try !device.crm.hasPendingOperations() && !device.crm.isSubscribed() && !device.crm.isSynchronized("default"))
        let again = #expect(throws: SyncError.self) { try device.crm.unsubscribe() }
        #expect(again?.code == .invalidState)
        #expect(device.handler.take() == ["unsubscribeFailure"])
    }

    @Test("SUB-05 CBK-11: an unsubscribe that fails leaves everything")
    func unsubscribeFails() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        bench.network.conditions.fault = { _, _ in .cutResponse }
        _ = device.handler.take()
        #expect(throws: SyncError.self) { try device.crm.unsubscribe() }
        #expect(device.handler.take() == ["unsubscribeFailure"])
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers && device.crm.isSubscribed())
    }

    @Test("SUB-07 SUB-08 CBK-12 CBK-13: a suspended subscription brings no changes but takes operations; resumed it brings what has changed since")
    func suspendAndResume() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        _ = device.handler.take()
        try device.crm.suspendSubscription()
        #expect(device.handler.take() == ["suspendSuccess", "commit"])
        try bench.change("UPDATE customer SET city = 'Kells' WHERE id = 2")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Navan"
        try customer.update()
        try customer.submitPending()
        let result = try device.crm.synchronize("default")
        #expect(result.operationsAccepted == 1 && result.rowsImported == 0)
        #expect(try Customer.findByPrimaryKey(2, in: device.crm)?.city != "Kells")
        _ = device.handler.take()
        try device.crm.resumeSubscription()
        #expect(device.handler.take() == ["resumeSuccess", "commit"])
        try device.crm.synchronize("default")
        #expect(try Customer.findByPrimaryKey(2, in: device.crm)?.city == "Kells")
        bench.network.conditions.fault = { _, _ in .refuse }
        _ = device.handler.take()
        #expect(throws: SyncError.self) { try device.crm.suspendSubscription() }
        #expect(throws: SyncError.self) { try device.crm.resumeSubscription() }
        #expect(device.handler.take() == ["suspendFailure", "resumeFailure"])
    }

    @Test("SUB-09 CBK-14: recover brings all data again, and pending changes stay")
    func recover() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Mine"
        try customer.update()
        try device.crm.store.write { _ = try $0.execute("DELETE FROM \"Customer\" WHERE \"id\" = 2", []) }
        try device.crm.synchronize("default")
        #expect(try Customer.findByPrimaryKey(2, in: device.crm) == nil, "the server knows that the device has it")
        _ = device.handler.take()
        try device.crm.recover()
        #expect(device.handler.take() == ["recoverSuccess", "commit"])
        try device.crm.synchronize("default")
        #expect(try Customer.findAll(in: device.crm).count == bench.contents.northCustomers)
        try customer.refresh()
        #expect(customer.city == "Mine" && customer.isPending)
    }

    @Test("SUB-04: synchronizing before subscribing is an error, and nothing is sent")
    func synchronizeBeforeSubscribe() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        let requests = bench.network.requestCount
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code == .invalidState && error?.message.contains("subscribe") == true)
        #expect(device.handler.take().last == "error [default,catalog]")
        #expect(bench.network.requestCount == requests)
    }

    // MARK: Parameters

    @Test(
        "PAR-01 PAR-03 PAR-04 PAR-05 PAR-06 PAR-07: parameter sets decide which rows come; each set brings its own, and a removed one takes them along"
    )
    func parameterSets() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        func regions() throws -> Set<String> { Set(try Customer.findAll(in: device.crm).map(\.region)) }
        let west = try device.crm.addSubscription(["region": .string("WEST")], to: Customer.metadata)
        try device.crm.synchronize("default")
        #expect(try regions() == ["WEST"])
        try device.crm.addSubscription(["region": .string("SOUTH")], to: Customer.metadata)
        #expect(try device.crm.subscriptions(of: Customer.metadata).count == 2)
        #expect(try regions() == ["WEST"], "the next synchronization brings the rows")
        try device.crm.synchronize("default")
        #expect(try regions() == ["WEST", "SOUTH"])
        try device.crm.removeSubscription(west)
        try device.crm.synchronize("default")
        #expect(try regions() == ["SOUTH"])
    }

    @Test("PER-01 PER-04 PER-06 PER-07: a saved personalization value travels with the next synchronization and decides the parameter mapped to it")
    func personalization() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        #expect(try Set(Customer.findAll(in: device.crm).map(\.region)) == ["NORTH"])
        var personalization = device.crm.personalization
        try personalization.setValue(.string("WEST"), "region")
        try device.crm.synchronize("default")
        #expect(try Set(Customer.findAll(in: device.crm).map(\.region)) == ["NORTH"], "not saved yet")
        try personalization.save()
        try device.crm.synchronize("default")
        #expect(try Set(Customer.findAll(in: device.crm).map(\.region)) == ["WEST"])
    }

    // MARK: Profile

    @Test("SYP-01 SYP-03 SYP-04: requests go where the registration says, unless the synchronization profile says otherwise")
    func address() throws {
        let bench = try TestBench()
        let last = Recorded<String>(), network = bench.network
        let transport = ObservedTransport(network) { last.set($0) }
        let device = try bench.subscribedDevice(transport: transport)
        try device.crm.synchronize("default")
        #expect(last.value == "http://mobile.example:5001/mobile/v1/synchronize")
        device.crm.synchronizationProfile.serverName = "sync.example"
        device.crm.synchronizationProfile.portNumber = 2480
        device.crm.synchronizationProfile.networkProtocol = .https
        device.crm.synchronizationProfile.streamParameters = try StreamParameters("url_suffix=/relay/client/rs.dll")
        try device.crm.synchronize("default")
        #expect(last.value == "https://sync.example:2480/relay/client/rs.dll/mobile/v1/synchronize")
    }

    @Test("SYP-06: certificates are named by files; one that is missing is an error with its name")
    func certificates() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        device.crm.synchronizationProfile.streamParameters = try StreamParameters("trusted_certificates=/nowhere/rsaroot.crt")
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("default") }
        #expect(error?.kind == .connectionProperty && error?.message.contains("/nowhere/rsaroot.crt") == true)
    }

    @Test("PSP-09 LGN-10: log records in the header of an answer are stored, also when the answer is no")
    func logInTheHeader() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        let refusing = SimulatedTransport { request in
            var bytes: [UInt8] = []
            while let chunk = try request.nextChunk() { bytes += chunk }
            var answer = try Message.messages(parsing: bytes)[0].failed(ProtocolFailure(code: 403, message: "not this user"))
            answer.header.log = [LogRecordEntry(level: .warn, code: 403, message: "no role", component: "CRM", timestamp: "2026-01-31T10:00:00.000Z")]
            var rest: [UInt8]? = Message.bytes([answer])
            return SimulatedResponse(status: 200) {
                defer { rest = nil }
                return rest
            }
        }
        let properties = try device.application.session()
        let other = try Application(identifier: "CRM", profile: ConnectionProfile(path: bench.directory.file("other.db")), transport: refusing)
        try other.store.save(.init(identifier: "CRM", properties: properties.properties, token: properties.token), settings: nil)
        device.crm.application = try Application(profile: ConnectionProfile(path: bench.directory.file("other.db")), transport: refusing)
        let error = #expect(throws: SyncError.self) { try device.crm.subscribe() }
        #expect(error?.code == .notAuthorized)
        let record = try #require(try device.crm.logRecords().first)
        #expect(record.code == 403 && record.level == .warn && record.message == "no role" && record.component == "CRM")
    }

    // MARK: Groups

    @Test(
        "SYN-04 SYN-15 SYN-16 SYN-17: groups are synchronized by their names, one or several joined by commas; objects without a group are in default"
    )
    func groups() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        #expect(try device.crm.synchronizationGroup(named: "default").objects == ["Customer", "SalesOrder", "SalesOrderLine"])
        #expect(device.crm.synchronizationGroup(of: Product.metadata)?.name == "catalog")
        #expect(device.crm.synchronizationGroup(of: Visit.metadata) == nil)
        #expect(try device.crm.synchronize("catalog").groups == ["catalog"])
        #expect(try device.crm.isSynchronized("catalog") && !device.crm.isSynchronized("default"))
        #expect(try Customer.findAll(in: device.crm).isEmpty && !Product.findAll(in: device.crm).isEmpty)
        #expect(try device.crm.synchronize("catalog, default").groups == ["default", "catalog"])
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize("customers") }
        #expect(error?.code == .notFound && error?.message.contains("default, catalog") == true)
    }

    // MARK: Login

    @Test(
        "LGN-02 LGN-03 LGN-04 CBK-09: an online login is checked by the server; offline the last one that succeeded is recognized, and nothing else")
    func login() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        #expect(try !device.crm.offlineLogin(user: TestBench.user, password: TestBench.password))
        try device.crm.onlineLogin(user: TestBench.user, password: TestBench.password)
        #expect(device.handler.take() == ["loginSuccess"])
        let wrong = #expect(throws: SyncError.self) { try device.crm.onlineLogin(user: TestBench.user, password: "wrong") }
        #expect(wrong?.code == .authenticationFailed)
        #expect(device.handler.take() == ["loginFailure"])
        bench.network.conditions.fault = { _, _ in .refuse }
        #expect(try device.crm.offlineLogin(user: TestBench.user, password: TestBench.password))
        #expect(try !device.crm.offlineLogin(user: TestBench.user, password: "wrong"))
        #expect(try !device.crm.offlineLogin(user: "jones", password: TestBench.password))
    }

    @Test("LGN-06 LGN-07: a login in the background fails at once when the application is not connected")
    func backgroundLogin() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        let error = #expect(throws: SyncError.self) { try device.crm.beginOnlineLogin() }
        #expect(error?.code == .invalidState)
        #expect(device.handler.take() == ["loginFailure"])
        try device.application.register(timeout: .seconds(60))
        try device.crm.beginOnlineLogin()
        device.crm.synchronizer.work.sync {}
        #expect(device.handler.take() == ["loginSuccess"])
    }

    @Test func `a session that the server forgot is renewed once with the credentials, and the synchronization goes through`() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        try bench.forgetSessions()
        let result = try device.crm.synchronize("default")
        #expect(result.groups == ["default"])
        #expect(device.handler.take().contains("finishing [default]"))
    }

    @Test("ERR-12: without a password at hand a forgotten session is 401, and the pending changes stay")
    func forgottenSession() throws {
        let bench = try TestBench()
        let device = try bench.synchronizedDevice(groups: "default")
        let customer = try #require(try Customer.findByPrimaryKey(1, in: device.crm))
        customer.city = "Mullingar"
        try customer.update()
        try customer.submitPending()
        try bench.forgetSessions()
        device.application.connectionProperties.loginCredentials?.password = nil
        let error = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(error?.code == .authenticationFailed)
        #expect(try device.crm.hasPendingOperations())
        device.application.connectionProperties.loginCredentials?.password = TestBench.password
        #expect(try device.crm.synchronize().operationsAccepted == 1)
    }
}
