import Dispatch
import Foundation
import MobileServer
import TestSupport

/// Requests whose handler waits until the test releases it.
final class HeldRequests: Sendable {
    private let entered = DispatchSemaphore(value: 0)
    private let released = DispatchSemaphore(value: 0)

    /// The handler: holds requests for `/held`, answers others at once.
    func answer(_ request: ServerRequest) -> ServerResponse {
        if request.path == "/held" {
            entered.signal()
            released.wait()
        }
        return ServerResponse(status: 200, body: .bytes(Array("here you are".utf8)))
    }

    /// Waits until one more request is held.
    func waitForOne() { entered.wait() }

    /// Releases one request.
    func release() { released.signal() }
}

extension HTTPServer {
    /// Connects without HTTP.
    func client() throws -> RawConnection { try RawConnection(port: port) }
}
