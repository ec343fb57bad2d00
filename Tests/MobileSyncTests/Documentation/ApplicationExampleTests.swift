import Foundation
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The examples in the comments of `Application` are the code between the marks below, and they run against a server on the loopback interface.
@Suite struct ApplicationExampleTests {
    private let bench: TestBench
    private let printed = RecordedLines()

    init() throws {
        bench = try TestBench {
            $0.users["jones"] = "other"
            $0.applicationSettings = ["custom1": "blue", "PWDPOLICY_ENABLED": "true", "PWDPOLICY_MIN_LENGTH": "10"]
        }
    }

    private func print(_ value: Any) { printed.add("\(value)") }

    @Test func `from the first start to the end of the registration`() throws {
        let http = try HTTPServer(serving: bench.server)
        defer { http.stop() }
        let host = "127.0.0.1", port = Int(http.port), folder = bench.directory.path
        // Example: Application.init(identifier:profile:transport:retryPolicy:traceService:makeDeviceID:)
        let application = try Application(identifier: "CRM", profile: ConnectionProfile(path: folder + "/application.db"))
        application.connectionProperties = ConnectionProperties(
            serverName: host, portNumber: port, loginCredentials: LoginCredentials(user: "smith", password: "s3cret"))
        // Example: end
        #expect(application.registrationStatus == .unregistered)

        // Example: Application.register(timeout:)
        try application.register(timeout: .seconds(30))
        print("\(application.registrationStatus), \(application.connectionStatus)")
        // Example: end
        #expect(printed.take() == ["registered, connected"])
        try readSettings(of: application)

        // Example: Application.stopConnection(timeout:)
        try application.stopConnection(timeout: .seconds(10))
        print("\(application.registrationStatus), \(application.connectionStatus)")
        // Example: end
        #expect(printed.take() == ["registered, disconnected"])

        // Example: Application.startConnection(timeout:)
        if application.registrationStatus == .registered {
            try application.startConnection(timeout: .seconds(30))
        }
        // Example: end
        #expect(application.connectionStatus == .connected)

        // Example: Application.unregister(timeout:)
        try application.unregister(timeout: .seconds(30))
        application.connectionProperties.loginCredentials = LoginCredentials(user: "jones", password: "other")
        try application.register(timeout: .seconds(30))
        // Example: end
        #expect(try application.session().properties.loginCredentials?.user == "jones")

        // Example: Application.close()
        try application.stopConnection(timeout: .seconds(10))
        try application.close()
        // Example: end
        #expect(throws: SyncError.self) { try application.unregister(timeout: .seconds(10)) }
    }

    private func readSettings(of application: Application) throws {
        // Example: ApplicationSettings.string(_:)
        if let colour = application.settings?.string("custom1") {
            print("titles are \(colour)")
        }
        // Example: end

        // Example: ApplicationSettings.boolean(_:)
        if application.settings?.boolean("PWDPOLICY_ENABLED") == true {
            print("the vault needs a password")
        }
        // Example: end

        // Example: ApplicationSettings.integer(_:)
        let length = application.settings?.integer("PWDPOLICY_MIN_LENGTH") ?? 8
        print("it has at least \(length) characters")
        // Example: end
        #expect(printed.take() == ["titles are blue", "the vault needs a password", "it has at least 10 characters"])
    }

    @Test func `the identity of the application`() throws {
        let folder = bench.directory.path
        do {
            // Example: Application.setIdentifier(_:)
            let application = try Application(profile: ConnectionProfile(path: folder + "/application.db"))
            try application.setIdentifier("CRM")
            print(application.connectionID)  // the device's id, two underscores, CRM
            // Example: end
            #expect(printed.take() == ["\(application.deviceID)__CRM"])
        }
        let profile = ConnectionProfile(path: folder + "/tablet.db")
        // Example: Application.randomDeviceID()
        let application = try Application(
            identifier: "CRM", profile: profile, makeDeviceID: { "tablet-" + Application.randomDeviceID() })
        print(application.deviceID)  // the same at each start
        // Example: end
        #expect(printed.take()[0].wholeMatch(of: /tablet-[0-9a-f]{32}/) != nil)
    }

    @Test func `what the platform reports`() throws {
        let device = try bench.newDevice(), application = device.application
        try application.register(timeout: .seconds(60))
        try application.stopConnection(timeout: .seconds(60))
        bench.network.conditions.fault = { _, _ in .refuse }
        #expect(throws: SyncError.self) { try application.startConnection(timeout: .milliseconds(300)) }
        bench.network.conditions.fault = { _, _ in nil }
        // Example: Application.networkBecameAvailable()
        func networkChanged(isAvailable: Bool) {
            if isAvailable { application.networkBecameAvailable() }
        }
        // Example: end
        networkChanged(isAvailable: true)
        try application.startConnection(timeout: .seconds(60))  // joins the attempt that is under way
        #expect(application.connectionStatus == .connected)

        _ = device.events.take()
        let batteryLevel = 0.05
        // Example: Application.report(_:)
        if batteryLevel < 0.1 {
            application.report(.batteryPowerLow)
        }
        // Example: end
        application.work.sync {}
        #expect(device.events.take() == [.deviceConditionChanged(.batteryPowerLow)])
    }
}
