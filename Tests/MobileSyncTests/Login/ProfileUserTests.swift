import MobileObjects
import MobileServer
import MobileStore
import SampleCRM
import TestSupport
import Testing

@testable import MobileSync

/// The user of the synchronization profile, and the session in which a package synchronizes.
@Suite struct ProfileUserTests {
    /// A device of the first user with its data, at a server that knows a second one.
    private func bench() throws -> (TestBench, Device) {
        let bench = try TestBench { $0.users["jones"] = "other" }
        return (bench, try bench.synchronizedDevice())
    }

    /// The server knows a device by the user of its registration, so another one is refused; the synchronization must not continue as the first one.
    @Test("another user in the profile logs in before the next synchronization, and is refused where the device is not theirs")
    func change() throws {
        let (_, device) = try bench()
        #expect(device.application.sessionUser == TestBench.user)
        let session = try device.application.session().token
        device.crm.synchronizationProfile.user = "jones"
        device.crm.synchronizationProfile.password = "other"
        #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(try device.application.sessionUser == TestBench.user && device.application.session().token == session)
        // The first one again.
        device.crm.synchronizationProfile.user = TestBench.user
        device.crm.synchronizationProfile.password = TestBench.password
        try device.crm.synchronize()
        device.crm.synchronizationProfile.user = nil
        try device.crm.synchronize()
        #expect(device.application.sessionUser == TestBench.user)
    }

    @Test("another user without a password is an error, and nothing is sent in the session of the first one")
    func withoutPassword() throws {
        let (bench, device) = try bench()
        device.crm.synchronizationProfile.user = "jones"
        let requests = bench.network.requestCount
        let missing = #expect(throws: SyncError.self) { try device.crm.synchronize() }
        #expect(missing?.code == .connectionPropertyMissing)
        #expect(missing?.message.contains("the session is that of user \"\(TestBench.user)\"; set the password of user \"jones\"") == true)
        #expect(bench.network.requestCount == requests)
    }

    @Test("the user of the session is known in the next run")
    func nextRun() throws {
        let (bench, _) = try bench()
        #expect(try bench.newDevice().application.sessionUser == TestBench.user)
    }

    @Test("credentials are compared by their bytes")
    func bytes() {
        #expect(LoginCredentials(user: "a", password: "\u{e9}") != LoginCredentials(user: "a", password: "e\u{301}"))
        #expect(LoginCredentials(user: "\u{e9}", password: nil) != LoginCredentials(user: "e\u{301}", password: nil))
        #expect(LoginCredentials(user: "a", password: "b") == LoginCredentials(user: "a", password: "b"))
        #expect(LoginCredentials(user: "a", password: nil) != LoginCredentials(user: "a", password: ""))
    }
}
