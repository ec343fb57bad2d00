internal import MobileExecution

// The `async` twins: deriving a key and reading files run on threads that may wait.
extension DataVault {
    /// The `async` twin of `createVault`.
    public static func createVault(
        _ name: String, password: String?, salt: String? = nil, in directory: VaultDirectory
    ) async throws -> DataVault {
        try await BlockingWork.run { try createVault(name, password: password, salt: salt, in: directory) }
    }

    /// The `async` twin of `vaultExists`.
    public static func vaultExists(_ name: String, in directory: VaultDirectory) async -> Bool {
        do { return try await checkVaultExists(name, in: directory) } catch { return false }
    }

    /// The `async` twin of `checkVaultExists`.
    public static func checkVaultExists(_ name: String, in directory: VaultDirectory) async throws -> Bool {
        try await BlockingWork.run { try checkVaultExists(name, in: directory) }
    }

    /// The `async` twin of `getVault`.
    public static func getVault(_ name: String, in directory: VaultDirectory) async throws -> DataVault {
        try await BlockingWork.run { try getVault(name, in: directory) }
    }

    /// The `async` twin of `deleteVault`.
    public static func deleteVault(_ name: String, in directory: VaultDirectory) async throws {
        try await BlockingWork.run { try deleteVault(name, in: directory) }
    }

    /// The `async` twin of `unlock`.
    public func unlock(_ password: String?, salt: String? = nil) async throws {
        try await BlockingWork.run { try self.unlock(password, salt: salt) }
    }

    /// The `async` twin of `changePassword` for an unlocked vault.
    public func changePassword(_ newPassword: String, salt newSalt: String? = nil) async throws {
        try await BlockingWork.run { try self.changePassword(newPassword, salt: newSalt) }
    }

    /// The `async` twin of `changePassword` for a locked or unlocked vault.
    public func changePassword(current: String?, currentSalt: String?, new newPassword: String?, newSalt: String?) async throws {
        try await BlockingWork.run {
            try self.changePassword(current: current, currentSalt: currentSalt, new: newPassword, newSalt: newSalt)
        }
    }

    /// The `async` twin of `dataNames`.
    public func dataNames() async throws -> [DataName] { try await BlockingWork.run { try self.dataNames() } }

    /// The `async` twin of `setString`.
    public func setString(_ name: String, value: String) async throws {
        try await BlockingWork.run { try self.setString(name, value: value) }
    }

    /// The `async` twin of `string`.
    public func string(_ name: String) async throws -> String? { try await BlockingWork.run { try self.string(name) } }

    /// The `async` twin of `setValue`.
    public func setValue(_ name: String, value: [UInt8]) async throws {
        try await BlockingWork.run { try self.setValue(name, value: value) }
    }

    /// The `async` twin of `value`.
    public func value(_ name: String) async throws -> [UInt8]? { try await BlockingWork.run { try self.value(name) } }

    /// The `async` twin of `deleteValue`.
    @discardableResult
    public func deleteValue(_ name: String) async throws -> Bool { try await BlockingWork.run { try self.deleteValue(name) } }

    /// The `async` twin of `setPasswordPolicy`.
    public func setPasswordPolicy(_ policy: PasswordPolicy) async throws {
        try await BlockingWork.run { try self.setPasswordPolicy(policy) }
    }

    /// The `async` twin of `passwordPolicy`.
    public func passwordPolicy() async throws -> PasswordPolicy { try await BlockingWork.run { try self.passwordPolicy() } }

    /// The `async` twin of `setLockTimeout`.
    public func setLockTimeout(_ seconds: Int) async throws { try await BlockingWork.run { try self.setLockTimeout(seconds) } }

    /// The `async` twin of `lockTimeout`.
    public func lockTimeout() async throws -> Int { try await BlockingWork.run { try self.lockTimeout() } }

    /// The `async` twin of `setRetryLimit`.
    public func setRetryLimit(_ failures: Int) async throws { try await BlockingWork.run { try self.setRetryLimit(failures) } }

    /// The `async` twin of `retryLimit`.
    public func retryLimit() async throws -> Int { try await BlockingWork.run { try self.retryLimit() } }
}
