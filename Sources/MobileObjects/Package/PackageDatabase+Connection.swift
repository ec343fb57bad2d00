import Foundation
import MobileExecution
public import MobileStore
import Synchronization

extension PackageDatabase {
    /// Path and settings of the database file. What is set here takes effect when the database is opened next, but for the trace of
    /// statements, which follows at once. SMP 2.3: `getConnectionProfile`.
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

    /// Path of the database file. SMP 2.3: `getDbPath`.
    public final var databasePath: String { connectionProfile.path }

    /// The store below, opened if it is not. For SQL of one's own: reading is safe, writing to the objects' tables is not.
    /// - Throws: ``ObjectError``: as `openConnection()`.
    public final var store: Database {
        get throws { try openStore() }
    }

    /// Whether a database file is there. SMP 2.3: `databaseExists`.
    public final var databaseExists: Bool { FileManager.default.fileExists(atPath: databasePath) }

    /// Creates the database with its tables; no effect if it exists. Normally not needed, because opening does it. SMP 2.3: `createDatabase`.
    /// - Throws: ``ObjectError``: as `openConnection()`.
    public final func createDatabase() throws { try openConnection() }

    /// Opens the database, creates what is missing in it, and upgrades one of an older model or release, with everything that is pending: see
    /// <doc:Upgrades>. No effect if it is open. Takes longest the first time, so it is worth doing in the background.
    /// SMP 2.3: `openConnection`.
    /// - Throws: ``ObjectError/Code/version`` when the file belongs to another package or a newer release, or cannot be upgraded without loss:
    ///   the message names every place with its reason, and the file is as it was. ``ObjectError/Code/store`` when it cannot be opened.
    public final func openConnection() throws { _ = try openStore() }

    /// Closes all connections; waits for operations that are under way. The next operation opens the database again.
    /// SMP 2.3: `closeConnection`.
    /// - Throws: ``ObjectError/Code/store`` inside of a transaction of this thread; nothing is closed then.
    public final func closeConnection() throws {
        // Closed outside of the lock: closing waits for operations that themselves ask for the lock.
        guard let store = state.withLock({ $0.store }) else { return }
        try ObjectError.gate { try store.close() }
        state.withLock { state in
            if state.store === store { state.store = nil }
        }
        tellOfClosing(store)
    }

    /// The same as `closeConnection()`.
    public final func close() throws { try closeConnection() }

    /// Removes the database file with everything in it; closes it before. No effect if there is none. Stop synchronization first.
    /// SMP 2.3: `deleteDatabase`.
    /// - Throws: ``ObjectError/Code/store`` when the file cannot be removed.
    public final func deleteDatabase() throws {
        try closeConnection()
        // The log files first: a database file without them is whole, they without it would be taken for those of a new one.
        for suffix in ["-wal", "-shm", "-journal", "-lease", ""] where FileManager.default.fileExists(atPath: databasePath + suffix) {
            do { try FileManager.default.removeItem(atPath: databasePath + suffix) } catch {
                throw ObjectError(.store, "remove \"\(databasePath + suffix)\": \(error.localizedDescription)", cause: error)
            }
        }
    }

    /// Compacts the database file, in which deleted objects leave gaps. Takes as long as copying it; nobody writes meanwhile.
    /// SMP 2.3: `vacuumDatabase`.
    /// - Throws: ``ObjectError/Code/store``: inside of a transaction of this thread, or where the disk has no room for a second copy; the
    ///   database is as it was then.
    public final func vacuumDatabase() throws {
        do { try openStore().vacuum(timeout: nil) } catch let error as StoreError { throw failure(error) }
    }

    /// The same without blocking a cooperative thread.
    public final func vacuumDatabase() async throws { try await BlockingWork.run { try self.vacuumDatabase() } }

    /// The same without blocking a cooperative thread.
    public final func openConnection() async throws { try await BlockingWork.run { try self.openConnection() } }

    /// The same without blocking a cooperative thread.
    public final func closeConnection() async throws { try await BlockingWork.run { try self.closeConnection() } }

    /// The same without blocking a cooperative thread.
    public final func deleteDatabase() async throws { try await BlockingWork.run { try self.deleteDatabase() } }

    final func openStore() throws -> Database {
        if let store = state.withLock({ $0.store }) { return store }
        // Opened under the lock, so that two threads do not open it twice; the schema work takes no lock of this object.
        return try state.withLock { state in
            if let store = state.store { return store }
            let store = try ObjectError.gate {
                let store = try Database(state.profile)
                do { try LocalSchema(self).prepare(store) } catch {
                    try store.close()
                    throw error
                }
                return store
            }
            state.store = store
            state.replayCounter = nil
            return store
        }
    }
}
