import MobileExecution
import Testing

@testable import MobileSync

/// The documented orders of callbacks as transitions of a value; `ApplicationTests` tests the same ones with a server.
@Suite struct ApplicationStateTests {
    @Test func `a registration reports registering, connecting, connected, registered`() {
        var state = ApplicationState(isRegistered: false)
        let changes = state.beginRegistration() + state.beginConnection() + state.connected()
        #expect(
            changes == [
                .registration(.registering, code: 0, message: ""), .connection(.connecting, code: 0, message: ""),
                .connection(.connected, code: 0, message: ""), .registration(.registered, code: 0, message: ""),
            ])
        #expect(state.registration == .registered && state.connection == .connected)
    }

    @Test func `without a network a registration fails for good, before it connects`() {
        var state = ApplicationState(isRegistered: false)
        let changes = state.beginRegistration() + state.lost(code: 14813, message: "no network")
        #expect(
            changes == [.registration(.registering, code: 0, message: ""), .registration(.registrationError, code: 14813, message: "no network")])
        #expect(state.connection == .disconnected)
    }

    @Test func `a network lost while connecting leaves the registration on its way`() {
        var state = ApplicationState(isRegistered: false)
        _ = state.beginRegistration()
        _ = state.beginConnection()
        let lost = state.lost(code: 14813, message: "gone")
        #expect(lost == [.connection(.connectionError, code: 14813, message: "gone")])
        #expect(state.registration == .registering)
        let found = state.beginConnection() + state.connected()
        #expect(
            found == [
                .connection(.connecting, code: 0, message: ""), .connection(.connected, code: 0, message: ""),
                .registration(.registered, code: 0, message: ""),
            ])
    }

    @Test func `stopping ends a registration that waits for the network`() {
        var state = ApplicationState(isRegistered: false)
        _ = state.beginRegistration()
        _ = state.beginConnection()
        _ = state.lost(code: 14813, message: "gone")
        _ = state.beginStop() + state.stopped()
        #expect(state.registration == .registrationError && state.connection == .disconnected)
    }

    @Test func `stopping without a connection reports nothing`() {
        var state = ApplicationState(isRegistered: true)
        let changes = state.beginStop() + state.stopped()
        #expect(changes == [])
    }
}
