internal import Foundation
internal import MobileExecution
internal import MobileModel
import MobileStore

/// Opening the database.
///
/// **A database whose disk is full opens for reading.** *Why:* its user needs the data, and reading takes no room. *If you break it:* an application cannot even start until
/// someone frees space. The next write tries to open it for writing.
extension PackageDatabase {
    final func openStore() throws -> Database {
        if let store = state.withLock({ $0.store }) { return store }
        // Opened under the lock, so that two threads do not open it twice. The schema work takes no lock of this object.
        let (store, lack) = try state.withLock { state in
            if let store = state.store { return (store, nil as String?) }
            let (store, lack) = try ObjectError.gate { try opened(state.profile) }
            try take(store, isWithoutRoom: lack != nil, &state)
            return (store, lack)
        }
        if let lack { reportLack(lack) }
        return store
    }

    /// Opens the database for a write, where it was opened for reading because of a full disk.
    /// - Throws: ``ObjectError/Code/store`` while the disk is still full.
    final func openStoreForWriting() throws -> Database {
        let store = try openStore()
        guard state.withLock({ $0.isWithoutRoom && $0.store === store }) else { return store }
        let replaced = try state.withLock { state in
            // Another thread may have done it.
            guard state.isWithoutRoom, state.store === store else { return false }
            do { try take(openedForWriting(state.profile), isWithoutRoom: false, &state) } catch let error as StoreError {
                throw ObjectError(
                    .store,
                    "write to \"\(state.profile.path)\": its disk is full, and the database is open for reading only; free some space, and try again",
                    cause: error)
            }
            return true
        }
        if replaced {
            // Reads that are under way end first. Where one of this thread is under way, the store goes with its last reference.
            try? store.close()
            tellOfClosing(store)
            environment.console.info("database \(metadata.name): opened for writing, because its disk has room again")
        }
        return try openStore()
    }

    private final func take(_ store: Database, isWithoutRoom: Bool, _ state: inout PackageState) throws {
        state.hasRenumberedRows = try ObjectError.gate { try store.read { try PackageSettings($0).hasRenumberedKeys } }
        state.store = store
        state.isWithoutRoom = isWithoutRoom
        state.replayCounter = nil
    }

    private final func openedForWriting(_ profile: ConnectionProfile) throws -> Database {
        let store = try Database(profile)
        do { try LocalSchema(self).prepare(store, Self.file(of: profile)) } catch {
            try store.close()
            throw error
        }
        store.abandonedValues.begin()
        return store
    }

    /// - Returns: the store, and where it is for reading only, the reason for that.
    private final func opened(_ profile: ConnectionProfile) throws -> (Database, String?) {
        do { return (try openedForWriting(profile), nil) } catch {
            guard let lack = Self.lackOfRoom(error), !profile.isReadOnly, let file = Self.file(of: profile),
                FileManager.default.fileExists(atPath: file),
                let store = openedForReading(profile)
            else { throw error }
            return (store, lack)
        }
    }

    /// Returns the words of an error that a full disk has caused; nil for others.
    private static func lackOfRoom(_ error: any Error) -> String? {
        let cause = (error as? ObjectError)?.cause ?? error
        if let store = cause as? StoreError { return store.code == .full ? store.message : nil }
        guard (cause as? CocoaError)?.code == .fileWriteOutOfSpace else { return nil }
        return cause.localizedDescription
    }

    /// Opens a database of this model for reading; nil where that does not work either. A log without content needs no room if it is left alone.
    private final func openedForReading(_ profile: ConnectionProfile) -> Database? {
        for isImmutable in [false, true] {
            var profile = profile
            (profile.isReadOnly, profile.createsFile, profile.isImmutable) = (true, false, isImmutable)
            guard let store = try? Database(profile) else { continue }
            if (try? hasPresentTables(store)) == true { return store }
            try? store.close()
        }
        return nil
    }

    /// Whether the database has the tables of this release and this model.
    private final func hasPresentTables(_ store: Database) throws -> Bool {
        try store.read {
            try $0.number("PRAGMA user_version") == FrameworkTables.formatVersion && PackageSettings($0).text(.model) == metadata.model.json
        }
    }

    private final func reportLack(_ lack: String) {
        environment.console.warn(
            "database \(metadata.name): opened for reading only, because its disk is full (\(lack)); free some space: the next write opens it for writing"
        )
        foundNoStorage()
    }
}
