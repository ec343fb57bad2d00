import Foundation
import MobileVault

/// The code of the articles of MobileVault, to be compiled: see `ArticleSampleTests`.
private enum VaultArticleSamples {
    func overview(applicationSupport: String, password: String, key: [UInt8]) throws {
        let directory = VaultDirectory("\(applicationSupport)/vaults")
        let vault = try DataVault.createVault("crm", password: password, in: directory)
        defer { vault.lock() }
        try vault.setValue("database key", value: key)
    }

    func logIn(password: String, in directory: VaultDirectory) async throws -> [UInt8]? {
        let vault = if await DataVault.vaultExists("crm", in: directory) {
            try await DataVault.getVault("crm", in: directory)
        } else {
            try await DataVault.createVault("crm", password: password, in: directory)
        }
        defer { vault.lock() }
        do {
            try await vault.unlock(password)
        } catch DataVaultError.Code.retryLimitReached {
            return nil
        }
        return try await vault.value("database key")
    }

    func otherPassword(_ vault: DataVault, password: String, ask: (DataVaultError.Code) async throws -> String) async throws {
        func askForNewPassword(because code: DataVaultError.Code) async throws -> String { try await ask(code) }
        do {
            try await vault.unlock(password)
        } catch let error as DataVaultError where error.reason == .incompatiblePassword {
            let new = try await askForNewPassword(because: error.code)
            try await vault.changePassword(current: password, currentSalt: nil, new: new, newSalt: nil)
        }
    }

    func restoredFile(_ database: String, in directory: VaultDirectory) async throws {
        if !FileManager.default.fileExists(atPath: database) {
            do { try await DataVault.deleteVault("crm", in: directory) } catch DataVaultError.Code.doesNotExist {}
        }
    }
}
