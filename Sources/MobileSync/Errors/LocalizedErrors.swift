public import Foundation
public import MobileTransport

// Here and not in MobileTransport, which does without Foundation.
extension TransportError: LocalizedError {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, in one sentence; nil where only the message can tell.
    public var recoverySuggestion: String? {
        switch code {
        case .cannotConnect, .timeout: "Check network, host and port, and repeat the request."
        case .interrupted: "Repeat the request, if the server may do it twice."
        case .tls: "Check scheme, port, host name and certificates."
        default: nil
        }
    }
}
