import MobileVault
import Testing

/// The `async` methods, which do not block.
@Suite struct AsyncVaultsTests {
    @Test("every blocking call has an async twin that does the same")
    func twins() async throws {
        let vaults = try TestVaults(), directory = vaults.directory()
        #expect(await !DataVault.vaultExists("crm", in: directory))
        #expect(try await !DataVault.checkVaultExists("crm", in: directory))
        let vault = try await DataVault.createVault("crm", password: "good", salt: "salt", in: directory)
        #expect(await DataVault.vaultExists("crm", in: directory))
        try await vault.setString("text", value: "value")
        try await vault.setValue("bytes", value: [1])
        #expect(try await vault.string("text") == "value")
        #expect(try await vault.value("bytes") == [1])
        #expect(try await vault.dataNames().map(\.name) == ["bytes", "text"])
        #expect(try await vault.deleteValue("bytes"))
        try await vault.setLockTimeout(60)
        try await vault.setRetryLimit(9)
        #expect(try await vault.lockTimeout() == 60)
        #expect(try await vault.retryLimit() == 9)
        try await vault.setPasswordPolicy(PasswordPolicy(minLength: 3))
        #expect(vault.isLocked)
        await #expect(throws: DataVaultError.self) { try await vault.unlock("bad") }
        try await vault.unlock("good", salt: "salt")
        #expect(try await vault.passwordPolicy() == PasswordPolicy(minLength: 3))
        try await vault.changePassword("new")
        try await vault.changePassword(current: "new", currentSalt: nil, new: "newer", newSalt: "salt")
        let other = try await DataVault.getVault("crm", in: directory)
        try await other.unlock("newer", salt: "salt")
        #expect(try await other.string("text") == "value")
        try await DataVault.deleteVault("crm", in: directory)
        #expect(try await !DataVault.checkVaultExists("crm", in: directory))
    }

    /// Runs the code of the article "A login screen".
    private func logIn(password: String, in directory: VaultDirectory, opened: (DataVault) -> Void) async throws -> [UInt8]? {
        let vault =
            if await DataVault.vaultExists("crm", in: directory) {
                try await DataVault.getVault("crm", in: directory)
            } else {
                try await DataVault.createVault("crm", password: password, in: directory)
            }
        opened(vault)
        defer { vault.lock() }
        do {
            try await vault.unlock(password)
        } catch DataVaultError.Code.retryLimitReached {
            return nil
        }
        return try await vault.value("database key")
    }

    @Test("VLT-01 VLT-41: the login of the article opens the application for its user alone, and leaves the vault locked in any case")
    func loginScreen() async throws {
        let vaults = try TestVaults(), directory = vaults.directory()
        var opened: [DataVault] = []
        #expect(try await logIn(password: "good", in: directory) { opened.append($0) } == nil)
        let vault = try await DataVault.getVault("crm", in: directory)
        try await vault.unlock("good")
        try await vault.setValue("database key", value: [1, 2, 3])
        try await vault.setRetryLimit(2)
        #expect(try await logIn(password: "good", in: directory) { opened.append($0) } == [1, 2, 3])
        await #expect(throws: DataVaultError.self) { _ = try await logIn(password: "bad", in: directory) { opened.append($0) } }
        #expect(try await logIn(password: "bad", in: directory) { opened.append($0) } == nil)
        #expect(await !DataVault.vaultExists("crm", in: directory))
        #expect(opened.count == 4 && opened.allSatisfy(\.isLocked))
    }
}
