import MobileVault
import Testing

/// SMP 2.3, `SUPDVPasswordPolicy`.
@Suite struct PasswordPolicyTests {
    let vaults: TestVaults

    init() throws { vaults = try TestVaults() }

    /// Makes a locked vault with this password and policy.
    private func vault(_ password: String?, _ policy: PasswordPolicy) throws -> DataVault {
        let vault = try DataVault.createVault("policed", password: password, in: vaults.directory())
        try vault.setPasswordPolicy(policy)
        return vault
    }

    /// Checks a password against a policy by unlocking and by both ways of changing it; all must give the same result.
    private func expect(_ password: String?, _ policy: PasswordPolicy, _ code: DataVaultError.Code?, at location: SourceLocation = #_sourceLocation)
        throws
    {
        let present = try vault(password, policy)
        defer { do { try DataVault.deleteVault("policed", in: vaults.directory()) } catch { Issue.record(error) } }
        let unlocking = failure { try present.unlock(password) }
        #expect(unlocking?.code == code, "unlock", sourceLocation: location)
        #expect(unlocking.map { $0.reason == .incompatiblePassword } ?? true, sourceLocation: location)
        #expect(present.isLocked == (code != nil), sourceLocation: location)

        let changing = try DataVault.createVault("changing", password: "Tr~0ub4dor&3", in: vaults.directory())
        defer { do { try DataVault.deleteVault("changing", in: vaults.directory()) } catch { Issue.record(error) } }
        try changing.setPasswordPolicy(policy)
        let changed = failure { try changing.changePassword(current: "Tr~0ub4dor&3", currentSalt: nil, new: password, newSalt: nil) }
        #expect(changed?.code == code, "change with the current password", sourceLocation: location)
        #expect(changed.map { $0.reason == .incompatiblePassword } ?? true, sourceLocation: location)
        if let password {
            if code != nil { try changing.unlock("Tr~0ub4dor&3") }
            #expect(failure { try changing.changePassword(password) }?.code == code, "change", sourceLocation: location)
        }
    }

    @Test("VLT-10: a policy is stored and locks the vault, for every object; another one takes its place")
    func store() throws {
        let vault = try vaults.crm(), other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        let policy = PasswordPolicy(
            defaultPasswordAllowed: true, minLength: 1, hasDigits: false, hasUpper: false, hasLower: true, hasSpecial: false,
            expirationDays: 2, minUniqueChars: 3, lockTimeout: 4, retryLimit: 5)
        try vault.setPasswordPolicy(policy)
        #expect(vault.isLocked)
        #expect(failure { _ = try other.dataNames() }?.code == .locked)
        #expect(other.isLocked)
        try other.unlock("good", salt: "salt")
        #expect(try other.passwordPolicy() == policy)
        let next = PasswordPolicy(minLength: 2)
        try other.setPasswordPolicy(next)
        try vault.unlock("good", salt: "salt")
        #expect(try vault.passwordPolicy() == next)
    }

    @Test(
        "VLT-10: a negative value is refused; the vault keeps its policy and stays unlocked",
        arguments: [
            PasswordPolicy(minLength: -1), PasswordPolicy(expirationDays: -1), PasswordPolicy(minUniqueChars: -1),
            PasswordPolicy(lockTimeout: -1), PasswordPolicy(retryLimit: .min),
        ])
    func negative(policy: PasswordPolicy) throws {
        let vault = try vaults.crm()
        try vault.setPasswordPolicy(PasswordPolicy(minLength: 3))
        try vault.unlock("good", salt: "salt")
        let error = failure { try vault.setPasswordPolicy(policy) }
        #expect(error?.code == .invalidArgument && error?.reason == .invalidArgument)
        #expect(!vault.isLocked)
        #expect(try vault.passwordPolicy() == PasswordPolicy(minLength: 3))
    }

    @Test("VLT-10: without a policy nothing is checked in creating and changing")
    func noPolicy() throws {
        let vault = try DataVault.createVault("one", password: "a", in: vaults.directory())
        try vault.changePassword("b")
        try vault.changePassword(current: "b", currentSalt: nil, new: nil, newSalt: nil)
        vaults.passDays(10_000)
        try vault.unlock(nil)
    }

    @Test("VLT-10 VLT-11: the policy is set and read on an unlocked vault; where none was set, it has the defaults")
    func read() throws {
        let vault = try vaults.crm()
        #expect(try vault.passwordPolicy() == PasswordPolicy())
        vault.lock()
        #expect(failure { _ = try vault.passwordPolicy() }?.code == .locked)
        #expect(failure { try vault.setPasswordPolicy(PasswordPolicy(minLength: 100)) }?.code == .locked)
        try vault.unlock("good", salt: "salt")
        #expect(try vault.passwordPolicy() == PasswordPolicy())
    }

    @Test("VLT-24 VLT-25 VLT-26 VLT-27 VLT-28 VLT-29: the defaults of all rules")
    func defaults() {
        let policy = PasswordPolicy()
        #expect(!policy.defaultPasswordAllowed && policy.minLength == 0)
        #expect(!policy.hasDigits && !policy.hasUpper && !policy.hasLower && !policy.hasSpecial)
        #expect(policy.expirationDays == 0 && policy.minUniqueChars == 0 && policy.lockTimeout == 0 && policy.retryLimit == 0)
    }

    @Test("VLT-24: the default password passes where it is allowed, whatever the rules about characters; any other must keep them")
    func defaultPassword() throws {
        let strict = PasswordPolicy(
            defaultPasswordAllowed: true, minLength: 12, hasDigits: true, hasUpper: true, hasLower: true, hasSpecial: true)
        try expect(nil, strict, nil)
        try expect("1aA!", strict, .passwordUnderMinLength)
        try expect("", PasswordPolicy(defaultPasswordAllowed: false), .passwordRequired)
    }

    @Test("VLT-24 VLT-31: no password, or a blank one, is error 50 unless the default one is allowed")
    func required() throws {
        for password in [nil, ""] as [String?] {
            let vault = try vault(password, PasswordPolicy())
            let error = failure { try vault.unlock(password) }
            #expect(error?.code == .passwordRequired && error?.code.rawValue == 50 && error?.reason == .incompatiblePassword)
            #expect(vault.isLocked)
            #expect(failure { try vault.changePassword(current: nil, currentSalt: nil, new: password, newSalt: nil) }?.code.rawValue == 50)
            try vault.changePassword(current: nil, currentSalt: nil, new: "x", newSalt: nil)
            try DataVault.deleteVault("policed", in: vaults.directory())
        }
    }

    @Test("VLT-25 VLT-32: a password that is too short is error 51; characters are counted as people see them")
    func length() throws {
        #expect(DataVaultError.Code.passwordUnderMinLength.rawValue == 51)
        let policy = PasswordPolicy(minLength: 4)
        try expect("abc", policy, .passwordUnderMinLength)
        try expect("abcd", policy, nil)
        try expect("e\u{301}e\u{301}🇩🇪", policy, .passwordUnderMinLength)
        try expect("e\u{301}e\u{301}🇩🇪x", policy, nil)
    }

    @Test("VLT-26 VLT-33: a password without a digit is error 52")
    func digit() throws {
        #expect(DataVaultError.Code.passwordRequiresDigit.rawValue == 52)
        try expect("abcDEF!", PasswordPolicy(hasDigits: true), .passwordRequiresDigit)
        try expect("abc½", PasswordPolicy(hasDigits: true), .passwordRequiresDigit)
        for good in ["abc1", "0", "٣"] { try expect(good, PasswordPolicy(hasDigits: true), nil) }
    }

    @Test("VLT-26 VLT-34: a password without an upper case character is error 53")
    func upper() throws {
        #expect(DataVaultError.Code.passwordRequiresUpper.rawValue == 53)
        try expect("abc1!ß", PasswordPolicy(hasUpper: true), .passwordRequiresUpper)
        for good in ["abC", "Ä"] { try expect(good, PasswordPolicy(hasUpper: true), nil) }
    }

    @Test("VLT-26 VLT-35: a password without a lower case character is error 54")
    func lower() throws {
        #expect(DataVaultError.Code.passwordRequiresLower.rawValue == 54)
        try expect("ABC1!Ä", PasswordPolicy(hasLower: true), .passwordRequiresLower)
        for good in ["ABc", "ä"] { try expect(good, PasswordPolicy(hasLower: true), nil) }
    }

    @Test("VLT-26 VLT-36: a password without one of the thirteen special characters is error 55")
    func special() throws {
        #expect(DataVaultError.Code.passwordRequiresSpecial.rawValue == 55)
        #expect(PasswordPolicy.specialCharacters == "~!@#$%^&*()-+")
        try expect("abcABC123_=[]{};:'\"\\|,.<>/?`§€ ", PasswordPolicy(hasSpecial: true), .passwordRequiresSpecial)
        for special in "~!@#$%^&*()-+" { try expect("a\(special)", PasswordPolicy(hasSpecial: true), nil) }
    }

    @Test("VLT-28 VLT-37: a password of too few different characters is error 56: the documented examples")
    func unique() throws {
        #expect(DataVaultError.Code.passwordUnderMinUnique.rawValue == 56)
        let policy = PasswordPolicy(minLength: 5, minUniqueChars: 4)
        for bad in ["aaate", "ababa"] { try expect(bad, policy, .passwordUnderMinUnique) }
        for good in ["aaord", "abcde", "aAbBb"] { try expect(good, policy, nil) }
    }

    @Test(
        "VLT-27 VLT-38: a password that is older than the days of the policy is error 57 at unlocking, and not before; a new one counts from its setting"
    )
    func expiration() throws {
        #expect(DataVaultError.Code.passwordExpired.rawValue == 57)
        let vault = try vault("first", PasswordPolicy(expirationDays: 20))
        vaults.passDays(20)
        try vault.unlock("first")
        vaults.passDays(0.001)
        #expect(try vault.dataNames() == [])
        vault.lock()
        let error = failure { try vault.unlock("first") }
        #expect(error?.code == .passwordExpired && error?.reason == .incompatiblePassword)
        #expect(vault.isLocked)
        try vault.changePassword(current: "first", currentSalt: nil, new: "second", newSalt: nil)
        vaults.passDays(20)
        try vault.unlock("second")
        try vault.changePassword("third")
        vaults.passDays(20)
        try vault.unlock("third")
        try vault.setPasswordPolicy(PasswordPolicy())
        vaults.passDays(100_000)
        try vault.unlock("third")
    }

    @Test("VLT-29: without timeout and limit a vault stays open and survives any number of failures")
    func noTimeoutNoLimit() throws {
        let vault = try vault("good", PasswordPolicy())
        for _ in 0..<20 { #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword) }
        try vault.unlock("good")
        vaults.passSeconds(1_000_000_000)
        #expect(!vault.isLocked)
    }

    @Test("VLT-12 VLT-15: the present password is checked when the vault is unlocked; one that is not in keeping keeps it locked until it is changed")
    func enforcement() throws {
        let vault = try vault("weak", PasswordPolicy(hasDigits: true, retryLimit: 2))
        try vaultIsIncompatible(vault)
        // The password was right, so no number of such attempts counts as a failure.
        try vaultIsIncompatible(vault)
        #expect(failure { try vault.unlock("wrong") }?.reason == .invalidPassword)
        try vault.changePassword(current: "weak", currentSalt: nil, new: "strong1", newSalt: nil)
        vault.lock()
        try vault.unlock("strong1")
        #expect(failure { try vault.changePassword("weak") }?.code == .passwordRequiresDigit)
    }

    private func vaultIsIncompatible(_ vault: DataVault) throws {
        let error = failure { try vault.unlock("weak") }
        #expect(error?.code == .passwordRequiresDigit && error?.reason == .incompatiblePassword)
        #expect(vault.isLocked)
        #expect(failure { _ = try vault.dataNames() }?.code == .locked)
    }
}
