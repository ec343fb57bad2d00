import Foundation
import MobileExecution
public import MobileStore

/// Detects that the disk of the database runs out of room, and that it has room again. Each is reported once.
///
/// It checks after a commit, at most once a second, because each check is a call of the system, and at once when a write found no room.
struct StorageMonitor: Sendable {
    /// Storage is low below this amount of free room.
    var limit: ByteCount = .megabytes(10)
    private(set) var isLow = false
    private var lastLook: Date?

    enum Change { case low, recovered }

    /// Whether a check is due at the time `now`.
    mutating func isDue(_ now: Date) -> Bool {
        if let lastLook, case let elapsed = now.timeIntervalSince(lastLook), elapsed >= 0, elapsed < 1 { return false }
        lastLook = now
        return true
    }

    /// - Parameter free: the free bytes; nil where the system does not report them.
    mutating func looked(free: Int64?) -> Change? {
        guard let free else { return nil }
        // A quarter more than the limit, so that a disk at the limit is not reported with every write.
        if isLow, free >= Int64(limit.bytes) + Int64(limit.bytes) / 4 {
            isLow = false
            return .recovered
        }
        return free < Int64(limit.bytes) ? becomesLow() : nil
    }

    /// Notes a write that found no room.
    mutating func becomesLow() -> Change? {
        if isLow { return nil }
        isLow = true
        return .low
    }
}

extension PackageDatabase {
    /// The free room on the database's disk below which `onStorageSpaceLow` is called. `onStorageSpaceRecovered` follows when there is a quarter
    /// more. It is checked after writes, and at once when a write finds no room. Default 10 MB; 0: only when a write finds no room.
    public final var lowStorageLimit: ByteCount {
        get { state.withLock { $0.storage.limit } }
        set { state.withLock { $0.storage.limit = newValue } }
    }

    /// Whether `onStorageSpaceLow` was reported last.
    public final var isStorageSpaceLow: Bool { state.withLock { $0.storage.isLow } }

    /// Checks the free room after a commit. It costs a reading of the clock, and once a second a call of the system.
    final func lookAtStorage() {
        // Without handlers, the usual case, not even the clock is read.
        guard state.withLock({ !$0.handlers.isEmpty || $0.storage.isLow }) else { return }
        let now = environment.now()
        let path: String? = state.withLock { state in state.storage.isDue(now) ? Self.file(of: state.profile) : nil }
        guard let path else { return }
        let free = environment.freeStorage((path as NSString).deletingLastPathComponent)
        report(state.withLock { $0.storage.looked(free: free) })
    }

    /// Reports a write that found no room.
    final func foundNoStorage() { report(state.withLock { $0.storage.becomesLow() }) }

    private final func report(_ change: StorageMonitor.Change?) {
        switch change {
        case .low: notify { $0.onStorageSpaceLow() }
        case .recovered: notify { $0.onStorageSpaceRecovered() }
        case nil: break
        }
    }
}
