/// Faults that are known and not repaired yet. A world that avoids one leaves out what leads to it, so that the suite stays green and finds others;
/// `Found` has a history of each. A repair removes its case here, and with it what worlds leave out.
package enum KnownFault: String, CaseIterable, Codable, Sendable {
    /// A key that a deleted row had, and that another row gets: a row that refers to it by attribute while it is gone itself, and a pending row after the server
    /// has lost its state and the back end was restored, are not as the user made them.
    case reusedKeys
    /// Another user who names the client of a device in a message about another version of the package raises the floor of its operations: they are
    /// accepted, and not done.
    case foreignClient
    /// A device whose subscription an operator has removed does not become unsubscribed.
    case removedSubscription
    /// An operation that arrives while a column of its table has another name is rejected, and stays so when the column is back.
    case schemaChangeRejects
    /// Pieces of a long upload are in temporary folders of several processes: the upload never ends.
    case scatteredUploads
    /// Processes that start at the same time on a new state make the same tables, and one of them ends.
    case startsAtOnce
    /// The server refuses a request and closes the connection before it has read the body: nginx answers 502 in place of the refusal, so that the device does
    /// not learn that it has to log in, and sends nothing to this process for two seconds.
    case earlyRefusals
    /// A server that has lost its state grants keys by its clock. Where that clock is slow, it refuses rows with keys that devices already have.
    case clockBehindKeys
    /// A device gets an error when one of several processes leaves.
    case drainDisturbs
}

extension World {
    /// The world without the features that lead to known faults.
    package func avoiding(_ faults: Set<KnownFault>) -> World {
        var world = self
        if faults.contains(.scatteredUploads), let processes, processes > 1 {
            for object in world.objects.indices { world.objects[object].hasText = false }
        }
        return world
    }
}
