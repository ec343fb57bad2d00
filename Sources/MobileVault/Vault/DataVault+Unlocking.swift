internal import MobileCrypto
internal import MobileStore

extension DataVault {
    /// Unlocks the vault, without limit or until the lock timeout, which counts from here. SMP 2.3: `unlock:withSalt:`.
    ///
    /// Every attempt is counted in the file before the password is checked, so that killing the process gives no further attempts. A right
    /// password sets the count to 0. A call that throws changes nothing else: an unlocked vault stays unlocked.
    /// - Parameters:
    ///   - password: nil or empty for the default one.
    ///   - salt: nil for the default one.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/invalidPassword`` for a wrong password or salt;
    ///   ``DataVaultError/Code/retryLimitReached``, of the same reason, if that was the last attempt and the vault has been deleted;
    ///   reason ``DataVaultError/Reason/incompatiblePassword`` with codes 50 to 57 if the password is right but violates the policy: then
    ///   change it with `changePassword(current:currentSalt:new:newSalt:)`. Also ``DataVaultError/Code/doesNotExist``, and the reasons
    ///   ``DataVaultError/Reason/ioRead`` and ``DataVaultError/Reason/ioWrite``.
    public func unlock(_ password: String?, salt: String? = nil) throws {
        try onFile(.writing) { file in
            try file.open { database in
                let password = VaultPassword(password)
                let (header, policy, key) = try self.verify(password, salt: salt, in: database, of: file)
                if let policy {
                    try policy.check(password)
                    try policy.checkAge(setAt: header.passwordSetAt, now: self.directory.environment.now())
                }
                self.begin(self.session(key, header, policy))
            }
        }
    }

    /// Changes the password of an unlocked vault, which stays unlocked: all values are encrypted again, under a new key. A process killed
    /// during the change leaves the vault with its former password. SMP 2.3: `changePassword:withSalt:`.
    /// - Parameters:
    ///   - newPassword: not empty.
    ///   - newSalt: nil for the default one.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, ``DataVaultError/Code/passwordRequired`` for an empty password, reason
    ///   ``DataVaultError/Reason/incompatiblePassword`` for one that violates the policy.
    public func changePassword(_ newPassword: String, salt newSalt: String? = nil) throws {
        // The session gets its new key before another thread of this object can see the new stamp and take it for a change by another object.
        _ = try unlocked(.writing, committed: { new in self.change { ($0.key, $0.stamp) = (new.0, new.1.stamp) } }) { connection, header, key in
            guard !newPassword.isEmpty else {
                throw DataVaultError(.passwordRequired, .incompatiblePassword, "vault \"\(self.name)\": the new password is empty")
            }
            try PasswordPolicy.read(from: connection, of: self.name)?.check(VaultPassword(newPassword))
            return try self.reseal(connection, header, key, VaultPassword(newPassword), newSalt)
        }
    }

    /// Changes the password of a locked or unlocked vault, and unlocks it. The new password is checked against the policy first. Then the
    /// current one is tried, which counts as in `unlock(_:salt:)`. SMP 2.3: `changePassword:currentSalt:newPassword:newSalt:`.
    /// - Parameters:
    ///   - current: the present password; nil or empty for the default one.
    ///   - currentSalt: the present salt; nil for the default one.
    ///   - newPassword: the password from now on; nil or empty for the default one, if the policy allows it.
    ///   - newSalt: the salt from now on; nil for the default one.
    /// - Throws: ``DataVaultError``: reason ``DataVaultError/Reason/incompatiblePassword`` for the new password, reason
    ///   ``DataVaultError/Reason/invalidPassword`` for the current one; otherwise as `unlock(_:salt:)`.
    public func changePassword(
        current: String?, currentSalt: String?, new newPassword: String?, newSalt: String?
    ) throws {
        try onFile(.writing) { file in
            try file.open { database in
                let password = VaultPassword(newPassword)
                try database.read { try PasswordPolicy.read(from: $0, of: self.name) }?.check(password)
                let (header, policy, key) = try self.verify(VaultPassword(current), salt: currentSalt, in: database, of: file)
                let (newKey, newHeader) = try database.write { try self.reseal($0, header, key, password, newSalt) }
                self.begin(self.session(newKey, newHeader, policy))
            }
        }
    }

    /// Tries a password and updates the count.
    private func verify(
        _ password: VaultPassword, salt: String?, in database: Database, of file: VaultFile
    ) throws -> (VaultHeader, PasswordPolicy?, SecretKey) {
        var (header, policy) = try database.read {
            (try VaultHeader.read(from: $0, of: name), try PasswordPolicy.read(from: $0, of: name))
        }
        // The original's documents say both "after that many failures" and "more than". The former holds: the definition of the policy says so.
        let retryLimit = policy?.retryLimit ?? header.retryLimit
        let isLastTry = retryLimit > 0 && header.failed >= retryLimit - 1
        guard retryLimit == 0 || header.failed < retryLimit else { throw try usedUp(retryLimit, database, file) }
        header.failed += 1
        try database.write { try header.write(to: $0) }
        guard let key = try header.key(password, salt: salt, for: name) else {
            if isLastTry { throw try usedUp(retryLimit, database, file) }
            throw DataVaultError(.invalidPassword, .invalidPassword, "vault \"\(name)\": password or salt are wrong")
        }
        header.failed = 0
        try database.write { try header.write(to: $0) }
        return (header, policy, key)
    }

    /// Deletes the vault and returns the error to throw.
    private func usedUp(_ retryLimit: Int, _ database: Database, _ file: VaultFile) throws -> DataVaultError {
        try database.close()
        try file.delete()
        lock()
        return DataVaultError(
            .retryLimitReached, .invalidPassword,
            "vault \"\(name)\": password or salt were wrong \(retryLimit) times, and the vault has been deleted")
    }

    /// Encrypts everything again, with a new data key and a new salt.
    private func reseal(
        _ connection: Connection, _ header: VaultHeader, _ key: SecretKey, _ password: VaultPassword, _ salt: String?
    ) throws -> (SecretKey, VaultHeader) {
        let newKey = try SecretKey(random: directory.environment.randomBytes)
        let newHeader = try VaultHeader.sealing(newKey, under: password, salt: salt, for: name, in: directory, keeping: header)
        try entries(connection, key).reseal(under: newKey)
        try newHeader.write(to: connection)
        return (newKey, newHeader)
    }

    private func session(_ key: SecretKey, _ header: VaultHeader, _ policy: PasswordPolicy?) -> Session {
        Session(
            key: key, stamp: header.stamp, unlockedAt: directory.environment.uptime(),
            lockTimeout: policy?.lockTimeout ?? header.lockTimeout)
    }

    /// Runs `body` with the file, locked or not. If the vault does not exist, the object is locked.
    private func onFile<R>(_ access: DataVaultError.Access, _ body: (VaultFile) throws -> R) throws(DataVaultError) -> R {
        do { return try directory.exclusively(name, access, body) } catch {
            if error.code == .doesNotExist { lock() }
            throw error
        }
    }
}
