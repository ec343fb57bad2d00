/// A difference between a world and the oracle.
package struct WorldFailure: Error, Equatable, Sendable {
    /// The kind of difference, without particulars: a shorter history that fails with the same kind shows the same fault.
    package var kind: Kind
    /// The row, the values, the message.
    package var text: String
    /// The step after which it was found; the number of steps for the end.
    package var step: Int

    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// A device cannot synchronize, register, open its database, or upgrade.
        case deviceStuck
        /// A local operation that is allowed throws.
        case localFailure
        /// A row of a device's partitions is not on the device.
        case missingRow
        /// The device shows a row that is in none of its partitions.
        case ghostRow
        /// One row twice, or two rows with one key.
        case doubleRow
        /// A value differs from the back end's.
        case wrongValue
        /// A reference, a list or a key attribute disagrees with the others.
        case wrongReference
        /// A change of the user is gone: neither shown nor sent nor rejected.
        case lostEdit
        /// A row is pending without a change that waits or was rejected.
        case pendingWithoutReason
        /// An accepted operation is not in the back end's ledger.
        case notApplied
        /// An accepted operation left another value in the back end than the user had set.
        case changedValue
        /// An operation changed a column that the user had not set.
        case otherColumn
        /// An operation took the place of a change that its device had not seen, although the object refuses conflicts.
        case overwritten
        /// An operation changed a row that its user may not have.
        case notAllowed
        /// An operation was done more than once.
        case appliedTwice
        /// A rejected, cancelled or replaced change is in the ledger.
        case appliedAnyway
        /// Operations of a device were done in another order.
        case wrongOrder
        /// An operation was refused for no reason.
        case refused
        /// A device does not list an accepted operation that a restored back end has lost.
        case unreportedLoss
        /// A query, a list, a search or an observer does not show what all rows show.
        case wrongQuery
        /// A device downloads again what it has uploaded.
        case downloadedAgain
        /// Nothing is at rest after many synchronizations.
        case restless
        /// A database is damaged.
        case damaged
        /// A large value is there, and no row has it; or a file of a download that has ended.
        case leftOver
        /// The server cannot open.
        case serverStuck
        /// A synchronization sends requests without an end.
        case endless
        /// A device gets an error where the articles promise that it gets none.
        case disturbed
    }
}
