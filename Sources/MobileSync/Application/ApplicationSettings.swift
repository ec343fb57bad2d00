public import MobileVault

/// The settings that the server sent at registration. SMP 2.3: `SUPApplicationSettings`.
public struct ApplicationSettings: Sendable, Equatable {
    /// Every setting by its name, as text.
    public let values: [String: String]

    init(values: [String: String]) { self.values = values }

    /// Returns the setting as text; nil if the server did not send it. SMP 2.3: `getStringProperty`.
    ///
    ///     if let colour = application.settings?.string("custom1") {
    ///         print("titles are \(colour)")
    ///     }
    public func string(_ name: String) -> String? { values[name] }

    /// Returns the setting as a number; nil if it is missing or not a number. SMP 2.3: `getIntegerProperty`.
    ///
    ///     let length = application.settings?.integer("PWDPOLICY_MIN_LENGTH") ?? 8
    ///     print("it has at least \(length) characters")
    public func integer(_ name: String) -> Int? { values[name].flatMap { Int($0) } }

    /// Returns the setting as a Boolean; nil if it is missing, or neither `true` nor `false`. SMP 2.3: `getBooleanProperty`.
    ///
    ///     if application.settings?.boolean("PWDPOLICY_ENABLED") == true {
    ///         print("the vault needs a password")
    ///     }
    public func boolean(_ name: String) -> Bool? { values[name].flatMap { Bool($0) } }

    /// Returns the names of the settings that differ between two states.
    static func changedNames(from old: ApplicationSettings?, to new: ApplicationSettings) -> [String] {
        let before = old?.values ?? [:]
        return Set(before.keys).union(new.values.keys).filter { before[$0] != new.values[$0] }.sorted()
    }
}

extension ApplicationSettings {
    /// The policy that the administrator requires for the application's vault; nil if none is switched on. The application sets it:
    ///
    ///     if let policy = application.settings?.passwordPolicy, try vault.passwordPolicy() != policy { try vault.setPasswordPolicy(policy) }
    ///
    /// A setting that the server did not send, or that is not a number, has the default of `PasswordPolicy`. SMP 2.3: the `PWDPOLICY_...` properties.
    public var passwordPolicy: PasswordPolicy? {
        guard boolean("PWDPOLICY_ENABLED") == true else { return nil }
        let defaults = PasswordPolicy()
        return PasswordPolicy(
            defaultPasswordAllowed: boolean("PWDPOLICY_DEFAULT_PASSWORD_ALLOWED") ?? defaults.defaultPasswordAllowed,
            minLength: integer("PWDPOLICY_MIN_LENGTH") ?? defaults.minLength,
            hasDigits: boolean("PWDPOLICY_HAS_DIGITS") ?? defaults.hasDigits,
            hasUpper: boolean("PWDPOLICY_HAS_UPPER") ?? defaults.hasUpper,
            hasLower: boolean("PWDPOLICY_HAS_LOWER") ?? defaults.hasLower,
            hasSpecial: boolean("PWDPOLICY_HAS_SPECIAL") ?? defaults.hasSpecial,
            expirationDays: integer("PWDPOLICY_EXPIRES_IN_N_DAYS") ?? defaults.expirationDays,
            minUniqueChars: integer("PWDPOLICY_MIN_UNIQUE_CHARS") ?? defaults.minUniqueChars,
            lockTimeout: integer("PWDPOLICY_LOCK_TIMEOUT") ?? defaults.lockTimeout,
            retryLimit: integer("PWDPOLICY_RETRY_LIMIT") ?? defaults.retryLimit)
    }
}
