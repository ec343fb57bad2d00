import MobileModel
import MobileExecution
import MobileObjects
import MobileProtocol
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// Registration and connection against a server, over an unreliable network in memory.
@Suite struct ApplicationTests {
    private func rows(_ events: [ApplicationEvent]) -> [String] {
        events.compactMap { event in
            switch event {
            case .registrationStatusChanged(let status, let code, let message): "\(status) \(code) \"\(message)\""
            case .connectionStatusChanged(let status, let code, let message): "\(status) \(code) \"\(message)\""
            default: nil
            }
        }
    }

    @Test("REG-11 REG-15 X-44: registering with a network reports registering, connecting, connected, registered, each with 0 and an empty message")
    func register() throws {
        let device = try TestBench().newDevice()
        #expect(device.application.registrationStatus == .unregistered && device.application.connectionStatus == .disconnected)
        try device.application.register(timeout: .seconds(60))
        #expect(rows(device.events.take()) == ["registering 0 \"\"", "connecting 0 \"\"", "connected 0 \"\"", "registered 0 \"\""])
        #expect(device.application.registrationStatus == .registered && device.application.connectionStatus == .connected)
    }

    @Test("REG-07 REG-16 EXC-13: registering without a network reports registering, then a registration error, and nothing goes on")
    func registerWithoutNetwork() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        bench.network.conditions.fault = { _, _ in .refuse }
        let error = #expect(throws: SyncError.self) { try device.application.register(timeout: .seconds(60)) }
        #expect(error?.kind == .applicationRuntime && error?.code == .serverNotReached)
        let events = device.events.take()
        #expect(events.count == 2 && events.first == .registrationStatusChanged(.registering, code: 0, message: ""))
        guard case .registrationStatusChanged(.registrationError, let code, let message)? = events.last else {
            Issue.record("no registration error: \(events)")
            return
        }
        #expect(code == 14813 && !message.isEmpty)
        let requests = bench.network.requestCount
        device.application.networkBecameAvailable()
        device.application.work.sync {}
        #expect(bench.network.requestCount == requests && device.application.registrationStatus == .registrationError)
        bench.network.conditions.fault = { _, _ in nil }
        try device.application.register(timeout: .seconds(60))
        #expect(device.application.registrationStatus == .registered)
    }

    @Test(
        "REG-09 REG-12 REG-17 REG-19 EXC-14: a network lost before the connection is a connection error; the call times out, the work goes on and ends when the network is back"
    )
    func networkLostWhileRegistering() async throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        bench.network.conditions.fault = { request, _ in request == 0 ? nil : .cutResponse }
        let events = device.application.events
        async let lost = events.first { if case .connectionStatusChanged(.connectionError, _, _) = $0 { true } else { false } }
        await #expect(throws: SyncError.self) { try await device.application.register(timeout: .milliseconds(500)) }
        _ = await lost
        let rows = device.events.take()
        #expect(
            rows.prefix(2) == [
                .registrationStatusChanged(.registering, code: 0, message: ""), .connectionStatusChanged(.connecting, code: 0, message: ""),
            ])
        // A machine that is very busy may have tried again by now: more than three rows then.
        #expect(rows.count >= 3 && device.application.registrationStatus == .registering)
        guard case .connectionStatusChanged(.connectionError, _, _)? = rows.dropFirst(2).first else {
            Issue.record("\(rows) has no connection error")
            return
        }
        bench.network.conditions.fault = { _, _ in nil }
        device.application.networkBecameAvailable()
        try await device.application.register()  // joins the running registration
        #expect(device.events.takeStatuses().suffix(3) == ["connecting", "connected", "registered"])
    }

    @Test("REG-12: a timeout above zero that passes throws, and the registration is completed in the background")
    func timeout() async throws {
        let bench = try TestBench()
        let gate = Gate()
        let server = bench.server
        let slow = SimulatedTransport(server: { request in
            gate.wait()
            return server.respond(to: request)
        })
        let device = try bench.newDevice(transport: slow)
        let error = await #expect(throws: SyncError.self) { try await device.application.register(timeout: .milliseconds(20)) }
        #expect(error?.kind == .applicationTimeout && error?.code == .timeout)
        #expect(error?.message.contains("continues in the background") == true)
        gate.open()
        try await device.application.register()
        #expect(device.application.registrationStatus == .registered)
    }

    @Test("REG-12 REG-14: with a timeout of zero or less the call returns at once, and a second call joins the first")
    func returnsAtOnce() throws {
        let bench = try TestBench()
        let gate = Gate(), arrived = Gate(), registrations = SystemLock(0)
        let server = bench.server
        let device = try bench.newDevice(
            transport: SimulatedTransport(server: { request in
                arrived.open()
                gate.wait()
                if request.path == Endpoint.messages { registrations.withLock { $0 += 1 } }
                return server.respond(to: request)
            }))
        func registerWithoutWaiting() throws { try device.application.register(timeout: .zero) }
        try registerWithoutWaiting()
        arrived.wait()
        try registerWithoutWaiting()
        gate.open()
        // Not by a further call: it registers once more if the first one has ended.
        var statuses: [String] = []
        while statuses.last != "registered" { statuses += device.events.takeStatuses() }
        // Comes after all work that was begun before.
        try device.application.stopConnection(timeout: .seconds(60))
        statuses += device.events.takeStatuses()
        #expect(statuses == ["registering", "connecting", "connected", "registered", "disconnecting", "disconnected"])
        #expect(registrations.withLock { $0 } == 1)
    }

    @Test("REG-13 EXC-15: without an identifier registering is a persistence error, without properties a connection property error")
    func preconditions() throws {
        let directory = try TemporaryDirectory()
        let application = try Application(
            profile: ConnectionProfile(path: directory.file("a.db")), transport: SimulatedTransport { _ in .init(status: 500) })
        #expect(throws: SyncError.self) { try application.register(timeout: .zero) }
        func kind(_ body: () throws -> Void) -> SyncError.Kind? {
            do { try body() } catch { return (error as? SyncError)?.kind }
            return nil
        }
        #expect(kind { try application.register(timeout: .zero) } == .persistence)
        try application.setIdentifier("CRM")
        #expect(kind { try application.register(timeout: .zero) } == .connectionProperty)
    }

    @Test("REG-02 REG-03: identifiers are at most 64 characters, connection ids at most 128, made of device, two underscores and application")
    func lengths() throws {
        let directory = try TemporaryDirectory()
        let application = try Application(
            profile: ConnectionProfile(path: directory.file("a.db")), transport: SimulatedTransport { _ in .init(status: 500) },
            makeDeviceID: { String(repeating: "d", count: 70) })
        try application.setIdentifier(String(repeating: "a", count: 56))
        #expect(application.connectionID == String(repeating: "d", count: 70) + "__" + String(repeating: "a", count: 56))
        let tooLong = #expect(throws: SyncError.self) { try application.setIdentifier(String(repeating: "a", count: 65)) }
        #expect(tooLong?.kind == .persistence)
        try application.setIdentifier(String(repeating: "a", count: 57))
        application.connectionProperties = ConnectionProperties(serverName: "s", loginCredentials: .init(user: "u", password: "p"))
        let connection = #expect(throws: SyncError.self) { try application.register(timeout: .zero) }
        #expect(connection?.message.contains("connection id") == true)
    }

    @Test("REG-23 LIF-03: a later start connects without registering again")
    func laterStart() throws {
        let bench = try TestBench()
        try bench.newDevice().application.register(timeout: .seconds(60))
        let device = try bench.newDevice()  // the same directory: the application's next run
        #expect(device.application.registrationStatus == .registered && device.application.connectionStatus == .disconnected)
        try device.application.startConnection(timeout: .seconds(60))
        #expect(rows(device.events.take()) == ["connecting 0 \"\"", "connected 0 \"\""])
    }

    @Test("REG-22 EXC-21: starting has no effect when started, and needs a registration")
    func startTwice() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        let error = #expect(throws: SyncError.self) { try device.application.startConnection(timeout: .seconds(1)) }
        #expect(error?.code == .applicationNotRegistered)
        try device.application.register(timeout: .seconds(60))
        _ = device.events.take()
        let requests = bench.network.requestCount
        try device.application.startConnection(timeout: .seconds(60))
        #expect(device.events.take().isEmpty && bench.network.requestCount == requests)
    }

    @Test("REG-24 REG-25: starting without a network reports connecting and a connection error, and connects by itself later")
    func startWithoutNetwork() async throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try await device.application.register()
        try await device.application.stopConnection()
        _ = device.events.take()
        bench.network.conditions.fault = { _, _ in .refuse }
        let events = device.application.events
        async let lost = events.first { if case .connectionStatusChanged(.connectionError, _, _) = $0 { true } else { false } }
        await #expect(throws: SyncError.self) { try await device.application.startConnection(timeout: .milliseconds(300)) }
        _ = await lost
        #expect(device.events.takeStatuses() == ["connecting", "connectionError"])
        bench.network.conditions.fault = { _, _ in nil }
        device.application.networkBecameAvailable()
        try await device.application.startConnection(timeout: nil)
        #expect(device.events.takeStatuses() == ["connecting", "connected"])
    }

    @Test("REG-26: stopping reports disconnecting and disconnected, and nothing without a connection")
    func stop() throws {
        let device = try TestBench().newDevice()
        try device.application.stopConnection(timeout: .seconds(60))
        #expect(device.events.take().isEmpty)
        try device.application.register(timeout: .seconds(60))
        _ = device.events.take()
        try device.application.stopConnection(timeout: .seconds(60))
        #expect(rows(device.events.take()) == ["disconnecting 0 \"\"", "disconnected 0 \"\""])
        #expect(device.application.registrationStatus == .registered)
    }

    @Test("REG-27 REG-28: unregistering disconnects first, and the server forgets the device; without a registration it has no effect")
    func unregister() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.unregister(timeout: .seconds(60))
        #expect(device.events.take().isEmpty)
        try device.application.register(timeout: .seconds(60))
        let token = try device.application.session().token
        _ = device.events.take()
        try device.application.unregister(timeout: .seconds(60))
        #expect(
            rows(device.events.take()) == ["disconnecting 0 \"\"", "disconnected 0 \"\"", "unregistering 0 \"\"", "unregistered 0 \"\""])
        let error = #expect(throws: SyncError.self) { _ = try Server(device.application, device.application.connectionProperties).connect(token) }
        #expect(error?.code == .authenticationFailed)
        #expect(try bench.newDevice().application.registrationStatus == .unregistered)
    }

    @Test("REG-29: unregistering without a network reports the same first three, then a registration error")
    func unregisterWithoutNetwork() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        _ = device.events.take()
        bench.network.conditions.fault = { _, _ in .refuse }
        let error = #expect(throws: SyncError.self) { try device.application.unregister(timeout: .seconds(60)) }
        #expect(error?.kind == .applicationRuntime)
        #expect(device.events.takeStatuses() == ["disconnecting", "disconnected", "unregistering", "registrationError"])
        bench.network.conditions.fault = { _, _ in nil }
        try device.application.unregister(timeout: .seconds(60))
        #expect(device.application.registrationStatus == .unregistered)
    }

    @Test("LIF-04: properties that change while registered take effect at the next registration")
    func changedProperties() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        try device.crm.subscribe()
        device.application.connectionProperties.serverName = "elsewhere.example"
        #expect(try device.application.registeredSession().properties.serverName == "mobile.example")
        try device.application.unregister(timeout: .seconds(60))
        device.application.connectionProperties.loginCredentials = LoginCredentials(user: TestBench.user, password: TestBench.password)
        try device.application.register(timeout: .seconds(60))
        #expect(try device.application.session().properties.serverName == "elsewhere.example")
    }

    @Test("REG-22 LIF-04: with the properties of another server, a start and each request throw, and the registration stays as it is")
    func propertiesOfAnotherServer() throws {
        let bench = try TestBench()
        let device = try bench.subscribedDevice()
        try device.application.stopConnection(timeout: .seconds(60))
        device.application.connectionProperties.portNumber = 5002
        device.application.connectionProperties.networkProtocol = .https
        let calls: [() throws -> Void] = [
            { try device.application.startConnection(timeout: .seconds(60)) }, { try device.crm.synchronize() }, { try device.crm.recover() },
        ]
        for call in calls {
            let error = #expect(throws: SyncError.self) { try call() }
            #expect(error?.kind == .connectionProperty && error?.code == .connectionPropertyMissing)
            #expect(
                error?.message
                    == "application \"CRM\" is registered with http://mobile.example:5001, and its connectionProperties have "
                    + "https://mobile.example:5002 (portNumber, networkProtocol): unregister it, set them, and register again")
        }
        device.application.connectionProperties.portNumber = 5001
        device.application.connectionProperties.networkProtocol = .http
        device.application.connectionProperties.loginCredentials?.password = "another one"
        try device.application.startConnection(timeout: .seconds(60))
        try device.crm.synchronize()
    }

    @Test("REG-24: an asynchronous start returns as soon as the application is connecting, with a server out of reach")
    func startReturnsWhileConnecting() async throws {
        let bench = try TestBench()
        let gate = Gate()
        let server = bench.server
        let transport = SwitchedTransport { bench.network }
        let first = try bench.newDevice(transport: transport)
        try await first.application.register()
        try await first.application.stopConnection()
        try await first.application.close()
        let device = try bench.newDevice(
            transport: SimulatedTransport(server: { request in
                gate.wait()
                return server.respond(to: request)
            }))
        try await device.application.startConnection()
        #expect(device.application.connectionStatus == .connecting && device.events.takeStatuses() == ["connecting"])
        try await device.application.startConnection()  // joins the attempt
        gate.open()
        try await device.application.startConnection(timeout: .seconds(60))
        #expect(device.events.takeStatuses() == ["connected"])
        try await device.application.startConnection()
        #expect(device.events.take().isEmpty)
    }

    @Test("REG-20 ERR-12 ACB-05 REG-32: a wrong password ends the registration with 401, and the HTTP callback hears of it")
    func wrongPassword() throws {
        let device = try TestBench().newDevice()
        device.application.connectionProperties.loginCredentials?.password = "wrong"
        let error = #expect(throws: SyncError.self) { try device.application.register(timeout: .seconds(60)) }
        #expect(error?.kind == .applicationRuntime && error?.code == .authenticationFailed)
        #expect(device.application.registrationStatus == .registrationError)
        device.application.work.sync {}
        #expect(device.events.take().contains { if case .httpCommunicationError(401, _, _) = $0 { true } else { false } })
    }

    @Test("REG-21: a manual registration needs the activation code that the administrator gave, and no password")
    func activationCode() throws {
        let bench = try TestBench { $0.activationCodes = [TestBench.user: "4711"] }
        let wrong = try bench.newDevice("wrong")
        wrong.application.connectionProperties.loginCredentials?.password = nil
        wrong.application.connectionProperties.activationCode = "1234"
        #expect(throws: SyncError.self) { try wrong.application.register(timeout: .seconds(60)) }
        let device = try bench.newDevice("right")
        device.application.connectionProperties.loginCredentials?.password = nil
        device.application.connectionProperties.activationCode = "4711"
        try device.application.register(timeout: .seconds(60))
        #expect(device.application.registrationStatus == .registered)
    }

    @Test("REG-18 REG-31 SET-01 SET-02 SET-17 ACB-01: settings come with the registration, are remembered, and a change is reported by name")
    func settings() throws {
        let bench = try TestBench { $0.applicationSettings = ["custom1": "blue", "PWDPOLICY_MIN_LENGTH": "8", "PWDPOLICY_ENABLED": "true"] }
        let device = try bench.newDevice()
        #expect(device.application.settings == nil)
        try device.application.register(timeout: .seconds(60))
        let settings = try #require(device.application.settings)
        #expect(
            settings.string("custom1") == "blue" && settings.integer("PWDPOLICY_MIN_LENGTH") == 8 && settings.boolean("PWDPOLICY_ENABLED") == true)
        #expect(settings.string("connectionId") == device.application.connectionID)
        let names = device.events.take().compactMap { if case .settingsChanged(let names) = $0 { names } else { nil } }
        #expect(names == [["PWDPOLICY_ENABLED", "PWDPOLICY_MIN_LENGTH", "connectionId", "custom1"]])
        #expect(try bench.newDevice().application.settings == settings)

        // The administrator changes one setting: a server with the same cache and another configuration.
        let other = try bench.server { $0.applicationSettings = ["custom1": "green", "PWDPOLICY_MIN_LENGTH": "8", "PWDPOLICY_ENABLED": "true"] }
        let again = try bench.newDevice(transport: SimulatedTransport(server: { other.respond(to: $0) }))
        try again.application.startConnection(timeout: .seconds(60))
        again.application.work.sync {}
        #expect(again.events.take().compactMap { if case .settingsChanged(let names) = $0 { names } else { nil } } == [["custom1"]])
        #expect(again.application.settings?.string("custom1") == "green")
    }

    @Test("RCV-01 ERR-15: a server that lost the registration answers a start with 580, and registering again heals it")
    func lostRegistration() throws {
        let bench = try TestBench()
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        try device.application.stopConnection(timeout: .seconds(60))
        try bench.forgetDevices()
        _ = device.events.take()
        let error = #expect(throws: SyncError.self) { try device.application.startConnection(timeout: .seconds(60)) }
        #expect(error?.code == .registrationUnknown)
        #expect(device.events.take().contains { if case .connectionStatusChanged(.connectionError, 580, _) = $0 { true } else { false } })
        try device.application.register(timeout: .seconds(60))
        #expect(device.application.connectionStatus == .connected)
    }

    @Test("REG-01 REG-04 REG-05 REG-30 CBK-01: applications live side by side, each with its own package and properties; callbacks are optional")
    func sideBySide() throws {
        let bench = try TestBench { $0.users["jones"] = "other" }
        let devices = try [bench.newDevice("first"), bench.newDevice("second")]
        devices[1].application.connectionProperties.loginCredentials = LoginCredentials(user: "jones", password: "other")
        for device in devices {
            device.application.callback = nil
            try device.application.register(timeout: .seconds(60))
        }
        #expect(devices[0].application.deviceID != devices[1].application.deviceID)
        let silent = try CRM.open(ConnectionProfile(path: bench.directory.file("silent.db")))
        silent.application = devices[1].application
        try silent.subscribe()
        try silent.synchronize("default")
        #expect(try Customer.findAll(in: silent).count == bench.contents.northCustomers)
        #expect(try !devices[0].crm.isSubscribed() && !devices[1].crm.isSubscribed())
    }

    @Test("ACB-04: a condition of the device that the application reports reaches the callback")
    func deviceCondition() throws {
        let device = try TestBench().newDevice()
        device.application.report(.storageSpaceLow)
        device.application.work.sync {}
        #expect(device.events.take() == [.deviceConditionChanged(.storageSpaceLow)])
    }
}
