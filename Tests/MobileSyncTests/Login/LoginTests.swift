import Foundation
import MobileExecution
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The logins of 1.5.3, and the session's user on the server.
@Suite struct LoginTests {
    @Test("LGN-05: loginToSync looks at the stored login first, then asks the server, and fetches keys where few are left")
    func loginToSync() throws {
        let bench = try TestBench { $0.keyRangeSize = 100 }
        let device = try bench.subscribedDevice()
        try device.crm.synchronize("default")
        let keys = try device.crm.keyGenerator.keysLeft
        #expect(keys > 0)
        try device.crm.transaction {
            for number in 0..<(keys - 10) {
                let note = Customer(in: device.crm)
                note.name = "Customer \(number)"
                note.since = LocalDate(daysSince1970: 20_000)
                try note.create()
            }
        }
        #expect(try device.crm.keyGenerator.keysLeft == 10)
        _ = device.handler.take()
        #expect(try device.crm.loginToSync(user: TestBench.user, password: TestBench.password))
        #expect(device.handler.take().last == "loginSuccess")
        #expect(try device.crm.keyGenerator.keysLeft > 50, "the server granted another range")
        #expect(try device.crm.hasPendingOperations(), "an upload-only synchronization takes nothing that was not submitted")
    }

    @Test("LGN-05: without a network the stored login is enough; a wrong password is an error, online and offline")
    func loginToSyncOffline() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        #expect(throws: SyncError.self) { try device.crm.loginToSync(user: TestBench.user, password: "wrong") }
        #expect(device.handler.take().last == "loginFailure")
        try device.crm.loginToSync(user: TestBench.user, password: TestBench.password)
        _ = device.handler.take()
        bench.network.conditions.fault = { _, _ in .refuse }
        #expect(try !device.crm.loginToSync(user: TestBench.user, password: TestBench.password), "it stands on what is stored")
        #expect(device.handler.take() == ["loginSuccess"])
        let requests = bench.network.requestCount
        let error = #expect(throws: SyncError.self) { try device.crm.loginToSync(user: TestBench.user, password: "wrong") }
        #expect(error?.code == .serverNotReached && bench.network.requestCount > requests)
        #expect(device.handler.take() == ["loginFailure"])
    }

    @Test("LGN-05: a password that was changed on the server is refused, although it is the stored one")
    func changedPassword() throws {
        let bench = try TestBench()
        let network = SystemLock<any Transport>(bench.network)
        let device = try bench.subscribedDevice(transport: SwitchedTransport { network.withLock { $0 } })
        try device.crm.onlineLogin(user: TestBench.user, password: TestBench.password)
        let changed = try bench.server { $0.users = [TestBench.user: "another"] }
        network.withLock { $0 = SimulatedTransport(server: { changed.respond(to: $0) }) }
        #expect(try device.crm.offlineLogin(user: TestBench.user, password: TestBench.password))
        let error = #expect(throws: SyncError.self) { try device.crm.loginToSync(user: TestBench.user, password: TestBench.password) }
        #expect(error?.code == .authenticationFailed)
    }

    @Test("LGN-09: asyncOnlineLogin is the login that does not wait")
    func asyncOnlineLogin() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        #expect(#expect(throws: SyncError.self) { try device.crm.asyncOnlineLogin() }?.code == .invalidState)
        try device.application.register(timeout: .seconds(60))
        _ = device.handler.take()
        try device.crm.asyncOnlineLogin(user: TestBench.user, password: TestBench.password)
        device.crm.synchronizer.work.sync {}
        #expect(device.handler.take() == ["loginSuccess"])
    }

    @Test("PER-08: the session key username is the user who logged in, whatever the device says, and chooses the rows of the back end")
    func userName() throws {
        var model = CRM.metadata.model
        let customer = try #require(model.objects.firstIndex { $0.name == "Customer" })
        model.objects[customer].synchronizationParameters[0].personalizationKey = "username"
        let bench = try TestBench { configuration in
            configuration.packages = [PackageDeployment(model, backEnds: configuration.packages[0].backEnds)]
            for user in ["EAST", "SOUTH"] { configuration.users[user] = TestBench.password }
        }
        for user in ["EAST", "SOUTH"] {
            let device = try bench.newDevice(user)
            device.application.connectionProperties.loginCredentials = LoginCredentials(user: user, password: TestBench.password)
            try device.application.register(timeout: .seconds(60))
            try device.crm.subscribe()
            try device.crm.synchronize("default")
            let customers = try Customer.findAll(in: device.crm)
            #expect(!customers.isEmpty && customers.allSatisfy { $0.region == user })
            #expect(try bench.value("SELECT count(*) FROM customer WHERE region = ?1", [.text(user)]) == .integer(Int64(customers.count)))
        }
    }

    @Test("PER-09: the password is nowhere in the server's files, after registering, logging in and synchronizing")
    func passwordIsNotStored() throws {
        let password = "correct-horse-battery-staple"
        let bench = try TestBench { $0.users = [TestBench.user: password] }
        let device = try bench.newDevice()
        device.application.connectionProperties.loginCredentials = LoginCredentials(user: TestBench.user, password: password)
        try device.application.register(timeout: .seconds(60))
        try device.crm.onlineLogin(user: TestBench.user, password: password)
        try device.crm.subscribe()
        try device.crm.synchronize("default")
        var bytes = 0
        for name in ["cache.db", "cache.db-wal", "enterprise.db", "enterprise.db-wal"] {
            guard let data = FileManager.default.contents(atPath: bench.directory.file(name)) else { continue }
            bytes += data.count
            #expect(data.range(of: Data(password.utf8)) == nil, "\(name)")
            #expect(data.range(of: Data(Data(password.utf8).base64EncodedString().utf8)) == nil, "\(name)")
        }
        #expect(bytes > 10_000, "there are files to look into")
    }
}
