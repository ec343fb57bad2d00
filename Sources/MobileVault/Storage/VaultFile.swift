internal import Foundation
internal import MobileCrypto
internal import MobileStore

/// The file of one vault: an SQLite database with the header, the policy and the entries. It is used only in
/// `exclusively(_:_:creates:_:)`, and open only during that call, so it can be replaced and removed like any other file.
///
///     vault    one row: the sealed key, and the number of failed unlocks; no row: the vault is being deleted
///     policy   one row, or none if no policy was set
///     entry    a sealed name and a sealed value each
struct VaultFile {
    let name: String
    private let folder: String
    private let path: String

    /// `MVLT`: marks the file as a vault.
    private static let applicationID: Int64 = 0x4D56_4C54
    /// The version of the file's contents.
    private static let format: Int64 = 1

    private static let schema = """
        CREATE TABLE vault (
            id INTEGER PRIMARY KEY CHECK (id = 1), seed BLOB NOT NULL, salt BLOB NOT NULL, n INTEGER NOT NULL, r INTEGER NOT NULL,
            p INTEGER NOT NULL, sealed_key BLOB NOT NULL, digest BLOB NOT NULL, stamp BLOB NOT NULL, password_set INTEGER NOT NULL,
            failed INTEGER NOT NULL, lock_timeout INTEGER NOT NULL, retry_limit INTEGER NOT NULL);
        CREATE TABLE policy (
            id INTEGER PRIMARY KEY CHECK (id = 1), default_allowed INTEGER NOT NULL, min_length INTEGER NOT NULL, digits INTEGER NOT NULL,
            upper INTEGER NOT NULL, lower INTEGER NOT NULL, special INTEGER NOT NULL, expiration_days INTEGER NOT NULL,
            min_unique INTEGER NOT NULL, lock_timeout INTEGER NOT NULL, retry_limit INTEGER NOT NULL);
        CREATE TABLE entry (id INTEGER PRIMARY KEY, name BLOB NOT NULL, value BLOB NOT NULL);
        """

    init(name: String, folder: String) throws(CryptoError) {
        (self.name, self.folder) = (name, folder)
        path = try "\(folder)/\(SHA256.digest(of: Fields.bytes(of: name)).hexadecimal).vault"
    }

    /// Whether there is a vault. A vault whose deletion was interrupted does not count.
    /// - Throws: ``DataVaultError`` with reason ``DataVaultError/Reason/ioRead`` if that cannot be determined.
    func exists() throws -> Bool {
        guard try isThere() else { return false }
        return try open { try $0.read { try VaultHeader.find(in: $0, of: name) } } != nil
    }

    /// Runs `body` with the database of the vault.
    /// - Throws: ``DataVaultError/Code/doesNotExist``, ``DataVaultError/Code/damaged``, and any error of `body`.
    func open<R>(_ body: (Database) throws -> R) throws -> R {
        guard try isThere() else { throw DataVaultError.noVault(name) }
        let database = try Database(Self.profile(path, journal: .unchanged, createsFile: false))
        try database.read { connection in
            guard try connection.first("PRAGMA application_id")?.first?.integer == Self.applicationID else {
                throw DataVaultError.damaged(name, "the file is not a vault")
            }
            let format = try connection.number("PRAGMA user_version")
            guard format == Self.format else {
                throw DataVaultError.damaged(name, "the file has format \(format); this release knows format \(Self.format)")
            }
        }
        let result = try body(database)
        try database.close()
        return result
    }

    /// Creates the vault under another name and moves it to its place when it is complete, so that a partial vault never exists.
    /// `exists()` has returned false before: at most the files of an interrupted deletion are left.
    func create(_ header: VaultHeader) throws {
        try remove(path)
        try clear(path)
        let draft = "\(path)-draft"
        try remove(draft)
        try clear(draft)
        let database = try Database(Self.profile(draft, journal: .wal, createsFile: true))
        try database.write { connection in
            try connection.execute("PRAGMA application_id = \(Self.applicationID)")
            try connection.execute("PRAGMA user_version = \(Self.format)")
            try connection.execute(Self.schema)
            try header.write(to: connection)
        }
        try database.close()
        try onDisk { try FileManager.default.moveItem(atPath: draft, toPath: path) }
        try synchronizeFolder()
    }

    /// Removes the vault: first its rows, which are overwritten, then the file. A process killed between the two leaves a file without a
    /// vault. A damaged file is removed as a whole.
    /// - Throws: ``DataVaultError/Code/doesNotExist`` if there is no vault, or only its file was left.
    func delete() throws {
        let wasThere = try erase()
        try remove(path)
        try synchronizeFolder()
        try clear(path)
        guard wasThere else { throw DataVaultError.noVault(name) }
    }

    /// Overwrites the contents of the vault.
    /// - Returns: whether there were any; a damaged file counts as contents.
    private func erase() throws -> Bool {
        do {
            return try open { database in
                try database.write { connection in
                    let header = try VaultHeader.find(in: connection, of: name)
                    for table in ["vault", "policy", "entry"] { try connection.execute("DELETE FROM \(table)") }
                    return header != nil
                }
            }
        } catch DataVaultError.Code.damaged {
            return true
        } catch let error as StoreError where error.code == .corrupt {
            return true
        }
    }

    private func isThere() throws(DataVaultError) -> Bool {
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else { return false }
        guard !isDirectory.boolValue else { throw DataVaultError(.unreadable, .ioRead, "vault \"\(name)\": \(path) is a directory") }
        return true
    }

    private static func profile(_ path: String, journal: ConnectionProfile.Journal, createsFile: Bool) -> ConnectionProfile {
        ConnectionProfile(
            path: path, cacheSize: .kilobytes(256), maxConnections: 1, synchronous: .full, journal: journal, createsFile: createsFile,
            secureDelete: true)
    }

    /// Removes files of a killed process next to a vault file that is gone: SQLite would take them for parts of the next one.
    private func clear(_ path: String) throws {
        for suffix in ["-wal", "-shm", "-journal"] { try remove(path + suffix) }
    }

    private func remove(_ path: String) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        try onDisk { try FileManager.default.removeItem(atPath: path) }
    }

    /// Writes the names in the directory to the disk: a deleted vault must not reappear with its attempts.
    private func synchronizeFolder() throws {
        try onDisk {
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder, isDirectory: true))
            try handle.synchronize()
            try handle.close()
        }
    }

    private func onDisk(_ body: () throws -> Void) throws(DataVaultError) {
        do { try body() } catch {
            throw DataVaultError(.unwritable, .ioWrite, "vault \"\(name)\": \(folder) cannot be written", cause: error)
        }
    }
}
