internal import MobileExecution

/// Notices partitions that a restored store, or an administrator, has put back while this process has served from them.
final class RestoredPartitions: Sendable {
    private let seen = SystemLock<[Int64: PartitionPosition]>([:])

    /// Takes the present positions.
    /// - Returns: the partitions that this process knows in a later version, or in another era: what it remembers of their rows does not count.
    func take(_ partitions: [Partition]) -> [Int64] {
        seen.withLock { seen in
            partitions.compactMap { partition in
                let known = seen.updateValue(partition.position, forKey: partition.id)
                guard let known, known.era != partition.position.era || known.version > partition.position.version else { return nil }
                return partition.id
            }
        }
    }
}
