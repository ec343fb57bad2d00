#if canImport(FoundationEssentials)
    public import FoundationEssentials
#else
    public import Foundation
#endif

extension CryptoError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (CryptoError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [Code: String] = [
        .noMemory: "Free memory, or use parameters that need less.",
        .badParameter: "Correct it; the message names the range.",
        .malformed: "Restore the stored text or bytes.",
        .notAuthentic: "Use the right key; refuse the bytes.",
        .library: "Check the installation of libcrypto.",
    ]
}
