import Foundation
import Testing

@testable import MobileCrypto

/// The work of threads that still run while the process exits.
@Suite struct ProcessExitTests {
    @Test func `cryptography works until the process has ended`() async {
        await #expect(processExitsWith: .success) {
            // Registered before the first use of cryptography, so that it runs after the handlers that the use registers.
            let isRegistered =
                atexit {
                    let isWorking = (try? RandomBytes.make(16)) != nil && (try? SHA256.digest(of: "abc"))?.hexadecimal.hasPrefix("ba7816bf") == true
                    _exit(isWorking ? EXIT_SUCCESS : EXIT_FAILURE)
                } == 0
            let used = try RandomBytes.make(16)
            #expect(isRegistered && used.count == 16)
            exit(EXIT_FAILURE)
        }
    }

    @Test func `threads that end during the exit do not crash the process`() async {
        for _ in 0..<20 {
            await #expect(processExitsWith: .success) {
                let begun = DispatchSemaphore(value: 0)
                // Each thread ends right after its use of cryptography, and the next one takes its place.
                @Sendable func follow() {
                    Thread.detachNewThread {
                        let isWorking = (try? RandomBytes.make(16)) != nil && (try? SHA256.digest(of: "abc")) != nil
                        if !isWorking { _exit(EXIT_FAILURE) }
                        begun.signal()
                        follow()
                    }
                }
                for _ in 0..<8 { follow() }
                for _ in 0..<200 { begun.wait() }
                exit(EXIT_SUCCESS)
            }
        }
    }
}
