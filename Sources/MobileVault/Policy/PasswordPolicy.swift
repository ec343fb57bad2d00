internal import Foundation

/// The rules of a vault for its password. The defaults require only that there is a password. SMP 2.3: `SUPDVPasswordPolicy`.
///
///     var policy = PasswordPolicy()
///     policy.minLength = 8
///     policy.hasDigits = true
///     policy.retryLimit = 20
///     try vault.setPasswordPolicy(policy)                 // locks the vault: the next unlocking checks the present password
///
/// Characters are user-perceived ones: a letter with its accents is one. Letters and digits of all scripts count.
public struct PasswordPolicy: Sendable, Hashable {
    /// Whether the default password may be used, which replaces a missing one. Rules about characters do not apply to it, because the user
    /// does not choose its characters. Default false. SMP 2.3: `defaultPasswordAllowed`.
    public var defaultPasswordAllowed: Bool
    /// The least number of characters, from 0 (default). SMP 2.3: `minLength`, `minimumLength`.
    public var minLength: Int
    /// Whether there must be a digit; default false.
    public var hasDigits: Bool
    /// Whether there must be an upper case character; default false.
    public var hasUpper: Bool
    /// Whether there must be a lower case character; default false.
    public var hasLower: Bool
    /// Whether there must be one of ``specialCharacters``; default false.
    public var hasSpecial: Bool
    /// Days from the setting of a password until it expires, checked when the vault is unlocked; 0 (default) for never.
    public var expirationDays: Int
    /// The least number of different characters, from 0 (default). With 4, `aaate` and `ababa` are refused and `aaord` is not.
    public var minUniqueChars: Int
    /// Seconds from unlocking until the vault locks itself, 0 (default) for never. Takes precedence over `setLockTimeout(_:)`.
    public var lockTimeout: Int
    /// The number of failed unlocks after which the vault is deleted with all its contents, 0 (default) for no limit. Takes precedence over
    /// `setRetryLimit(_:)`.
    public var retryLimit: Int

    /// The characters that count as special; no other ones do.
    public static let specialCharacters = "~!@#$%^&*()-+"

    /// Creates a policy; omitted values require nothing.
    public init(
        defaultPasswordAllowed: Bool = false, minLength: Int = 0, hasDigits: Bool = false, hasUpper: Bool = false, hasLower: Bool = false,
        hasSpecial: Bool = false, expirationDays: Int = 0, minUniqueChars: Int = 0, lockTimeout: Int = 0, retryLimit: Int = 0
    ) {
        self.defaultPasswordAllowed = defaultPasswordAllowed
        self.minLength = minLength
        (self.hasDigits, self.hasUpper, self.hasLower, self.hasSpecial) = (hasDigits, hasUpper, hasLower, hasSpecial)
        (self.expirationDays, self.minUniqueChars) = (expirationDays, minUniqueChars)
        (self.lockTimeout, self.retryLimit) = (lockTimeout, retryLimit)
    }

    /// The numbers by their names.
    var numbers: [(name: String, value: Int)] {
        [
            ("minLength", minLength), ("expirationDays", expirationDays), ("minUniqueChars", minUniqueChars), ("lockTimeout", lockTimeout),
            ("retryLimit", retryLimit),
        ]
    }

    /// - Parameter password: nil for the default one.
    /// - Throws: ``DataVaultError`` with reason ``DataVaultError/Reason/incompatiblePassword`` and the code of the first violated rule.
    func check(_ password: VaultPassword) throws(DataVaultError) {
        switch password {
        case .standard:
            guard defaultPasswordAllowed else { throw Self.refused(.passwordRequired, "a password is required") }
        case .chosen(let text):
            if text.count < minLength {
                throw Self.refused(.passwordUnderMinLength, "the password has \(text.count) characters; at least \(minLength) are needed")
            }
            if hasDigits, !text.unicodeScalars.contains(where: { $0.properties.numericType == .decimal }) {
                throw Self.refused(.passwordRequiresDigit, "the password has no digit")
            }
            if hasUpper, !text.contains(where: \.isUppercase) {
                throw Self.refused(.passwordRequiresUpper, "the password has no upper case character")
            }
            if hasLower, !text.contains(where: \.isLowercase) {
                throw Self.refused(.passwordRequiresLower, "the password has no lower case character")
            }
            if hasSpecial, !text.contains(where: Self.specialCharacters.contains) {
                throw Self.refused(.passwordRequiresSpecial, "the password has none of \(Self.specialCharacters)")
            }
            let different = Set(text).count
            if different < minUniqueChars {
                throw Self.refused(
                    .passwordUnderMinUnique, "the password has \(different) different characters; at least \(minUniqueChars) are needed")
            }
        }
    }

    /// - Throws: ``DataVaultError/Code/passwordExpired`` for a password that was set more than ``expirationDays`` before `now`.
    func checkAge(setAt: Date, now: Date) throws(DataVaultError) {
        guard expirationDays > 0, now.timeIntervalSince(setAt) > Double(expirationDays) * 86_400 else { return }
        throw Self.refused(.passwordExpired, "the password is older than \(expirationDays) days")
    }

    private static func refused(_ code: DataVaultError.Code, _ message: String) -> DataVaultError {
        DataVaultError(code, .incompatiblePassword, message)
    }
}
