internal import MobileStore

#if canImport(FoundationEssentials)
    internal import FoundationEssentials
#else
    internal import Foundation
#endif

/// The local database of a client: models, objects, waiting changes, session. See ``RhoConnectClient/initDatabase(_:blobFolder:)``.
public final class RhomDatabase: Sendable {
    let store: Database
    /// The folder of BLOB attributes' files, with a slash at its end.
    let blobFolder: String
    let replacedFiles = ReplacedFiles()

    /// Opens the database, and creates its tables.
    init(_ profile: ConnectionProfile, blobFolder: String?) throws(RhoConnectError) {
        do {
            store = try Database(profile)
            let folder = blobFolder ?? profile.path + "-files"
            self.blobFolder = folder.hasSuffix("/") ? folder : folder + "/"
            try FileManager.default.createDirectory(atPath: self.blobFolder, withIntermediateDirectories: true)
            try store.write(label: "rhoconnect: open") { connection in
                try RhomTables.create(in: connection)
                // A process that ended in the middle of an upload does not know whether the server has it.
                try ChangeQueue.restoreAll(in: connection)
            }
        } catch {
            throw RhoConnectError(error)
        }
    }

    /// Writes in one transaction.
    func write<R>(_ label: String, _ body: (Connection) throws -> R) throws(RhoConnectError) -> R {
        do { return try store.write(label: "rhoconnect: \(label)", body) } catch { throw RhoConnectError(error) }
    }

    /// Reads one state.
    func read<R>(_ body: (Connection) throws -> R) throws(RhoConnectError) -> R {
        do { return try store.read(body) } catch { throw RhoConnectError(error) }
    }

    /// Closes the database. Later calls of its client and models throw ``RhoConnectErrorCode/runtime``.
    /// - Throws: ``RhoConnectError`` when a reader or writer does not end in time.
    public func close() throws(RhoConnectError) {
        do { try store.close() } catch { throw RhoConnectError(error) }
    }
}

extension RhoConnectError {
    /// Makes the error of this module from any other.
    init(_ error: any Error) {
        switch error {
        case let error as RhoConnectError: self = error
        case let error as StoreError: self.init(.runtime, error.message, cause: error)
        default: self.init(.runtime, "\(error)", cause: error)
        }
    }
}
