import Foundation
import MobileCrypto
import MobileObjects
import MobileServer
import MobileSync
import MobileVault
import TestSupport
import Testing

/// The vault of an application: the administrator's policy, and its errors among those of the other modules.
@Suite struct VaultPolicyTests {
    private func vaults(of bench: TestBench) -> VaultDirectory {
        VaultDirectory(bench.directory.file("vaults"), keyDerivation: PasswordVerifier.Parameters(n: 2, r: 1, p: 1))
    }

    @Test("VLT-30: the settings of a server nobody has changed are the vault's own defaults, and switched off")
    func defaults() throws {
        let device = try TestBench().newDevice()
        try device.application.register(timeout: .seconds(60))
        let settings = try #require(device.application.settings)
        #expect(settings.boolean("PWDPOLICY_ENABLED") == false && settings.passwordPolicy == nil)
        for name in ["DEFAULT_PASSWORD_ALLOWED", "HAS_DIGITS", "HAS_UPPER", "HAS_LOWER", "HAS_SPECIAL"] {
            #expect(settings.boolean("PWDPOLICY_\(name)") == false, "\(name)")
        }
        for name in ["MIN_LENGTH", "EXPIRES_IN_N_DAYS", "MIN_UNIQUE_CHARS", "LOCK_TIMEOUT", "RETRY_LIMIT"] {
            #expect(settings.integer("PWDPOLICY_\(name)") == 0, "\(name)")
        }
        // With only this setting, the policy is a vault's default policy.
        let strict = try TestBench { $0.applicationSettings["PWDPOLICY_ENABLED"] = "true" }.newDevice()
        try strict.application.register(timeout: .seconds(60))
        #expect(strict.application.settings?.passwordPolicy == PasswordPolicy())
    }

    @Test("VLT-30: what the administrator set reaches the device, and the application applies it to its vault")
    func applied() throws {
        let bench = try TestBench {
            $0.applicationSettings = [
                "PWDPOLICY_ENABLED": "true", "PWDPOLICY_DEFAULT_PASSWORD_ALLOWED": "true", "PWDPOLICY_MIN_LENGTH": "4",
                "PWDPOLICY_HAS_DIGITS": "true", "PWDPOLICY_HAS_UPPER": "true", "PWDPOLICY_HAS_LOWER": "true", "PWDPOLICY_HAS_SPECIAL": "true",
                "PWDPOLICY_EXPIRES_IN_N_DAYS": "20", "PWDPOLICY_MIN_UNIQUE_CHARS": "3", "PWDPOLICY_LOCK_TIMEOUT": "1600",
                "PWDPOLICY_RETRY_LIMIT": "2",
            ]
        }
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        let policy = try #require(device.application.settings?.passwordPolicy)
        #expect(
            policy
                == PasswordPolicy(
                    defaultPasswordAllowed: true, minLength: 4, hasDigits: true, hasUpper: true, hasLower: true, hasSpecial: true,
                    expirationDays: 20, minUniqueChars: 3, lockTimeout: 1600, retryLimit: 2))
        let vault = try DataVault.createVault("app", password: "weak", in: vaults(of: bench))
        try vault.setPasswordPolicy(policy)
        #expect(throws: DataVaultError.self) { try vault.unlock("weak") }
        try vault.changePassword(current: "weak", currentSalt: nil, new: "password!1A", newSalt: nil)
        #expect(try vault.passwordPolicy() == policy)
    }

    @Test("VLT-30: settings that are no numbers leave the defaults; a negative one is refused by the vault")
    func badSettings() throws {
        let bench = try TestBench {
            $0.applicationSettings = ["PWDPOLICY_ENABLED": "true", "PWDPOLICY_MIN_LENGTH": "many", "PWDPOLICY_RETRY_LIMIT": "-1"]
        }
        let device = try bench.newDevice()
        try device.application.register(timeout: .seconds(60))
        let policy = try #require(device.application.settings?.passwordPolicy)
        #expect(policy == PasswordPolicy(retryLimit: -1))
        let vault = try DataVault.createVault("app", password: "good", in: vaults(of: bench))
        #expect(throws: DataVaultError.self) { try vault.setPasswordPolicy(policy) }
        #expect(try vault.passwordPolicy() == PasswordPolicy())
    }

    @Test("EXC-16 ERR-19: the vault's error has number, reason, message, cause and a text like all others, for every code")
    func baseError() throws {
        let bench = try TestBench(), directory = vaults(of: bench)
        let error = try #require(#expect(throws: DataVaultError.self) { _ = try DataVault.getVault("none", in: directory) })
        let base: any BaseError = error
        #expect(base.errorCode == 3002 && base.message == "there is no vault \"none\"" && base.cause == nil)
        #expect(error.reason == .doesNotExist && base.recovery == .removeCause)
        let services = ServiceRegistry.standard()
        #expect(base.message(from: services, locale: "en") == "The vault does not exist (there is no vault \"none\").")
        let vault = try DataVault.createVault("policed", password: "ab", in: directory)
        try vault.setPasswordPolicy(PasswordPolicy(minLength: 3))
        let short = try #require(#expect(throws: DataVaultError.self) { try vault.unlock("ab") })
        #expect(
            short.message(from: services, locale: "en") == "The password is too short (the password has 2 characters; at least 3 are needed).")

        let texts = MessageBundles(preferredLanguages: [])
        for code in Array(50...57) + Array(3001...3010) { #expect(texts.message(code: code, locale: "en") != nil, "\(code)") }
    }

    @Test("EXC-16: a damaged vault has the store's error as its cause; a vault that somebody else uses may be tried again")
    func causes() throws {
        struct Dry: Error {}
        let bench = try TestBench(), directory = vaults(of: bench)
        _ = try DataVault.createVault("app", password: "good", in: directory)
        let file = try #require(FileManager.default.contentsOfDirectory(atPath: directory.path).first { $0.hasSuffix(".vault") })
        try Data("no vault at all, and too short for one".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(file)"))
        let damaged = try #require(#expect(throws: DataVaultError.self) { _ = try DataVault.getVault("app", in: directory) })
        #expect(damaged.recovery == .restart && (damaged.cause as? any BaseError)?.recovery == .restart)
        var dry = directory
        dry.environment.randomBytes = { _ in throw Dry() }
        let other = try #require(#expect(throws: DataVaultError.self) { _ = try DataVault.createVault("x", password: nil, in: dry) })
        #expect(other.recovery == .removeCause && other.cause is Dry)
    }
}
