import MobileStore
import MobileVault
import Testing

/// SMP 2.3, `SUPDataVault`: `unlock:withSalt:`, lock timeout and retry limit.
@Suite struct UnlockingTests {
    let vaults: TestVaults
    let vault: DataVault

    init() throws {
        vaults = try TestVaults()
        vault = try vaults.crm()
        try vault.setString("name", value: "value")
    }

    @Test(
        "VLT-15: a wrong password or salt is InvalidPassword and leaves the vault locked; the right ones open it",
        arguments: [("bad", "salt"), ("good", "pepper"), ("good ", "salt"), ("Good", "salt"), (nil, "salt"), ("good", nil), ("", "salt")]
            as [(String?, String?)])
    func wrongPassword(password: String?, salt: String?) throws {
        vault.lock()
        let error = failure { try vault.unlock(password, salt: salt) }
        #expect(error?.code == .invalidPassword && error?.reason == .invalidPassword)
        #expect(error?.message == "vault \"crm\": password or salt are wrong")
        #expect(vault.isLocked)
        try vault.unlock("good", salt: "salt")
        #expect(try vault.string("name") == "value")
    }

    @Test("a failed unlocking of an unlocked vault leaves it unlocked")
    func stillUnlocked() throws {
        #expect(failure { try vault.unlock("bad") }?.reason == .invalidPassword)
        #expect(try vault.string("name") == "value")
    }

    @Test("VLT-22: a vault locks itself the set seconds after unlocking, however it was used meanwhile")
    func autoLock() throws {
        try vault.setLockTimeout(10)
        vault.lock()
        try vault.unlock("good", salt: "salt")
        #expect(try vault.lockTimeout() == 10)
        vaults.passSeconds(9)
        #expect(try vault.string("name") == "value")
        #expect(!vault.isLocked)
        vaults.passSeconds(1)
        #expect(failure { try vault.string("name") }?.code == .locked)
        #expect(vault.isLocked)
        try vault.unlock("good", salt: "salt")
        vaults.passSeconds(9)
        #expect(!vault.isLocked)
        vaults.passSeconds(1)
        #expect(vault.isLocked)
    }

    @Test("VLT-22: a timeout that is set counts from the present unlocking, for every object; 0 switches it off")
    func timeoutInForce() throws {
        let other = try vaults.otherCRM()
        try other.unlock("good", salt: "salt")
        vaults.passSeconds(5)
        try vault.setLockTimeout(7)
        #expect(try other.string("name") == "value")
        vaults.passSeconds(1)
        #expect(!vault.isLocked && !other.isLocked)
        vaults.passSeconds(1)
        #expect(vault.isLocked && other.isLocked)
        try vault.unlock("good", salt: "salt")
        try vault.setLockTimeout(0)
        vaults.passSeconds(1_000_000)
        #expect(!vault.isLocked)
    }

    @Test("VLT-22: setting the clock of the day back or forth changes nothing")
    func monotonic() throws {
        try vault.setLockTimeout(10)
        vaults.passDays(400)
        #expect(!vault.isLocked)
        vaults.passDays(-800)
        vaults.passSeconds(10)
        #expect(vault.isLocked)
    }

    @Test("VLT-22 VLT-23: a policy's timeout and limit come before those of the vault, also where they are 0")
    func policyFirst() throws {
        try vault.setLockTimeout(10)
        try vault.setRetryLimit(1)
        try vault.setPasswordPolicy(PasswordPolicy(lockTimeout: 20, retryLimit: 2))
        #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword)
        try vault.unlock("good", salt: "salt")
        #expect(try vault.lockTimeout() == 20 && vault.retryLimit() == 2)
        vaults.passSeconds(19)
        #expect(!vault.isLocked)
        vaults.passSeconds(1)
        #expect(vault.isLocked)
        try vault.unlock("good", salt: "salt")
        try vault.setLockTimeout(5)
        vaults.passSeconds(19)
        #expect(try vault.lockTimeout() == 20)
        try vault.setPasswordPolicy(PasswordPolicy())
        for _ in 0..<5 { #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword) }
        try vault.unlock("good", salt: "salt")
        vaults.passSeconds(1000)
        #expect(!vault.isLocked)
    }

    @Test("VLT-15 VLT-23: the failure that reaches the limit deletes the vault and everything in it", arguments: [1, 2, 5])
    func retryLimit(limit: Int) throws {
        try vault.setRetryLimit(limit)
        #expect(try vault.retryLimit() == limit)
        vault.lock()
        for _ in 1..<limit {
            #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword)
            #expect(DataVault.vaultExists("crm", in: vaults.directory()))
        }
        let error = failure { try vault.unlock("bad") }
        #expect(error?.code == .retryLimitReached && error?.reason == .invalidPassword)
        #expect(try !DataVault.checkVaultExists("crm", in: vaults.directory()))
        #expect(try vaults.files() == [])
        #expect(failure { try vault.unlock("good", salt: "salt") }?.reason == .doesNotExist)
    }

    @Test("VLT-23: the count is common to all objects of the vault and survives each of them; it begins anew with every success")
    func commonCount() throws {
        try vault.setRetryLimit(4)
        for _ in 0..<3 { #expect(failure { try vaults.otherCRM().unlock("bad") }?.code == .invalidPassword) }
        try vaults.otherCRM().unlock("good", salt: "salt")
        for _ in 0..<3 { #expect(failure { try vaults.otherCRM().unlock("bad") }?.code == .invalidPassword) }
        #expect(!vault.isLocked)
        #expect(failure { try vault.unlock("bad") }?.code == .retryLimitReached)
        #expect(vault.isLocked)
        #expect(failure { try vaults.otherCRM() }?.reason == .doesNotExist)
    }

    @Test("VLT-23: a try is in the file before its password is looked at, and no answer is given without it")
    func countedFirst() throws {
        let file = try #require(vaults.files().first)
        func failed() throws -> Int64? { try vaults.change(file) { try $0.first("SELECT failed FROM vault") }?.first?.integer }
        let other = try vaults.otherCRM()
        // Without writing, the right password and a wrong one get the same answer.
        try vaults.change(file) { try $0.execute("CREATE TRIGGER full BEFORE INSERT ON vault BEGIN SELECT RAISE(ABORT, 'full'); END") }
        let answers = [failure { try other.unlock("good", salt: "salt") }, failure { try other.unlock("bad", salt: "salt") }]
        #expect(answers.allSatisfy { $0?.code == .unwritable && $0?.reason == .ioWrite } && answers[0]?.message == answers[1]?.message)
        #expect(try other.isLocked && failed() == 0)
        // The success cannot be written: until then the file has only the attempt.
        try vaults.change(file) {
            try $0.execute(
                "DROP TRIGGER full; CREATE TRIGGER full BEFORE INSERT ON vault WHEN NEW.failed = 0 BEGIN SELECT RAISE(ABORT, 'full'); END")
        }
        #expect(failure { try other.unlock("good", salt: "salt") }?.code == .unwritable)
        #expect(try other.isLocked && failed() == 1)
        try vaults.change(file) { try $0.execute("DROP TRIGGER full") }
        try other.unlock("good", salt: "salt")
        #expect(try failed() == 0)
    }

    @Test("VLT-23: when the process ended in the middle of the last try, there is none left, not even for the right password")
    func lastTryBegun() throws {
        try vault.setRetryLimit(3)
        try vaults.change(#require(vaults.files().first)) { try $0.execute("UPDATE vault SET failed = 2") }
        try vaults.otherCRM().unlock("good", salt: "salt")
        try vaults.change(#require(vaults.files().first)) { try $0.execute("UPDATE vault SET failed = 3") }
        #expect(failure { try vaults.otherCRM().unlock("good", salt: "salt") }?.code == .retryLimitReached)
        #expect(try vaults.files() == [])
    }

    @Test("VLT-23: setting a limit gives all of its tries")
    func newLimit() throws {
        let other = try vaults.otherCRM()
        for _ in 0..<5 { #expect(failure { try other.unlock("bad") }?.code == .invalidPassword) }
        try vault.setRetryLimit(2)
        #expect(failure { try other.unlock("bad") }?.code == .invalidPassword)
        try other.unlock("good", salt: "salt")
        #expect(failure { try other.unlock("bad") }?.code == .invalidPassword)
        try vault.setPasswordPolicy(PasswordPolicy(retryLimit: 1))
        try other.unlock("good", salt: "salt")
    }

    @Test("timeout and limit are set on an unlocked vault, to 0 or more; otherwise they stay")
    func refusedSettings() throws {
        try vault.setLockTimeout(100)
        try vault.setRetryLimit(9)
        for error in [failure { try vault.setLockTimeout(-1) }, failure { try vault.setRetryLimit(.min) }] {
            #expect(error?.code == .invalidArgument && error?.reason == .invalidArgument)
        }
        vault.lock()
        for error in [
            failure { try vault.setLockTimeout(5) }, failure { try vault.setRetryLimit(5) }, failure { _ = try vault.lockTimeout() },
            failure { _ = try vault.retryLimit() },
        ] { #expect(error?.code == .locked) }
        try vault.unlock("good", salt: "salt")
        #expect(try vault.lockTimeout() == 100 && vault.retryLimit() == 9)
        try vault.setLockTimeout(.max)
        try vault.setRetryLimit(.max)
        #expect(!vault.isLocked)
        #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword)
    }
}
