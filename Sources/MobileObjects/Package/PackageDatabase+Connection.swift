import Foundation
import MobileExecution
public import MobileStore

extension PackageDatabase {
    /// Path and settings of the database file. A change takes effect when the database is next opened. Only the trace of
    /// statements changes at once. SMP 2.3: `getConnectionProfile`.
    public final var connectionProfile: ConnectionProfile {
        get { state.withLock { $0.profile } }
        set {
            let store = state.withLock { state in
                state.profile = newValue
                return state.store
            }
            store?.setTrace(newValue.trace, withValues: newValue.tracesValues)
        }
    }

    /// The path of the database file, or the name of a database in memory. SMP 2.3: `getDbPath`.
    public final var databasePath: String { connectionProfile.path }

    /// The underlying store, opened if needed. It is for SQL of the application: reading is safe, writing to the objects' tables is not.
    /// - Throws: ``ObjectError``: as `openConnection()`.
    public final var store: Database {
        get throws { try openStore() }
    }

    /// The database file; nil for a database in memory.
    package final var databaseFile: String? { Self.file(of: connectionProfile) }

    static func file(of profile: ConnectionProfile) -> String? {
        guard profile.isURI, let parts = URLComponents(string: profile.path), parts.scheme == "file" else {
            return profile.isInMemory || ["", ":memory:"].contains(profile.path) ? nil : profile.path
        }
        return parts.queryItems?.contains { $0.name == "mode" && $0.value == "memory" } == true ? nil : parts.path
    }

    /// The folder next to the database file in which downloads keep files until their rows are imported. That of a database in memory is a temporary one.
    package final var downloadFolder: String { databaseFile.map { $0 + "-download" } ?? attachment { TemporaryFolder() }.path }

    /// A folder that goes with its database.
    private final class TemporaryFolder: Sendable {
        let path = FileManager.default.temporaryDirectory.appending(path: "mobile-download-\(UUID().uuidString)").path

        deinit { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Whether the database file exists; for a database in memory, whether it is open. SMP 2.3: `databaseExists`.
    public final var databaseExists: Bool {
        databaseFile.map { FileManager.default.fileExists(atPath: $0) } ?? state.withLock { $0.store != nil }
    }

    /// Creates the database with its tables; no effect if it exists. Rarely needed, because opening does it. SMP 2.3: `createDatabase`.
    /// - Throws: ``ObjectError``: as `openConnection()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func createDatabase() throws { try openConnection() }

    /// Does the same without blocking a cooperative thread.
    public final func createDatabase() async throws { try await openConnection() }

    /// Opens the database, creates missing parts, and upgrades a database of an older model or release, with all pending changes: see
    /// <doc:Upgrades>. No effect if it is open. The first time takes longest, so call it in the background.
    /// SMP 2.3: `openConnection`.
    /// - Throws: ``ObjectError/Code/version`` when the file belongs to another package or a newer release, or cannot be upgraded without loss:
    ///   the message names every place with its reason, and the file stays unchanged. ``ObjectError/Code/store`` when it cannot be opened. On a full disk
    ///   a database of this model opens for reading, with a warning on the console and `onStorageSpaceLow` of the callback handlers. Each write then
    ///   tries to open it for writing, which ends observations.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func openConnection() throws { _ = try openStore() }

    /// Closes all connections, after waiting for operations that are under way. The next operation opens the database again.
    /// SMP 2.3: `closeConnection`.
    /// - Throws: ``ObjectError/Code/store`` inside a transaction of this thread; nothing is closed then.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func closeConnection() throws {
        // Closed outside the lock, because closing waits for operations that themselves take the lock.
        guard let store = state.withLock({ $0.store }) else { return }
        if TransactionScope.transaction(of: self) == nil { removeAbandonedLargeValues(store) }
        try ObjectError.gate { try store.close() }
        state.withLock { state in
            if state.store === store { state.store = nil }
        }
        tellOfClosing(store)
    }

    /// Where the database cannot be written they stay, and it is closed nevertheless.
    private final func removeAbandonedLargeValues(_ store: Database) {
        let abandoned = store.abandonedValues.take()
        guard !abandoned.isEmpty else { return }
        _ = try? store.write(timeout: .seconds(1), label: "large values that were not saved") { try $0.removeUnsaved(abandoned, metadata) }
    }

    /// Does the same as `closeConnection()`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func close() throws { try closeConnection() }

    /// Does the same without blocking a cooperative thread.
    public final func close() async throws { try await closeConnection() }

    /// Closes the database and removes its file with all data. No effect if there is no file. Stop synchronization first. A database in memory goes with its
    /// last connection.
    /// SMP 2.3: `deleteDatabase`.
    /// - Throws: ``ObjectError/Code/store`` when the file cannot be removed.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func deleteDatabase() throws {
        try closeConnection()
        if FileManager.default.fileExists(atPath: downloadFolder) { try? FileManager.default.removeItem(atPath: downloadFolder) }
        guard let file = databaseFile else { return }
        // The log files go first. A database file without them is whole, but without it they would be taken for those of a new one.
        for suffix in ["-mark", "-wal", "-shm", "-journal", "-lease", ""] where FileManager.default.fileExists(atPath: file + suffix) {
            do { try FileManager.default.removeItem(atPath: file + suffix) } catch {
                throw ObjectError(.store, "remove \"\(file + suffix)\": \(error.localizedDescription)", cause: error)
            }
        }
    }

    /// Compacts the database file, in which deleted objects leave gaps. It takes as long as copying the file, and writers wait for it.
    /// SMP 2.3: `vacuumDatabase`.
    /// - Throws: ``ObjectError/Code/store`` inside a transaction of this thread, or where the disk has no room for a second copy. The
    ///   database is then unchanged.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func vacuumDatabase() throws {
        do { try openStoreForWriting().vacuum(timeout: nil) } catch let error as StoreError { throw failure(error) }
    }

    /// Does the same without blocking a cooperative thread.
    public final func vacuumDatabase() async throws { try await BlockingWork.run { try self.vacuumDatabase() } }

    /// Does the same without blocking a cooperative thread.
    public final func openConnection() async throws { try await BlockingWork.run { try self.openConnection() } }

    /// Does the same without blocking a cooperative thread.
    public final func closeConnection() async throws { try await BlockingWork.run { try self.closeConnection() } }

    /// Does the same without blocking a cooperative thread.
    public final func deleteDatabase() async throws { try await BlockingWork.run { try self.deleteDatabase() } }
}
