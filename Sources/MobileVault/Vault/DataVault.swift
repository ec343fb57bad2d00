internal import MobileCrypto
internal import MobileExecution
internal import MobileStore

/// Small secrets on the device: certificates, keys of databases, passwords. A vault opens with the user's password. SMP 2.3: `SUPDataVault`.
///
///     let vault = try DataVault.getVault("crm", in: directory)
///     try vault.unlock(password)
///     defer { vault.lock() }
///     let key = try vault.value("database key")
///
/// **Protection.** Names and values are encrypted with AES-128-GCM under a random key, which is sealed under a key derived from password and
/// salt by scrypt. The file contains no password. An attacker with the file can guess passwords at the speed of scrypt, regardless of retry
/// limit, policy and expiration: those bind only users of this class. The default password is computed from the file and gives no
/// protection against a reader of the file.
///
/// **Sharing.** Any number of objects, threads and processes may use one vault. They share values, policy and the count of failed unlocks.
/// Each object is unlocked for itself, until another one changes the password or the policy.
///
/// Every call except ``lock()`` and ``isLocked`` reads or writes the file, and deriving a key takes about 0.1 s: in `async` code the twins of
/// the same names do this on other threads.
public final class DataVault: Sendable {
    /// The name of the vault.
    public let name: String
    /// The directory of the vault.
    public let directory: VaultDirectory

    private let session: SystemLock<Session?>

    /// The state of an unlocked object.
    struct Session {
        var key: SecretKey
        /// ``VaultHeader/stamp`` at the time of unlocking.
        var stamp: [UInt8]
        let unlockedAt: Duration
        /// Seconds from unlocking to locking, as last read; 0: never.
        var lockTimeout: Int

        func isOver(at time: Duration) -> Bool { lockTimeout > 0 && time - unlockedAt >= .seconds(lockTimeout) }
    }

    private init(_ name: String, in directory: VaultDirectory, session: Session? = nil) {
        (self.name, self.directory) = (name, directory)
        self.session = SystemLock(session)
    }

    // MARK: Vaults and their names

    /// Creates a vault, unlocked and without a policy. SMP 2.3: `createVault:withPassword:withSalt:`.
    /// - Parameters:
    ///   - name: a text that is not empty and that no other vault of the directory has. Two spellings of one accented letter are equal.
    ///   - password: of any length and any characters; nil or empty for the default one, which is computed from the name and the contents
    ///     of the file, and gives no protection against a reader of the file. It is not checked: there is no policy yet.
    ///   - salt: a text that changes the key of the same password, such as a constant of the application; nil for a default one. The vault
    ///     also has a random salt of its own.
    ///   - directory: the directory of the vault; it is created if it is missing.
    /// - Throws: ``DataVaultError``: code ``DataVaultError/Code/invalidArgument`` with reason ``DataVaultError/Reason/alreadyExists`` for a name
    ///   that is taken, with ``DataVaultError/Reason/invalidArgument`` for an empty one; ``DataVaultError/Code/unwritable``.
    public static func createVault(
        _ name: String, password: String?, salt: String? = nil, in directory: VaultDirectory
    ) throws -> DataVault {
        try directory.exclusively(name, .writing, creates: true) { file in
            guard try !file.exists() else {
                throw DataVaultError(.invalidArgument, .alreadyExists, "there is a vault \"\(name)\" already")
            }
            let key = try SecretKey(random: directory.environment.randomBytes)
            let header = try VaultHeader.sealing(key, under: VaultPassword(password), salt: salt, for: name, in: directory)
            try file.create(header)
            return DataVault(
                name, in: directory,
                session: Session(key: key, stamp: header.stamp, unlockedAt: directory.environment.uptime(), lockTimeout: 0))
        }
    }

    /// Whether there is a vault of this name that can be read now: false for a damaged one, or if another process or thread keeps the directory
    /// locked for longer than its timeout. A locked vault exists too. SMP 2.3: `vaultExists:`.
    public static func vaultExists(_ name: String, in directory: VaultDirectory) -> Bool {
        do { return try checkVaultExists(name, in: directory) } catch { return false }
    }

    /// Whether there is a vault of this name. SMP 2.3: `vaultExists2:`.
    /// - Throws: ``DataVaultError`` with reason ``DataVaultError/Reason/ioRead`` if that cannot be determined.
    public static func checkVaultExists(_ name: String, in directory: VaultDirectory) throws -> Bool {
        do { return try directory.exclusively(name, .reading) { try $0.exists() } } catch {
            guard error.code == .doesNotExist else { throw error }
            return false  // the directory does not exist either
        }
    }

    /// Returns the vault of a name, locked. SMP 2.3: `getVault:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/doesNotExist``, or reason ``DataVaultError/Reason/ioRead``.
    public static func getVault(_ name: String, in directory: VaultDirectory) throws -> DataVault {
        guard try checkVaultExists(name, in: directory) else { throw DataVaultError.noVault(name) }
        return DataVault(name, in: directory)
    }

    /// Deletes a vault with all its contents, also a locked or damaged one, or one whose password is lost. SMP 2.3: `deleteVault:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/doesNotExist``, ``DataVaultError/Code/unwritable``.
    public static func deleteVault(_ name: String, in directory: VaultDirectory) throws {
        try directory.exclusively(name, .writing) { try $0.delete() }
    }

    // MARK: Locked and unlocked

    /// Forgets the key, which is overwritten as soon as no running call uses it. No effect on a locked vault. SMP 2.3: `lock`.
    public func lock() { session.withLock { $0 = nil } }

    /// Whether the vault must be unlocked before its contents can be read or changed. SMP 2.3: `isLocked`.
    ///
    /// A vault whose time is over is locked from then on; the first later call overwrites its key, otherwise the object's end does.
    public var isLocked: Bool { currentSession() == nil }

    func currentSession() -> Session? {
        let time = directory.environment.uptime()
        return session.withLock { session in
            if session?.isOver(at: time) == true { session = nil }
            return session
        }
    }

    func begin(_ session: Session) { self.session.withLock { $0 = session } }

    /// Changes key, stamp or timeout of the session, unless the vault was locked meanwhile; the session's time is not restarted.
    func change(_ change: (inout Session) -> Void) {
        session.withLock { session in
            guard var changed = session else { return }
            change(&changed)
            session = changed
        }
    }

    /// Runs `body` with the key and the header of an unlocked vault, in one transaction.
    /// - Parameter committed: called after the transaction, before any other call sees its changes.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, also if another object changed password or policy meanwhile.
    func unlocked<R>(
        _ access: DataVaultError.Access, committed: (R) -> Void = { _ in },
        _ body: (Connection, inout VaultHeader, SecretKey) throws -> R
    ) throws(DataVaultError) -> R {
        guard currentSession() != nil else { throw .locked(name) }
        do {
            return try directory.exclusively(name, access) { file in
                try file.open { database in
                    let result =
                        try access == .reading
                        ? database.read { try self.withHeader(in: $0, body) } : database.write { try self.withHeader(in: $0, body) }
                    committed(result)
                    return result
                }
            }
        } catch {
            if error.code == .doesNotExist { lock() }
            throw error
        }
    }

    private func withHeader<R>(
        in connection: Connection, _ body: (Connection, inout VaultHeader, SecretKey) throws -> R
    ) throws -> R {
        var header = try VaultHeader.read(from: connection, of: name)
        let key = try key(header, try PasswordPolicy.read(from: connection, of: name))
        return try body(connection, &header, key)
    }

    /// The key, if the vault is still unlocked: the present timeout counts, which other objects may have changed.
    private func key(_ header: VaultHeader, _ policy: PasswordPolicy?) throws(DataVaultError) -> SecretKey {
        let stamp = header.stamp, lockTimeout = policy?.lockTimeout ?? header.lockTimeout
        session.withLock { session in
            if session?.stamp != stamp { session = nil }
            session?.lockTimeout = lockTimeout
        }
        guard let session = currentSession() else { throw .locked(name) }
        return session.key
    }
}
