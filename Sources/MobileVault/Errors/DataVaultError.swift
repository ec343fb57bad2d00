public import Foundation
internal import MobileCrypto
internal import MobileStore

/// The error of all functions of this module. SMP 2.3: `SUPDataVaultException`.
///
///     do { try vault.unlock(password) } catch let error as DataVaultError where error.reason == .incompatiblePassword {
///         askForNewPassword(error.code)               // 50 to 57: what is wrong with the present one
///     }
///
/// As an `NSError`, it has `ErrorCode` and `ErrorMessage` in its user info, like that of the original.
public struct DataVaultError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; stable, for programs.
    public let code: Code
    /// The documented reason of the failure; several codes can have one reason.
    public let reason: Reason
    /// The action, the vault and the failure; one line, never a secret.
    public let message: String
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?

    init(_ code: Code, _ reason: Reason, _ message: String, cause: (any Error)? = nil) {
        (self.code, self.reason, self.message, self.cause) = (code, reason, message, cause)
    }

    public var description: String { message }

    /// The reasons of the original, with additional ones for cases that it left open. SMP 2.3: `kDataVaultExceptionReason...`.
    public struct Reason: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// There is a vault of this name. SMP 2.3: `kDataVaultExceptionReasonAlreadyExists`.
        public static let alreadyExists = Reason(rawValue: "AlreadyExists")
        /// There is no vault of this name. SMP 2.3: `kDataVaultExceptionReasonDoesNotExist`.
        public static let doesNotExist = Reason(rawValue: "DoesNotExist")
        /// A wrong password or salt. SMP 2.3: `kDataVaultExceptionReasonInvalidPassword`.
        public static let invalidPassword = Reason(rawValue: "InvalidPassword")
        /// A password that violates the policy; the code names the rule. SMP 2.3: `IncompatiblePassword`.
        public static let incompatiblePassword = Reason(rawValue: "IncompatiblePassword")
        /// The vault cannot be read. SMP 2.3: `kDataVaultExceptionReasonIORead`.
        public static let ioRead = Reason(rawValue: "IORead")
        /// The vault cannot be written.
        public static let ioWrite = Reason(rawValue: "IOWrite")
        /// The vault is locked.
        public static let locked = Reason(rawValue: "Locked")
        /// A value that is not allowed, such as an empty name.
        public static let invalidArgument = Reason(rawValue: "InvalidArgument")
        /// The cryptographic library, or the source of randomness, has failed.
        public static let cryptography = Reason(rawValue: "Cryptography")
    }

    /// Kinds of failure: 50 to 57 as documented, the others from 3001. A structure, not an enumeration: a new code breaks no switch.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// A blank or missing password, and the policy does not allow the default one. SMP 2.3: `PASSWORD_REQUIRED`.
        public static let passwordRequired = Code(rawValue: 50)
        /// The password is too short. SMP 2.3: `PASSWORD_UNDER_MIN_LENGTH`.
        public static let passwordUnderMinLength = Code(rawValue: 51)
        /// The password has no digit. SMP 2.3: `PASSWORD_REQUIRES_DIGIT`.
        public static let passwordRequiresDigit = Code(rawValue: 52)
        /// The password has no upper case character. SMP 2.3: `PASSWORD_REQUIRES_UPPER`.
        public static let passwordRequiresUpper = Code(rawValue: 53)
        /// The password has no lower case character. SMP 2.3: `PASSWORD_REQUIRES_LOWER`.
        public static let passwordRequiresLower = Code(rawValue: 54)
        /// The password has none of `~!@#$%^&*()-+`. SMP 2.3: `PASSWORD_REQUIRES_SPECIAL`.
        public static let passwordRequiresSpecial = Code(rawValue: 55)
        /// The password has too few different characters. SMP 2.3: `PASSWORD_UNDER_MIN_UNIQUE`.
        public static let passwordUnderMinUnique = Code(rawValue: 56)
        /// The password is older than the policy allows. SMP 2.3: `PASSWORD_EXPIRED`.
        public static let passwordExpired = Code(rawValue: 57)

        /// A name that is empty or taken, or a negative number. SMP 2.3: `INVALID_ARG`.
        public static let invalidArgument = Code(rawValue: 3001)
        /// There is no such vault.
        public static let doesNotExist = Code(rawValue: 3002)
        /// A wrong password or salt.
        public static let invalidPassword = Code(rawValue: 3003)
        /// A wrong password or salt for the last time: the vault has been deleted.
        public static let retryLimitReached = Code(rawValue: 3004)
        /// The vault is locked.
        public static let locked = Code(rawValue: 3005)
        /// The file of the vault is damaged, or is not a vault; it was left as it is.
        public static let damaged = Code(rawValue: 3006)
        /// The operating system does not allow the vault to be read.
        public static let unreadable = Code(rawValue: 3007)
        /// The operating system does not allow the vault to be written.
        public static let unwritable = Code(rawValue: 3008)
        /// Another process or thread used the vaults of the directory for longer than the timeout.
        public static let busy = Code(rawValue: 3009)
        /// The cryptographic library, or the source of randomness, has failed.
        public static let cryptography = Code(rawValue: 3010)
    }
}

extension DataVaultError: CustomNSError {
    /// The name of the error's type.
    public static var errorDomain: String { "DataVaultError" }
    /// The number of ``code``.
    public var errorCode: Int { code.rawValue }
    /// `ErrorCode` and `ErrorMessage`, as in the user info of `SUPDataVaultException`.
    public var errorUserInfo: [String: Any] {
        ["ErrorCode": code.rawValue, "ErrorMessage": message, NSLocalizedDescriptionKey: message]
    }
}

extension DataVaultError.Code {
    /// Lets a `catch` name the kind of failure: `catch DataVaultError.Code.passwordExpired`.
    public static func ~= (code: DataVaultError.Code, error: any Error) -> Bool { (error as? DataVaultError)?.code == code }
}

extension DataVaultError {
    static func noVault(_ name: String) -> DataVaultError {
        DataVaultError(.doesNotExist, .doesNotExist, "there is no vault \"\(name)\"")
    }

    static func locked(_ name: String) -> DataVaultError {
        DataVaultError(.locked, .locked, "vault \"\(name)\" is locked: unlock it first")
    }

    static func damaged(_ name: String, _ what: String, cause: (any Error)? = nil) -> DataVaultError {
        DataVaultError(.damaged, .ioRead, "vault \"\(name)\": \(what); its file was left as it is", cause: cause)
    }

    /// The access that failed. The same refusal of the system has one reason for reading and another for writing.
    enum Access { case reading, writing }

    /// Turns any error of the store, of libcrypto or of the source of randomness into a `DataVaultError`.
    init(_ error: any Error, vault name: String, _ access: Access) {
        switch error {
        case let error as DataVaultError: self = error
        case let error as CryptoError:
            self.init(.cryptography, .cryptography, "vault \"\(name)\": \(error.message)", cause: error)
        case let error as StoreError:
            switch error.code {
            case .corrupt, .type: self = .damaged(name, error.message, cause: error)
            case .timeout: self.init(.busy, .ioRead, "vault \"\(name)\": another process or thread uses it: \(error.message)", cause: error)
            case _ where access == .writing: self.init(.unwritable, .ioWrite, "vault \"\(name)\": \(error.message)", cause: error)
            default: self.init(.unreadable, .ioRead, "vault \"\(name)\": \(error.message)", cause: error)
            }
        default: self.init(.cryptography, .cryptography, "vault \"\(name)\": no random bytes: \(error)", cause: error)
        }
    }
}
