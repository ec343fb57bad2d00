import Foundation
import MobileVault
import Testing

/// SMP 2.3, `SUPDataVault.setAccessGroup`, and the sample that cleans up after an earlier installation.
@Suite struct SharedVaultsTests {
    let vaults: TestVaults

    init() throws { vaults = try TestVaults() }

    @Test("VLT-21: applications that name the same group share its vaults; others do not see them")
    func accessGroup() throws {
        let one = vaults.directory(group: "com.example.DataVault"), two = vaults.directory(group: "com.example.DataVault")
        let vault = try DataVault.createVault("shared", password: "good", in: one)
        try vault.setRetryLimit(3)
        try vault.setString("name", value: "from one")
        let other = try DataVault.getVault("shared", in: two)
        #expect(failure { try other.unlock("bad") }?.code == .invalidPassword)
        #expect(failure { try vault.unlock("bad") }?.code == .invalidPassword)
        try other.unlock("good")
        #expect(try other.string("name") == "from one")
        try other.setString("name", value: "from two")
        #expect(try vault.string("name") == "from two")
        for stranger in [vaults.directory(), vaults.directory(group: "com.example.Other"), vaults.directory(group: "")] {
            #expect(!DataVault.vaultExists("shared", in: stranger))
            _ = try DataVault.createVault("shared", password: nil, in: stranger)
            try DataVault.deleteVault("shared", in: stranger)
        }
        #expect(try vault.string("name") == "from two")
        try DataVault.deleteVault("shared", in: two)
        #expect(failure { try vault.string("name") }?.reason == .doesNotExist)
    }

    @Test("VLT-21: a group's name is any text and stays inside of the directory", arguments: ["../../out", "/", "a/b", "Größe"])
    func anyGroup(name: String) throws {
        let directory = vaults.directory(group: name)
        _ = try DataVault.createVault("shared", password: nil, in: directory)
        #expect(DataVault.vaultExists("shared", in: directory))
        #expect(try vaults.files().count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: vaults.path) == ["vaults"])
    }

    @Test("a directory is made for its owner alone; one that is there keeps its rights")
    func permissions() throws {
        func rights(_ path: String) throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
        }
        _ = try vaults.crm()
        #expect(try rights(vaults.directory().path) == 0o700)
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: vaults.directory().path)
        _ = try DataVault.createVault("erp", password: nil, in: vaults.directory())
        #expect(try rights(vaults.directory().path) == 0o770)
    }

    /// Runs the sample's code for the start of the application. Returns the open vault.
    private func start(messagingDatabase: String) throws -> DataVault {
        let directory = vaults.directory()
        if !FileManager.default.fileExists(atPath: messagingDatabase) {
            do { try DataVault.deleteVault("messaging", in: directory) } catch DataVaultError.Code.doesNotExist {
                // No earlier installation exists.
            }
        }
        let vault: DataVault
        do { vault = try DataVault.getVault("messaging", in: directory) } catch let error as DataVaultError where error.reason == .doesNotExist {
            vault = try DataVault.createVault("messaging", password: "standard password", salt: "standard salt", in: directory)
        }
        if vault.isLocked { try vault.unlock("standard password", salt: "standard salt") }
        return vault
    }

    @Test("VLT-40: a vault that an earlier installation left is replaced at start, one of this installation is kept")
    func leftOverVault() throws {
        let database = "\(vaults.path)/messaging.db"
        let first = try start(messagingDatabase: database)
        try first.changePassword("a password of the earlier user")
        try first.setString("secret", value: "of the earlier user")

        // Installed again: the vault exists, the database does not.
        let second = try start(messagingDatabase: database)
        #expect(try second.dataNames() == [])
        try second.setString("secret", value: "of this user")
        #expect(FileManager.default.createFile(atPath: database, contents: Data()))
        #expect(try start(messagingDatabase: database).string("secret") == "of this user")
        #expect(failure { try first.string("secret") }?.code == .locked)

        // A password was set, so the standard one does not open the vault.
        try second.changePassword("mine")
        #expect(failure { try start(messagingDatabase: database) }?.reason == .invalidPassword)
    }
}
