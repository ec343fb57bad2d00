internal import MobileStore

/// The ground of a write under a lease: the look at a back end that it belongs to. A write that finds something else changes nothing.
struct RefreshGround: Sendable {
    let backEnd: ServedBackEnd
    let keys: KeyMap
    let lease: RefreshLease
    let place: RefreshLease.Place
    /// See ``RefreshLease/rekeyed(_:in:)``.
    let rekeyed: Int64

    /// Locks the back end's row, the lease and the partition.
    /// - Returns: whether the partition and the keys of rows are as they were before the look.
    /// - Throws: ``RefreshLease/Lost``.
    func holds(_ comparison: PartitionComparison, in connection: any StateConnection) throws -> Bool {
        try keys.lock(backEnd, in: connection)
        try lease.hold(in: connection)
        let state = try comparison.partition.state(lock: connection.dialect.lock, in: connection)
        return try state == comparison.state && RefreshLease.rekeyed(place, in: connection) == rekeyed
    }
}
