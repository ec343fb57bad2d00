internal import CMobileCrypto

/// The failure of a cryptographic operation.
public struct CryptoError: Error, Sendable, CustomStringConvertible {
    /// A stable name of a kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Memory ran out.
        public static let noMemory = Code(rawValue: "noMemory")
        /// Parameters out of their range.
        public static let badParameter = Code(rawValue: "badParameter")
        /// A text that is not an encoded verifier, or damaged bytes of a key or a certificate.
        public static let malformed = Code(rawValue: "malformed")
        /// Another key or other associated data, or sealed or signed bytes that were changed; a certificate of another authority, or out of its time.
        public static let notAuthentic = Code(rawValue: "notAuthentic")
        /// The cryptographic library refused, for example without a source of randomness.
        public static let library = Code(rawValue: "library")
    }

    /// The kind of failure.
    public let code: Code
    /// The action and its failure; never a secret.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    /// Turns a status other than `MCR_OK` into an error.
    static func check(_ status: mcr_status, _ action: String) throws(CryptoError) {
        switch status {
        case MCR_OK: return
        case MCR_ERROR_NO_MEMORY: throw CryptoError(.noMemory, "\(action): no memory")
        case MCR_ERROR_PARAMETER: throw CryptoError(.badParameter, "\(action): these parameters are not possible")
        case MCR_ERROR_AUTHENTICATION: throw CryptoError(.notAuthentic, "\(action): another key, or it was changed")
        case MCR_ERROR_MALFORMED: throw CryptoError(.malformed, "\(action): the bytes are damaged")
        default: throw CryptoError(.library, "\(action): libcrypto refused")
        }
    }
}
