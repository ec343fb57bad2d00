public import MobileVault

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
