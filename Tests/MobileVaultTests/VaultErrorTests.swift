import Foundation
import MobileVault
import Testing

/// SMP 2.3, `SUPDataVaultException`.
@Suite struct VaultErrorTests {
    let vaults: TestVaults

    init() throws { vaults = try TestVaults() }

    @Test("VLT-39: a vault's error has a code, a message and one of the documented reasons; as NSError its user info has number and message")
    func contents() throws {
        _ = try vaults.crm()
        let errors: [(DataVaultError?, String, Int)] = [
            (failure { try vaults.crm() }, "AlreadyExists", 3001),
            (failure { try DataVault.getVault("erp", in: vaults.directory()) }, "DoesNotExist", 3002),
            (failure { try vaults.otherCRM().unlock("bad") }, "InvalidPassword", 3003),
            (failure { try DataVault.checkVaultExists("crm", in: VaultDirectory("\(vaults.path)/vaults/vaults.lock")) }, "IORead", 3007),
        ]
        for (error, reason, code) in errors {
            let error = try #require(error)
            #expect(error.reason.rawValue == reason && error.code.rawValue == code)
            #expect(!error.message.isEmpty && error.description == error.message)
            let seen = error as NSError
            #expect(seen.userInfo["ErrorCode"] as? Int == code)
            #expect(seen.userInfo["ErrorMessage"] as? String == error.message)
            #expect(seen.code == code && seen.localizedDescription == error.message)
        }
    }

    @Test(
        "ERR-19 VLT-31 VLT-32 VLT-33 VLT-34 VLT-35 VLT-36 VLT-37 VLT-38: broken rules of a policy have the numbers 50 to 57, in the order of the rules"
    )
    func numbers() throws {
        let vault = try DataVault.createVault("policed", password: "ä", in: vaults.directory())
        func broken(_ policy: PasswordPolicy, _ password: String?) throws -> Int? {
            let present = try DataVault.createVault("trial", password: password, in: vaults.directory())
            defer { do { try DataVault.deleteVault("trial", in: vaults.directory()) } catch { Issue.record(error) } }
            try present.setPasswordPolicy(policy)
            return failure { try present.unlock(password) }?.code.rawValue
        }
        let all = PasswordPolicy(minLength: 5, hasDigits: true, hasUpper: true, hasLower: true, hasSpecial: true, minUniqueChars: 5)
        let passwords: [String?] = [nil, "____", "_____", "1____", "1A___", "1Aa__", "1Aa-1"]
        #expect(try passwords.map { try broken(all, $0) } == [50, 51, 52, 53, 54, 55, 56])
        #expect(try broken(all, "1Aa-_") == nil)
        try vault.setPasswordPolicy(PasswordPolicy(expirationDays: 1))
        vaults.passDays(2)
        #expect(failure { try vault.unlock("ä") }?.code.rawValue == 57)
    }

    @Test("a kind of failure is caught by its code")
    func pattern() throws {
        do {
            _ = try DataVault.getVault("none", in: vaults.directory())
            Issue.record("there is no vault")
        } catch DataVaultError.Code.doesNotExist {
            #expect(!FileManager.default.fileExists(atPath: vaults.directory().path))
        }
    }

    @Test("no error contains a password, a salt or a value")
    func noSecrets() throws {
        let vault = try DataVault.createVault("crm", password: "pass-one", salt: "salt-one", in: vaults.directory())
        try vault.setString("name", value: "value-one")
        try vault.setPasswordPolicy(PasswordPolicy(minLength: 20))
        let errors = [
            failure { try vault.unlock("pass-two", salt: "salt-two") }, failure { try vault.unlock("pass-one", salt: "salt-one") },
            failure { try vault.changePassword(current: "pass-one", currentSalt: "salt-one", new: "pass-three", newSalt: nil) },
            failure { try vault.setString("name", value: "value-two") },
        ]
        for error in errors {
            let text = try "\(#require(error))"
            for secret in ["pass-", "salt-", "value-"] { #expect(!text.contains(secret)) }
        }
    }
}
