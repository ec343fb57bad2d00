import Foundation
import MobileStore
import MobileVault
import Testing

/// Damaged files: calls throw a typed error, repair nothing and cause no further loss.
@Suite struct DamagedVaultsTests {
    let vaults: TestVaults
    let file: String

    init() throws {
        vaults = try TestVaults()
        let vault = try vaults.crm()
        try vault.setString("one", value: "1")
        try vault.setString("two", value: "2")
        try vault.setRetryLimit(1)
        file = try #require(try vaults.files().first)
    }

    private func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: file)) }

    /// Expects that every call that reads the vault reports the damage, and that its file is unchanged.
    private func expectDamaged(at location: SourceLocation = #_sourceLocation) throws {
        let before = try vaults.contents()
        let directory = vaults.directory()
        #expect(!DataVault.vaultExists("crm", in: directory), sourceLocation: location)
        for error in [
            failure { try DataVault.checkVaultExists("crm", in: directory) }, failure { try vaults.otherCRM() },
            failure { try DataVault.createVault("crm", password: "x", in: directory) },
        ] {
            #expect(error?.code == .damaged && error?.reason == .ioRead, sourceLocation: location)
            #expect(error?.message.hasPrefix("vault \"crm\": ") == true, sourceLocation: location)
        }
        #expect(try vaults.contents() == before, sourceLocation: location)
    }

    @Test(
        "VLT-06: a file that is no vault is IORead and is left as it is; it can be deleted",
        arguments: [Data(), Data("not a vault".utf8), Data(repeating: 0, count: 10_000), Data(repeating: 0xFF, count: 5)])
    func noVault(content: Data) throws {
        try write(content)
        try expectDamaged()
        try DataVault.deleteVault("crm", in: vaults.directory())
        #expect(try vaults.files() == [])
        _ = try vaults.crm()
    }

    @Test("a file that is cut off, wherever, is damaged", arguments: [1, 15, 16, 99, 100, 4095, 4096, 8192])
    func truncated(count: Int) throws {
        try write(try #require(FileManager.default.contents(atPath: file)).prefix(count))
        try expectDamaged()
    }

    @Test("a database of somebody else is no vault, and nothing is written to it")
    func foreignDatabase() throws {
        try FileManager.default.removeItem(atPath: file)
        let database = try Database(ConnectionProfile(path: file, journal: .unchanged))
        try database.write { _ = try $0.execute("CREATE TABLE vault (id INTEGER); INSERT INTO vault VALUES (1)") }
        try database.close()
        try expectDamaged()
    }

    @Test("a vault of a later format is told from a damaged one by its message, and is left as it is")
    func laterFormat() throws {
        try vaults.change(file) { try $0.execute("PRAGMA user_version = 2") }
        try expectDamaged()
        let error = failure { try DataVault.checkVaultExists("crm", in: vaults.directory()) }
        #expect(error?.message == "vault \"crm\": the file has format 2; this release knows format 1; its file was left as it is")
    }

    @Test(
        "damage of what the password is checked with is no wrong password: it does not count, and deletes nothing",
        arguments: [
            "salt = zeroblob(16)", "seed = zeroblob(16)", "sealed_key = zeroblob(44)", "sealed_key = x''", "digest = zeroblob(32)", "n = 4",
            "n = 'many'", "r = -1", "failed = -1", "lock_timeout = 'never'", "retry_limit = -5", "password_set = 'today'", "stamp = 5",
        ])
    func damagedHeader(change: String) throws {
        let vault = try vaults.otherCRM()
        try vaults.change(file) { try $0.execute("UPDATE vault SET \(change)") }
        let before = try vaults.contents()
        for password in ["good", "bad"] {
            let error = failure { try vault.unlock(password, salt: "salt") }
            #expect(error?.code == .damaged && error?.reason == .ioRead)
        }
        #expect(try vaults.contents() == before)
        try expectDamaged()
    }

    @Test("a damaged policy opens nothing", arguments: ["min_length = -1", "retry_limit = 'none'", "digits = x'00'"])
    func damagedPolicy(change: String) throws {
        let vault = try vaults.otherCRM()
        try vault.unlock("good", salt: "salt")
        try vault.setPasswordPolicy(PasswordPolicy(minLength: 4))
        try vaults.change(file) { try $0.execute("UPDATE policy SET \(change)") }
        #expect(failure { try vault.unlock("good", salt: "salt") }?.code == .damaged)
        #expect(failure { try vault.changePassword(current: "good", currentSalt: "salt", new: "x", newSalt: nil) }?.code == .damaged)
    }

    @Test(
        "an entry that was changed or moved behind the vault's back is damaged, and only it",
        arguments: [
            "UPDATE entry SET value = (SELECT value FROM entry WHERE id = 2) WHERE id = 1", "UPDATE entry SET value = zeroblob(40) WHERE id = 1",
            "UPDATE entry SET value = x'' WHERE id = 1", "UPDATE entry SET value = 'text' WHERE id = 1",
        ])
    func damagedValue(sql: String) throws {
        let vault = try vaults.otherCRM()
        try vault.unlock("good", salt: "salt")
        try vaults.change(file) { try $0.execute(sql) }
        let error = failure { try vault.string("one") }
        #expect(error?.code == .damaged && error?.reason == .ioRead)
        #expect(try vault.string("two") == "2")
        #expect(failure { try vault.changePassword("new") }?.code == .damaged)
        try vaults.otherCRM().unlock("good", salt: "salt")
        try vault.setString("one", value: "again")
        #expect(try vault.string("one") == "again")
    }

    @Test(
        "a name that was changed or moved is damaged",
        arguments: [
            "UPDATE entry SET name = zeroblob(40) WHERE id = 1", "UPDATE entry SET name = (SELECT name FROM entry WHERE id = 2) WHERE id = 1",
            "UPDATE entry SET id = 3 WHERE id = 1", "UPDATE entry SET name = 5 WHERE id = 1",
        ])
    func damagedName(sql: String) throws {
        let vault = try vaults.otherCRM()
        try vault.unlock("good", salt: "salt")
        try vaults.change(file) { try $0.execute(sql) }
        #expect(failure { try vault.dataNames() }?.code == .damaged)
        #expect(failure { try vault.string("none") }?.code == .damaged)
    }

    @Test("what an interrupted deletion leaves is no vault: its name is free, and deleting it removes the rest")
    func interruptedDeletion() throws {
        try vaults.change(file) { try $0.execute("DELETE FROM vault") }
        #expect(try !DataVault.checkVaultExists("crm", in: vaults.directory()))
        #expect(failure { try vaults.otherCRM() }?.reason == .doesNotExist)
        #expect(failure { try DataVault.deleteVault("crm", in: vaults.directory()) }?.reason == .doesNotExist)
        #expect(try vaults.files() == [])
        let vault = try vaults.crm()
        try vaults.change(file) { try $0.execute("DELETE FROM vault") }
        #expect(failure { try vault.string("one") }?.reason == .doesNotExist)
        #expect(try vaults.crm().dataNames() == [])
    }

    @Test("what an interrupted creation or deletion leaves beside a vault's file does not get into the next vault")
    func leftOverFiles() throws {
        try DataVault.deleteVault("crm", in: vaults.directory())
        for suffix in ["-wal", "-shm", "-journal", "-draft", "-draft-wal"] {
            #expect(FileManager.default.createFile(atPath: file + suffix, contents: Data(repeating: 7, count: 5000)))
        }
        let vault = try vaults.crm()
        try vault.setString("name", value: "value")
        #expect(try vault.string("name") == "value")
        #expect(try vaults.contents().keys.sorted() == ["vaults.lock", URL(fileURLWithPath: file).lastPathComponent].sorted())
    }

    @Test("a directory in the place of a vault's file is an error, and stays")
    func directoryAsFile() throws {
        try FileManager.default.removeItem(atPath: file)
        try FileManager.default.createDirectory(atPath: file + "/inside", withIntermediateDirectories: true)
        for error in [
            failure { try DataVault.checkVaultExists("crm", in: vaults.directory()) },
            failure { try DataVault.deleteVault("crm", in: vaults.directory()) }, failure { try vaults.crm() },
        ] { #expect(error?.code == .unreadable && error?.reason == .ioRead) }
        #expect(FileManager.default.fileExists(atPath: file + "/inside"))
    }
}
