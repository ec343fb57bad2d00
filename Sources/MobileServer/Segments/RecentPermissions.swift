internal import MobileExecution

/// The sessions that were allowed to fetch the segments of a partition a moment ago, with the reasons.
///
/// A first synchronization fetches dozens of segments in a row, all for the same reasons. They are checked in the store once a second, and not for each
/// segment: a right that a user has lost is of use for ``SegmentRules/checkedTime`` at most after that.
final class RecentPermissions: Sendable {
    private struct Entry {
        let session: Accounts.Session
        let end: ContinuousClock.Instant
        var permissions: Set<ContentPermission>
    }

    /// The number of sessions from which on those are removed whose time has passed.
    private static let portion = 1024

    /// By the token of the session.
    private let entries = SystemLock<[String: Entry]>([:])
    private let lifetime: Duration

    init(_ rules: SegmentRules) { lifetime = rules.checkedTime }

    /// Notes that a check in the store, which began at `time`, has allowed the segments of a partition.
    func add(_ permission: ContentPermission, _ session: Accounts.Session, token: String, checkedAt time: ContinuousClock.Instant) {
        guard permission.value == nil else { return }
        let end = time + lifetime
        entries.withLock { entries in
            // The end stays that of the first check: it vouches for the session.
            if let known = entries[token], known.end > time, known.session == session {
                entries[token]?.permissions.insert(permission)
                return
            }
            if entries.count >= Self.portion { entries = entries.filter { $0.value.end > time } }
            // More sessions than that in a second: the store is asked then.
            guard entries.count < 16 * Self.portion else { return }
            entries[token] = Entry(session: session, end: end, permissions: [permission])
        }
    }

    /// Returns the session of a token that was checked a moment ago; nil without one.
    func session(token: String) -> Accounts.Session? {
        entries.withLock { entries in entries[token].flatMap { $0.end > .now ? $0.session : nil } }
    }

    /// Whether the session of a token was allowed the segments of a partition a moment ago.
    func contains(_ permission: ContentPermission, token: String) -> Bool {
        entries.withLock { entries in entries[token].map { $0.end > .now && $0.permissions.contains(permission) } ?? false }
    }
}
