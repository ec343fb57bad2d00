internal import MobileCrypto
internal import MobileStore

extension DataVault {
    /// Stores the policy of an unlocked vault and locks every object of it: only the next unlocking sees the present password and can check it
    /// against the policy. Later passwords are checked when they are set. SMP 2.3: `setPasswordPolicy:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/invalidArgument`` for a negative number, ``DataVaultError/Code/locked``; the vault
    ///   then keeps its policy and its state.
    public func setPasswordPolicy(_ policy: PasswordPolicy) throws {
        for number in policy.numbers { try check(number.name, number.value) }
        try unlocked(.writing) { connection, header, _ in
            try policy.write(to: connection)
            header.stamp = try self.directory.environment.randomBytes(16)
            header.failed = 0
            try header.write(to: connection)
        }
        lock()
    }

    /// The policy of the unlocked vault; if none was set, one with default values. SMP 2.3: `getPasswordPolicy`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, reason ``DataVaultError/Reason/ioRead``.
    public func passwordPolicy() throws -> PasswordPolicy {
        try unlocked(.reading) { connection, _, _ in try PasswordPolicy.read(from: connection, of: self.name) ?? PasswordPolicy() }
    }

    /// Sets the time after which the vault locks itself, counted from unlocking, for the present unlocking too. SMP 2.3: `setLockTimeout`.
    /// - Parameter seconds: 0 (the value of a new vault) for never. A policy's ``PasswordPolicy/lockTimeout`` takes precedence.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, ``DataVaultError/Code/invalidArgument`` for a negative number.
    public func setLockTimeout(_ seconds: Int) throws {
        try check("lockTimeout", seconds)
        let inForce = try unlocked(.writing) { connection, header, _ in
            header.lockTimeout = seconds
            try header.write(to: connection)
            return try PasswordPolicy.read(from: connection, of: self.name)?.lockTimeout ?? seconds
        }
        change { $0.lockTimeout = inForce }
    }

    /// Seconds from unlocking until the vault locks itself, 0 for never: the policy's value, otherwise that of `setLockTimeout(_:)`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, reason ``DataVaultError/Reason/ioRead``.
    public func lockTimeout() throws -> Int {
        try unlocked(.reading) { connection, header, _ in
            try PasswordPolicy.read(from: connection, of: self.name)?.lockTimeout ?? header.lockTimeout
        }
    }

    /// Sets the number of failed unlocks after which the vault is deleted; the count begins again. SMP 2.3: `setRetryLimit`.
    /// - Parameter failures: 0 (the value of a new vault) for no limit. A policy's ``PasswordPolicy/retryLimit`` takes precedence.
    /// - Throws: as `setLockTimeout(_:)`.
    public func setRetryLimit(_ failures: Int) throws {
        try check("retryLimit", failures)
        try unlocked(.writing) { connection, header, _ in
            header.retryLimit = failures
            header.failed = 0
            try header.write(to: connection)
        }
    }

    /// The number of failed unlocks after which the vault is deleted, 0 for no limit: the policy's value, otherwise that of `setRetryLimit(_:)`.
    /// - Throws: as `lockTimeout()`.
    public func retryLimit() throws -> Int {
        try unlocked(.reading) { connection, header, _ in
            try PasswordPolicy.read(from: connection, of: self.name)?.retryLimit ?? header.retryLimit
        }
    }

    private func check(_ what: String, _ number: Int) throws(DataVaultError) {
        guard number >= 0 else {
            throw DataVaultError(.invalidArgument, .invalidArgument, "vault \"\(name)\": \(what) \(number): use 0 or more")
        }
    }
}
