internal import MobileCore
internal import MobileExecution

extension Database {
    /// How far a backup has come.
    public struct BackupProgress: Sendable, Hashable {
        /// The number of pages that are copied. It becomes smaller when a database without a write-ahead log was changed and the copy begins again.
        public let copiedPages: Int
        /// The number of pages of the database.
        public let allPages: Int
        /// The copied part, from 0 to 1.
        public var fraction: Double { allPages > 0 ? Double(copiedPages) / Double(allPages) : 1 }
    }

    /// Copies the database to a file while it is in use.
    ///
    /// The copy has one state of the database, that of the beginning. Writes continue meanwhile; the write-ahead log cannot start over until the end, as during
    /// any long read. (A database without such a log is locked for a step at a time: see `mc_backup.h`.) The file appears when it is complete and on the disk,
    /// and replaces an older one; until then it has the name with `.part` appended. After a failure an older file is as it was.
    /// The copy goes through the database's ``ConnectionProfile/storageLayers``; ``ConnectionProfile/prepareConnection`` is not called for it.
    ///
    ///     try database.backUp(to: copy) { progress in
    ///         print("\(Int(progress.fraction * 100)) %")
    ///         return !isCancelled
    ///     }
    ///
    /// - Parameters:
    ///   - path: the file of the copy; not one of a database that is open.
    ///   - pagesPerStep: the number of pages between two calls of `progress`, 1 or more; default 256.
    ///   - timeout: the time to wait for a reader, and for locks of other processes; `nil`: see ``ConnectionProfile/connectionTimeout``.
    ///   - interruption: an object with which another thread can end the wait or the copy.
    ///   - progress: called on this thread after each step; it returns whether to continue.
    /// - Throws: ``StoreError``: `.misuse` (within a write of this thread; the path is that of a database in use), `.notFound` (no such folder),
    ///   `.interrupted`, `.full`, `.io`, `.timeout`, `.closed`.
    public func backUp(
        to path: String, pagesPerStep: Int = 256, timeout: Duration? = nil, interruption: Interruption? = nil,
        progress: ((BackupProgress) -> Bool)? = nil
    ) throws(StoreError) {
        guard let pages = Int32(exactly: pagesPerStep), pages > 0 else {
            throw StoreError(.misuse, "backup: \(pagesPerStep) pages a step; use 1 or more")
        }
        var options = unsafe mc_backup_default_options()
        unsafe options.pages_per_step = pages
        unsafe options.timeout_ns = (timeout ?? connectionTimeout).wait
        unsafe options.ticket = interruption?.ticket
        // The core calls it during this call only.
        try withoutActuallyEscaping(progress ?? { _ in true }) { report throws(StoreError) in
            let sink = BackupSink(report)
            try withExtendedLifetime(sink) { () throws(StoreError) in
                unsafe options.progress = BackupSink.callback
                unsafe options.context = Unmanaged.passUnretained(sink).toOpaque()
                try unsafe StoreError.check { unsafe mc_pool_backup(pool, path, &options, $0) }
            }
        }
    }

    /// Does the same without blocking a cooperative thread. Cancelling the task ends the copy at its next step.
    /// - Parameter progress: called on another thread after each step.
    /// - Throws: `CancellationError` when the task is cancelled; otherwise the errors of the blocking function.
    public func backUp(
        to path: String, pagesPerStep: Int = 256, timeout: Duration? = nil, progress: (@Sendable (BackupProgress) -> Void)? = nil
    ) async throws {
        let interruption = try Interruption()
        do {
            try await withTaskCancellationHandler {
                try await queue.run {
                    try self.backUp(to: path, pagesPerStep: pagesPerStep, timeout: timeout, interruption: interruption) { step in
                        progress?(step)
                        return true
                    }
                }
            } onCancel: {
                interruption.interrupt()
            }
        } catch let error as StoreError where error.code == .interrupted && Task.isCancelled {
            throw CancellationError()
        }
    }
}

/// Passes the progress of a backup on.
private final class BackupSink {
    private let report: (Database.BackupProgress) -> Bool

    init(_ report: @escaping (Database.BackupProgress) -> Bool) { self.report = report }

    static let callback: mc_backup_progress = { context, copied, all in
        guard let context = unsafe context else { return true }
        let sink = unsafe Unmanaged<BackupSink>.fromOpaque(context).takeUnretainedValue()
        return sink.report(Database.BackupProgress(copiedPages: Int(copied), allPages: Int(all)))
    }
}
