import MobileStore
import MobileVault
import Testing

/// SMP 2.3, `SUPDataVault`: both forms of `changePassword`.
@Suite struct ChangingPasswordsTests {
    let vaults: TestVaults
    let vault: DataVault

    init() throws {
        vaults = try TestVaults()
        vault = try vaults.crm()
        try vault.setString("text", value: "value")
        try vault.setValue("bytes", value: [1, 2, 3])
    }

    /// Returns all encrypted values of the file.
    private func sealed() throws -> Set<[UInt8]> {
        try vaults.change(#require(vaults.files().first)) { connection in
            let rows = try connection.rows("SELECT name, value FROM entry") + connection.rows("SELECT sealed_key, salt FROM vault")
            return Set(rows.flatMap { $0.compactMap(\.blob) })
        }
    }

    private func expectValues(_ password: String?, _ salt: String?) throws {
        let other = try vaults.otherCRM()
        try other.unlock(password, salt: salt)
        #expect(try other.string("text") == "value" && other.value("bytes") == [1, 2, 3])
        #expect(try other.dataNames().map(\.name) == ["bytes", "text"])
    }

    @Test("VLT-19: the password of an unlocked vault is changed; everything in it is encrypted anew, and the former password opens nothing")
    func change() throws {
        let before = try sealed()
        try vault.changePassword("new", salt: "new salt")
        let after = try sealed()
        #expect(before.count == 6 && after.count == 6 && before.isDisjoint(with: after))
        #expect(try !vault.isLocked && vault.string("text") == "value")
        #expect(failure { try vaults.otherCRM().unlock("good", salt: "salt") }?.reason == .invalidPassword)
        #expect(failure { try vaults.otherCRM().unlock("new", salt: "salt") }?.reason == .invalidPassword)
        try expectValues("new", "new salt")
        try vault.changePassword("newer")
        try expectValues("newer", nil)
    }

    @Test("VLT-19: a locked vault, or an empty new password, is an error, and everything stays as it was")
    func refused() throws {
        let before = try vaults.contents()
        let empty = failure { try vault.changePassword("", salt: "salt") }
        #expect(empty?.code == .passwordRequired && empty?.reason == .incompatiblePassword)
        #expect(!vault.isLocked)
        vault.lock()
        #expect(failure { try vault.changePassword("new") }?.code == .locked)
        #expect(failure { try vault.changePassword("") }?.code == .locked)
        #expect(try vaults.contents() == before)
        try expectValues("good", "salt")
    }

    @Test("VLT-19: a change that cannot be finished leaves the vault with its former password and values")
    func interrupted() throws {
        try vaults.change(#require(vaults.files().first)) { connection in
            try connection.execute(
                "CREATE TRIGGER full BEFORE INSERT ON entry WHEN NEW.id = 2 BEGIN SELECT RAISE(ABORT, 'no space left'); END")
        }
        let before = try sealed()
        let error = failure { try vault.changePassword("new") }
        #expect(error?.reason == .ioWrite && error?.cause is StoreError)
        #expect(failure { try vault.changePassword(current: "good", currentSalt: "salt", new: "new", newSalt: nil) }?.reason == .ioWrite)
        #expect(try sealed() == before)
        #expect(try !vault.isLocked && vault.string("text") == "value")
        try expectValues("good", "salt")
    }

    @Test("VLT-19: another object that is unlocked is locked by a change of the password")
    func othersAreLocked() throws {
        let other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        try vault.changePassword("new")
        #expect(failure { try other.string("text") }?.code == .locked)
        #expect(other.isLocked)
        try other.unlock("new")
        #expect(try other.string("text") == "value")
    }

    @Test("VLT-20: the password of a locked vault is changed with the current one, and the vault is unlocked then", arguments: [false, true])
    func withCurrent(isUnlocked: Bool) throws {
        if !isUnlocked { vault.lock() }
        let before = try sealed()
        try vault.changePassword(current: "good", currentSalt: "salt", new: "new", newSalt: "new salt")
        #expect(try before.isDisjoint(with: sealed()))
        #expect(try !vault.isLocked && vault.string("text") == "value")
        #expect(failure { try vaults.otherCRM().unlock("good", salt: "salt") }?.reason == .invalidPassword)
        try expectValues("new", "new salt")
    }

    @Test("VLT-20: a wrong current password is InvalidPassword, counts as a failed unlock, and changes nothing")
    func wrongCurrent() throws {
        try vault.setRetryLimit(3)
        vault.lock()
        for (current, salt) in [("bad", "salt"), ("good", "pepper")] {
            let error = failure { try vault.changePassword(current: current, currentSalt: salt, new: "new", newSalt: nil) }
            #expect(error?.code == .invalidPassword && error?.reason == .invalidPassword)
            #expect(vault.isLocked)
        }
        #expect(failure { try vault.unlock("bad") }?.code == .retryLimitReached)
    }

    @Test("VLT-20: what is not given is the default, for each of the four")
    func defaults() throws {
        try vault.changePassword(current: "good", currentSalt: "salt", new: nil, newSalt: nil)
        try expectValues(nil, nil)
        try vault.changePassword(current: nil, currentSalt: nil, new: "password!1A", newSalt: nil)
        try expectValues("password!1A", nil)
        try vault.changePassword(current: "password!1A", currentSalt: nil, new: nil, newSalt: "salt")
        try expectValues(nil, "salt")
    }

    @Test("VLT-12 VLT-20: the new password is checked against the policy before the current one is tried")
    func policyFirst() throws {
        try vault.setPasswordPolicy(PasswordPolicy(minLength: 6, retryLimit: 1))
        for current in ["good", "bad"] {
            let short = failure { try vault.changePassword(current: current, currentSalt: "salt", new: "short", newSalt: nil) }
            #expect(short?.code == .passwordUnderMinLength && short?.reason == .incompatiblePassword)
            let none = failure { try vault.changePassword(current: current, currentSalt: "salt", new: nil, newSalt: nil) }
            #expect(none?.code == .passwordRequired && none?.reason == .incompatiblePassword)
        }
        #expect(vault.isLocked)
        try vault.changePassword(current: "good", currentSalt: "salt", new: "longer", newSalt: nil)
        try expectValues("longer", nil)
        let error = failure { try vault.changePassword("short") }
        #expect(error?.code == .passwordUnderMinLength && error?.reason == .incompatiblePassword)
        try expectValues("longer", nil)
    }

    @Test("a change of the password does not lock the object for its other threads")
    func sameObject() async throws {
        let vault = vault
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for number in 0..<5 { try await vault.changePassword("new \(number)") } }
            for _ in 0..<30 {
                group.addTask {
                    let text = try await vault.string("text")
                    #expect(text == "value")
                }
            }
            try await group.waitForAll()
        }
        try expectValues("new 4", nil)
    }
}
