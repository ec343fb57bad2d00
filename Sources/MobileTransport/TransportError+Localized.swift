#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension TransportError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (TransportError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [Code: String] = [
        .cannotConnect: "Check network, host and port.",
        .timeout: "Repeat, or raise the timeout.",
        .interrupted: "Repeat a request that may be repeated.",
        .cancelled: "None needed.",
        .tls: "Check certificate, host name and clock.",
        .httpStatus: "Look at status and body.",
        .responseTooLong: "Receive it in pieces.",
        .badRequest: "Correct the request.",
        .other: "Read the message.",
    ]
}
