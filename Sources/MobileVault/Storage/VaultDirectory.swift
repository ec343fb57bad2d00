internal import Foundation
public import MobileCrypto
internal import MobileStore

/// The place of vaults: a directory with a file per vault.
///
///     let directory = VaultDirectory("\(applicationSupport)/vaults")
///     let vault = try DataVault.getVault("crm", in: directory)
///
/// Each call has the directory for itself while it runs, across threads and processes. All of them therefore agree on the contents of a
/// vault and on the number of failed unlocks. File names are digests of the vaults' names.
public struct VaultDirectory: Sendable {
    /// The directory; it is created together with the first vault, readable only by its owner.
    public let path: String
    /// The group of applications that share the vaults; nil (default) for those of one application. An application sees the vaults of
    /// the group that it names and no others. It is a part of the directory, so set it before any vault is used. The file system controls
    /// the access to the files: `path` must be open to all applications of the group, and to no others.
    /// SMP 2.3: `SUPDataVault.setAccessGroup`.
    public let accessGroup: String?
    /// Time and randomness.
    public var environment: VaultEnvironment
    /// The cost of deriving a key from a password, for new vaults and for passwords that are set from now on. Default:
    /// about 0.1 s and 32 MB.
    public var keyDerivation: PasswordVerifier.Parameters
    /// The time that a call waits for other users of the directory; default 30 s. After it the call throws ``DataVaultError/Code/busy``.
    public var timeout: Duration

    /// Creates a directory value; the directory need not exist yet.
    public init(
        _ path: String, accessGroup: String? = nil, environment: VaultEnvironment = VaultEnvironment(),
        keyDerivation: PasswordVerifier.Parameters = PasswordVerifier.Parameters(), timeout: Duration = .seconds(30)
    ) {
        (self.path, self.accessGroup, self.environment) = (path, accessGroup, environment)
        (self.keyDerivation, self.timeout) = (keyDerivation, timeout)
    }

    /// The directory of the visible vaults.
    func folder() throws(CryptoError) -> String {
        guard let accessGroup else { return path }
        return try "\(path)/group-\(SHA256.digest(of: Fields.bytes(of: accessGroup)).hexadecimal)"
    }

    /// Runs `body` with the file of a vault, while no other call uses any vault of the directory.
    /// - Parameters:
    ///   - access: the purpose of `body`, for the reason of an error.
    ///   - creates: whether a missing directory is created; otherwise ``DataVaultError/Code/doesNotExist`` is thrown.
    /// - Throws: only ``DataVaultError``.
    func exclusively<R>(
        _ name: String, _ access: DataVaultError.Access, creates: Bool = false, _ body: (VaultFile) throws -> R
    ) throws(DataVaultError) -> R {
        guard !name.isEmpty else { throw DataVaultError(.invalidArgument, .invalidArgument, "a vault's name must not be empty") }
        do {
            let folder = try folder()
            try prepare(folder, for: name, creates: creates)
            let file = try VaultFile(name: name, folder: folder)
            // An empty database serves as the lock: its transaction waits with a timeout, and ends with the process that began it.
            let lock = try Database(
                ConnectionProfile(
                    path: "\(folder)/vaults.lock", cacheSize: .kilobytes(64), maxConnections: 1, journal: .unchanged, busyTimeout: timeout,
                    coalescesLogWrites: false))
            return try lock.write(label: "vault") { _ in try body(file) }
        } catch {
            throw DataVaultError(error, vault: name, access)
        }
    }

    private func prepare(_ folder: String, for name: String, creates: Bool) throws(DataVaultError) {
        var isDirectory: ObjCBool = false
        if FileManager.default.fileExists(atPath: folder, isDirectory: &isDirectory) {
            guard isDirectory.boolValue else {
                throw DataVaultError(.unreadable, .ioRead, "vault \"\(name)\": \(folder) is not a directory")
            }
            return
        }
        guard creates else { throw DataVaultError.noVault(name) }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw DataVaultError(.unwritable, .ioWrite, "vault \"\(name)\": cannot make the directory \(folder)", cause: error)
        }
    }
}
