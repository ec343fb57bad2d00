#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension ProtocolError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (ProtocolError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [Code: String] = [
        .malformedFrame: "Correct the sender; byteOffset is the place.",
        .limitExceeded: "Send smaller ones. See the article Limits.",
        .truncated: "Repeat the request.",
        .trailingBytes: "Correct the sender.",
        .invalidJSON: "Correct the sender; byteOffset is the place.",
        .invalidContent: "Correct the sender.",
        .unsupportedVersion: "Update the older end.",
        .outdatedVersion: "Update the other end.",
        .spool: "Check free space and permissions of the temporary folder.",
        .misuse: "Correct the call.",
    ]
}
