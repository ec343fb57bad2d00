import MobileSync
import Testing

@Suite struct StatusNumberTests {
    @Test("REG-06: registration statuses have the documented numbers, and there are no others")
    func registrationNumbers() {
        let numbers: [(RegistrationStatus, Int)] = [
            (.registrationError, 201), (.registering, 202), (.registered, 203), (.unregistering, 204), (.unregistered, 205),
        ]
        for (status, number) in numbers { #expect(status.rawValue == number) }
        #expect(RegistrationStatus.allCases.count == numbers.count)
    }

    @Test("REG-08 REG-10: connection statuses have the documented numbers, waiting for a notification among them")
    func connectionNumbers() {
        let numbers: [(ConnectionStatus, Int)] = [
            (.connectionError, 101), (.connecting, 102), (.connected, 103), (.disconnecting, 104), (.disconnected, 105), (.notificationWait, 106),
        ]
        for (status, number) in numbers { #expect(status.rawValue == number) }
        #expect(ConnectionStatus.allCases.count == numbers.count)
    }

    @Test("LSN-03: the states of a status listener have the documented order")
    func listenerStates() {
        let states: [SynchronizationStatusInfo.State] = [
            .none, .starting, .connecting, .sendingHeader, .sendingTable, .sendingData, .finishingUpload, .receivingUploadAcknowledgement,
            .receivingTable, .receivingData, .committingDownload, .sendingDownloadAcknowledgement, .disconnecting, .done,
        ]
        #expect(states.map(\.rawValue) == Array(0...13))
    }

    @Test("ERR-01 ERR-02 ERR-03 ERR-04 ERR-05 ERR-06 ERR-08 ERR-09: 409 and 503 are recoverable, any other code of the back end is not")
    func recoverableCodes() {
        for code in [409, 503] { #expect(SyncError(.synchronize, .init(rawValue: code), "").isRecoverable) }
        for code in [400, 401, 403, 404, 405, 412, 418, 500, 501, 580, 999] {
            #expect(!SyncError(.synchronize, .init(rawValue: code), "").isRecoverable)
        }
    }

    @Test("ERR-15 ERR-16 ERR-17 EXC-21: the documented numbers have names")
    func namedCodes() {
        #expect(SyncError.Code.registrationUnknown.rawValue == 580)
        #expect(SyncError.Code.synchronizationCommunication.rawValue == 63)
        #expect(SyncError.Code.uploadFailedAtServer.rawValue == -794)
        #expect(SyncError.Code.applicationNotRegistered.rawValue == 14871)
    }
}
