internal import MobileExecution

/// A lock for each key, which exists while a thread needs it.
final class KeyedLocks<Key: Hashable & Sendable>: Sendable {
    /// The locks that are in use, each with the number of threads that need it.
    private let locks = SystemLock<[Key: (lock: SystemLock<Void>, users: Int)]>([:])

    /// Runs `body` while no other thread runs one with the same key.
    func withLock<R>(_ key: Key, _ body: () throws -> R) rethrows -> R {
        let lock = locks.withLock { locks in
            let entry = locks[key, default: (SystemLock(()), 0)]
            locks[key] = (entry.lock, entry.users + 1)
            return entry.lock
        }
        defer {
            locks.withLock { locks in
                guard let entry = locks[key] else { return }
                locks[key] = entry.users > 1 ? (entry.lock, entry.users - 1) : nil
            }
        }
        return try lock.withLock { _ in try body() }
    }
}
