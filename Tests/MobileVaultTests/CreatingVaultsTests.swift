import Foundation
import MobileVault
import Testing

/// SMP 2.3, `SUPDataVault`: names, creating, finding, deleting.
@Suite struct CreatingVaultsTests {
    let vaults: TestVaults

    init() throws { vaults = try TestVaults() }

    @Test("VLT-03: a new vault is unlocked, empty, without policy and limits, and opens again with its password and salt")
    func newVault() throws {
        let vault = try vaults.crm()
        #expect(vault.name == "crm")
        #expect(!vault.isLocked)
        #expect(try vault.dataNames() == [])
        #expect(try vault.passwordPolicy() == PasswordPolicy())
        #expect(try vault.lockTimeout() == 0 && vault.retryLimit() == 0)
        try vaults.otherCRM().unlock("good", salt: "salt")
    }

    @Test(
        "VLT-03 VLT-15: where password or salt are not given, a default takes their place, in creating as in unlocking",
        arguments: [(nil, nil), ("good", nil), (nil, "salt"), ("good", "salt")] as [(String?, String?)])
    func defaults(password: String?, salt: String?) throws {
        let directory = vaults.directory()
        _ = try DataVault.createVault("one", password: password, salt: salt, in: directory)
        let vault = try DataVault.getVault("one", in: directory)
        for (other, otherSalt) in [(nil, nil), ("good", nil), (nil, "salt"), ("good", "salt")] as [(String?, String?)]
        where other != password || otherSalt != salt {
            #expect(failure { try vault.unlock(other, salt: otherSalt) }?.reason == .invalidPassword)
        }
        try vault.unlock(password, salt: salt)
        #expect(!vault.isLocked)
    }

    @Test("VLT-03: an empty name is no name, and nothing is made")
    func emptyName() throws {
        let error = failure { try DataVault.createVault("", password: "x", in: vaults.directory()) }
        #expect(error?.code == .invalidArgument && error?.reason == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: vaults.directory().path))
    }

    @Test(
        "VLT-03: any other name is one of its own",
        arguments: ["a", "A", " ", "../../etc/passwd", "a/b", "名前", "\u{0}", "a\u{301}"], [1, 1000])
    func anyName(piece: String, count: Int) throws {
        let name = String(repeating: piece, count: count)
        let directory = vaults.directory()
        let vault = try DataVault.createVault(name, password: "x", in: directory)
        try vault.setString("key", value: name)
        _ = try DataVault.createVault("another", password: "x", in: directory)
        let again = try DataVault.getVault(name, in: directory)
        try again.unlock("x")
        #expect(try again.string("key") == name)
        #expect(try vaults.files().count == 2)
    }

    @Test("VLT-04: a name that exists is refused, with the documented code and the documented reason, and the vault stays as it is")
    func duplicateName() throws {
        let vault = try vaults.crm()
        try vault.setString("key", value: "value")
        let before = try vaults.contents()
        let error = failure { try DataVault.createVault("crm", password: "other", in: vaults.directory()) }
        #expect(error?.code == .invalidArgument && error?.reason == .alreadyExists)
        #expect(error?.message == "there is a vault \"crm\" already")
        #expect(try vaults.contents() == before)
        #expect(try vault.string("key") == "value")
    }

    @Test("VLT-04: two spellings of an accented letter are one name")
    func canonicalNames() throws {
        _ = try DataVault.createVault("caf\u{E9}", password: "x", in: vaults.directory())
        #expect(failure { try DataVault.createVault("cafe\u{301}", password: "x", in: vaults.directory()) }?.reason == .alreadyExists)
        try DataVault.getVault("cafe\u{301}", in: vaults.directory()).unlock("x")
    }

    @Test("VLT-05 VLT-06: a vault exists from its creation to its deletion, locked or not; asking makes none")
    func exists() throws {
        let directory = vaults.directory()
        #expect(!DataVault.vaultExists("crm", in: directory))
        #expect(try !DataVault.checkVaultExists("crm", in: directory))
        #expect(!FileManager.default.fileExists(atPath: directory.path))
        let vault = try vaults.crm()
        for _ in 0..<2 {
            #expect(DataVault.vaultExists("crm", in: directory))
            #expect(try DataVault.checkVaultExists("crm", in: directory))
            vault.lock()
        }
        #expect(!DataVault.vaultExists("CRM", in: directory))
        try DataVault.deleteVault("crm", in: directory)
        #expect(!DataVault.vaultExists("crm", in: directory))
        #expect(try !DataVault.checkVaultExists("crm", in: directory))
    }

    @Test("VLT-05 VLT-06: of vaults that cannot be reached the one question says no, the other throws IORead")
    func unreachable() throws {
        _ = try vaults.crm()
        // Another process holds the directory and does not release it.
        try vaults.whileLocked {
            let directory = vaults.directory(timeout: .zero)
            #expect(!DataVault.vaultExists("crm", in: directory))
            let error = failure { try DataVault.checkVaultExists("crm", in: directory) }
            #expect(error?.code == .busy && error?.reason == .ioRead)
        }
        #expect(DataVault.vaultExists("crm", in: vaults.directory()))

        let noDirectory = VaultDirectory(try #require(vaults.files().first))
        #expect(!DataVault.vaultExists("crm", in: noDirectory))
        let error = failure { try DataVault.checkVaultExists("crm", in: noDirectory) }
        #expect(error?.code == .unreadable && error?.reason == .ioRead)
    }

    @Test("VLT-07: a vault is found by its name, locked; one that is not there is an error")
    func find() throws {
        #expect(failure { try vaults.otherCRM() }?.reason == .doesNotExist)
        _ = try vaults.crm()
        #expect(try vaults.otherCRM().isLocked)
        let error = failure { try DataVault.getVault("erp", in: vaults.directory()) }
        #expect(error?.code == .doesNotExist && error?.reason == .doesNotExist)
        #expect(error?.message == "there is no vault \"erp\"")
    }

    @Test("VLT-08: a vault is deleted without its password; objects that are left of it have no vault, and its name is free")
    func delete() throws {
        let vault = try vaults.crm()
        try vault.setString("key", value: "value")
        try DataVault.deleteVault("crm", in: vaults.directory())
        #expect(try vaults.files() == [])
        #expect(failure { try vault.string("key") }?.reason == .doesNotExist)
        #expect(vault.isLocked)
        #expect(failure { try vault.unlock("good", salt: "salt") }?.reason == .doesNotExist)
        let error = failure { try DataVault.deleteVault("crm", in: vaults.directory()) }
        #expect(error?.code == .doesNotExist && error?.reason == .doesNotExist)
        let new = try DataVault.createVault("crm", password: "new", in: vaults.directory())
        #expect(try new.dataNames() == [])
    }

    @Test("an object of a deleted vault has nothing to do with the next one of that name")
    func recreated() throws {
        let old = try vaults.crm()
        try DataVault.deleteVault("crm", in: vaults.directory())
        let new = try vaults.crm()
        #expect(failure { try old.setString("key", value: "old") }?.code == .locked)
        #expect(old.isLocked && !new.isLocked)
        #expect(try new.dataNames() == [])
    }

    @Test("VLT-08: the deletion of one vault leaves the others alone")
    func deleteOne() throws {
        let vault = try vaults.crm()
        try vault.setString("key", value: "value")
        _ = try DataVault.createVault("erp", password: nil, in: vaults.directory())
        try DataVault.deleteVault("erp", in: vaults.directory())
        #expect(try vault.string("key") == "value")
    }
}
