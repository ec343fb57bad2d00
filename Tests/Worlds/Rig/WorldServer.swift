internal import MobileTransport
internal import TestSupport

/// The server of a world, from outside: ``ServerBench`` in the process of the rig, or ``ServerProcesses``.
protocol WorldServer: AnyObject, Sendable {
    /// The network between the server and a new device.
    func network(seed: UInt64, clock: VirtualClock) -> any DeviceNetwork

    func setRegions(_ regions: Set<Region>, ofUser index: Int) throws
    /// Removes rows of the state whose time is over.
    func prune() throws
    func restart() throws
    /// Starts again without a state, as after the loss of its disk.
    func loseState() throws
    func saveState() throws
    /// - Returns: false if none was saved.
    func restoreState() throws -> Bool
    func close() throws
    /// Returns the number of rows of an object that are held back; nil where this cannot be asked.
    func quarantined(_ object: String, package: String) throws -> Int?
    /// The last errors that the server's parts noted, for the text of a failure; empty for none.
    var lastErrors: String { get }
}

extension WorldServer {
    var lastErrors: String { "" }
    func quarantined(_ object: String, package: String) throws -> Int? { nil }
}

/// The network of one device: it breaks where a step says so, and can deliver an earlier request again.
protocol DeviceNetwork: Transport {
    /// Breaks all requests until ``repair()``.
    func fail(_ fault: NetworkFault)
    func repair()
    /// Delivers one of the last six uploads again; the answer is dropped.
    /// - Returns: false if there was none.
    func sendAgain(_ pick: Int) -> Bool
    /// The bytes that all answers had; 0 where they are not counted.
    var received: Int { get }
    /// A synchronization begins.
    func begin()
    /// Whether the synchronization sent more requests than any can need.
    var hasOverrun: Bool { get }
}

extension DeviceNetwork {
    var received: Int { 0 }
    func begin() {}
    var hasOverrun: Bool { false }
}
