internal import MobileCrypto
internal import MobileStore
internal import Synchronization

/// Small secrets on the device: certificates, keys of databases, passwords. A vault opens with the user's password. SMP 2.3: `SUPDataVault`.
///
///     let vault = try DataVault.getVault("crm", in: directory)
///     try vault.unlock(password)
///     defer { vault.lock() }
///     let key = try vault.value("database key")
///
/// **What protects what.** Names and values are encrypted with AES-128-GCM under a random key, which is sealed under a key derived from
/// password and salt by scrypt. Nothing in the file is a password. Somebody who has the file can guess passwords as fast as scrypt lets
/// them, whatever the retry limit, the policy and the expiration say: those bind who uses this class. The default password is computed from what
/// is in the file and protects nothing against somebody who can read it.
///
/// **Who sees what.** Any number of objects, threads and processes may use one vault: what is stored, the policy and the count of failed
/// unlocks are common to all; being unlocked is each object's own, and ends when another one changes the password or the policy.
///
/// Every call but ``lock()`` and ``isLocked`` reads or writes the file, and deriving a key takes about 0.1 s: in `async` code the twins of
/// the same names do so on other threads.
public final class DataVault: Sendable {
    /// The name that the vault was created under.
    public let name: String
    /// Where the vault is.
    public let directory: VaultDirectory

    private let session: Mutex<Session?>

    /// What an unlocked object has.
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
        self.session = Mutex(session)
    }

    // MARK: Vaults and their names

    /// Makes a vault, unlocked and without a policy. SMP 2.3: `createVault:withPassword:withSalt:`.
    /// - Parameters:
    ///   - name: any text but an empty one, that no other vault of the directory has. Two spellings of one accented letter are one.
    ///   - password: of any length and any characters; nil or empty for the default one, which is computed from the name and from what
    ///     the file holds, and protects nothing against somebody who can read the file. It is not checked: there is no policy yet.
    ///   - salt: makes another key of the same password, such as a constant of the application; nil for a default one. The vault has a
    ///     random one of its own besides.
    ///   - directory: where the vault is to be; it is made where it is missing.
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

    /// Whether there is a vault of this name that can be read now: false for one that is damaged, or whose directory somebody else keeps
    /// locked for longer than its timeout. That the vault waits for its password makes no difference. SMP 2.3: `vaultExists:`.
    public static func vaultExists(_ name: String, in directory: VaultDirectory) -> Bool {
        do { return try checkVaultExists(name, in: directory) } catch { return false }
    }

    /// Whether there is a vault of this name. SMP 2.3: `vaultExists2:`.
    /// - Throws: ``DataVaultError`` with reason ``DataVaultError/Reason/ioRead`` where that cannot be told.
    public static func checkVaultExists(_ name: String, in directory: VaultDirectory) throws -> Bool {
        do { return try directory.exclusively(name, .reading) { try $0.exists() } } catch {
            guard error.code == .doesNotExist else { throw error }
            return false  // not even the directory is there
        }
    }

    /// The vault of a name, locked. SMP 2.3: `getVault:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/doesNotExist``, or reason ``DataVaultError/Reason/ioRead``.
    public static func getVault(_ name: String, in directory: VaultDirectory) throws -> DataVault {
        guard try checkVaultExists(name, in: directory) else { throw DataVaultError.noVault(name) }
        return DataVault(name, in: directory)
    }

    /// Deletes a vault and everything in it: also a locked or damaged one, or one whose password nobody knows. SMP 2.3: `deleteVault:`.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/doesNotExist``, ``DataVaultError/Code/unwritable``.
    public static func deleteVault(_ name: String, in directory: VaultDirectory) throws {
        try directory.exclusively(name, .writing) { try $0.delete() }
    }

    // MARK: Locked and unlocked

    /// Forgets the key, which is overwritten as soon as no call that is under way uses it. No effect on a locked vault. SMP 2.3: `lock`.
    public func lock() { session.withLock { $0 = nil } }

    /// Whether the vault has to be unlocked before anything in it can be read or changed. SMP 2.3: `isLocked`.
    ///
    /// A vault whose time is over is locked from then on; its key is overwritten by the first call behind that time, or with the object.
    public var isLocked: Bool { currentSession() == nil }

    func currentSession() -> Session? {
        let time = directory.environment.uptime()
        return session.withLock { session in
            if session?.isOver(at: time) == true { session = nil }
            return session
        }
    }

    func begin(_ session: Session) { self.session.withLock { $0 = session } }

    /// Puts another key, stamp or timeout into the session, unless the vault was locked meanwhile: its time goes on.
    func change(_ change: (inout Session) -> Void) {
        session.withLock { session in
            guard var changed = session else { return }
            change(&changed)
            session = changed
        }
    }

    /// Runs `body` with what an unlocked vault has, in one transaction.
    /// - Parameter committed: called behind the transaction, before anybody else sees what it changed.
    /// - Throws: ``DataVaultError``: ``DataVaultError/Code/locked``, also where somebody else changed password or policy meanwhile.
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

    /// The key, if the vault is still unlocked: the time that others may have set since counts.
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
