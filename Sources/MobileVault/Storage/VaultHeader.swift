internal import Foundation
internal import MobileCrypto
internal import MobileStore

/// The row about the vault itself. The values are encrypted under a data key; that key is sealed under a key derived from the password.
struct VaultHeader {
    /// Random bytes from which the default password and salt are computed.
    var seed: [UInt8]
    /// Random bytes of the present password.
    var salt: [UInt8]
    /// The cost of deriving the key from the present password.
    var parameters: PasswordVerifier.Parameters
    /// The data key, sealed.
    var sealedKey: [UInt8]
    /// Random bytes that change with each change that locks every open object of the vault.
    var stamp: [UInt8]
    /// The time at which the password was set, in milliseconds since 1970.
    var passwordSet: Int64
    /// The number of failed unlocks since the last successful one.
    var failed: Int
    /// Seconds from unlocking until locking, without a policy; 0: never.
    var lockTimeout: Int
    /// The number of failed unlocks until deletion, without a policy; 0: no limit.
    var retryLimit: Int

    private static let columns =
        "seed, salt, n, r, p, sealed_key, digest, stamp, password_set, failed, lock_timeout, retry_limit"

    /// A digest of the data that checks the password: damage there must not count as a wrong password.
    private func digest() throws(CryptoError) -> [UInt8] {
        try SHA256.digest(
            of: Fields.join("header", seed, salt, Array("\(parameters.n) \(parameters.r) \(parameters.p)".utf8), sealedKey))
    }

    /// Reads the header of a vault.
    /// - Throws: ``DataVaultError/Code/doesNotExist`` if the vault is being deleted, ``DataVaultError/Code/damaged``.
    static func read(from connection: Connection, of name: String) throws -> VaultHeader {
        guard let header = try find(in: connection, of: name) else { throw DataVaultError.noVault(name) }
        return header
    }

    /// Reads the header of a vault; nil if the vault is being deleted.
    /// - Throws: ``DataVaultError/Code/damaged``.
    static func find(in connection: Connection, of name: String) throws -> VaultHeader? {
        guard try connection.first("SELECT count(*) FROM sqlite_schema WHERE name IN ('vault', 'policy', 'entry')")?.first?.integer == 3 else {
            throw DataVaultError.damaged(name, "the file has not all tables of a vault")
        }
        guard let row = try connection.first("SELECT \(columns) FROM vault WHERE id = 1") else { return nil }
        guard let seed = row[0].blob, let salt = row[1].blob, let n = row[2].integer.flatMap(UInt64.init(exactly:)),
            let r = row[3].integer.flatMap(UInt64.init(exactly:)), let p = row[4].integer.flatMap(UInt64.init(exactly:)),
            let sealedKey = row[5].blob, let digest = row[6].blob, let stamp = row[7].blob, let passwordSet = row[8].integer,
            let failed = row[9].integer, failed >= 0, let lockTimeout = row[10].integer, lockTimeout >= 0, let retryLimit = row[11].integer,
            retryLimit >= 0
        else { throw DataVaultError.damaged(name, "the header is invalid") }
        let header = VaultHeader(
            seed: seed, salt: salt, parameters: .init(n: n, r: r, p: p), sealedKey: sealedKey, stamp: stamp, passwordSet: passwordSet,
            failed: Int(failed), lockTimeout: Int(lockTimeout), retryLimit: Int(retryLimit))
        guard try header.digest() == digest else { throw DataVaultError.damaged(name, "the header was changed or is damaged") }
        return header
    }

    func write(to connection: Connection) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO vault (id, \(Self.columns)) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                .blob(seed), .blob(salt), .integer(Int64(clamping: parameters.n)), .integer(Int64(clamping: parameters.r)),
                .integer(Int64(clamping: parameters.p)), .blob(sealedKey), .blob(digest()), .blob(stamp), .integer(passwordSet),
                .integer(Int64(failed)), .integer(Int64(lockTimeout)), .integer(Int64(retryLimit)),
            ])
    }
}

extension VaultHeader {
    /// Creates a header for a new password, and seals the data key in it.
    /// - Parameter former: the header whose other settings are kept; nil for a new vault.
    static func sealing(
        _ key: SecretKey, under password: VaultPassword, salt: String?, for vault: String, in directory: VaultDirectory,
        keeping former: VaultHeader? = nil
    ) throws -> VaultHeader {
        let random = directory.environment.randomBytes
        let milliseconds = Int64((directory.environment.now().timeIntervalSince1970 * 1000).rounded())
        var header = VaultHeader(
            seed: try former?.seed ?? random(16), salt: try random(16), parameters: directory.keyDerivation, sealedKey: [],
            stamp: try random(16), passwordSet: milliseconds, failed: 0, lockTimeout: former?.lockTimeout ?? 0,
            retryLimit: former?.retryLimit ?? 0)
        header.sealedKey = try header.passwordKey(password, salt: salt, for: vault)
            .seal(key, associatedData: header.keyContext(vault), random: random)
        return header
    }

    /// Opens the data key; nil if password or salt are wrong.
    func key(_ password: VaultPassword, salt: String?, for vault: String) throws(CryptoError) -> SecretKey? {
        do {
            return try passwordKey(password, salt: salt, for: vault).openKey(sealedKey, associatedData: keyContext(vault))
        } catch {
            guard error.code == .notAuthentic else { throw error }
            return nil
        }
    }

    private func passwordKey(_ password: VaultPassword, salt: String?, for vault: String) throws(CryptoError) -> SecretKey {
        var bytes = try password.bytes(for: vault, seed: seed)
        defer { bytes.cleanse() }
        return try SecretKey(
            password: bytes, salt: VaultPassword.salt(salt, for: vault, seed: seed, own: self.salt), parameters: parameters)
    }

    private func keyContext(_ vault: String) -> [UInt8] { Fields.join("data key", Fields.bytes(of: vault)) }

    var passwordSetAt: Date { Date(timeIntervalSince1970: Double(passwordSet) / 1000) }
}
