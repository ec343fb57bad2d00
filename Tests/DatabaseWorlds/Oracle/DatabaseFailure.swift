/// A difference between a database and the oracle.
package struct DatabaseFailure: Error, Equatable, Sendable {
    /// The kind of difference: a smaller database that fails with the same kind shows the same fault.
    package var kind: Kind
    /// The table, the row, the values, the message.
    package var text: String

    package enum Kind: String, Codable, CaseIterable, Sendable {
        /// The engine refuses the drawn tables: a fault of the draw.
        case invalidDatabase
        /// The importer ends with an error, or its model is not valid.
        case noModel
        /// A table or a column is not in the model without a reason that holds.
        case leftOut
        /// The values that an enumeration allows are not in the model.
        case undocumented
        /// The server does not deploy the model.
        case notDeployed
        /// The device cannot synchronize.
        case deviceStuck
        /// A row that the attributes can hold is not on the device.
        case missingRow
        /// The device shows a row that the database does not have.
        case ghostRow
        /// The device shows a row twice.
        case doubleRow
        /// The device shows another value than the database has.
        case wrongValue
        /// A reference does not lead to the row of its foreign key.
        case wrongReference
        /// The device itself refuses a change that the database takes.
        case refusedLocally
        /// The back end refuses a change that the database takes.
        case refused
        /// A change that the database refuses counts as accepted.
        case acceptedAnyway
        /// An accepted change left other values in the database than the same statement leaves.
        case wrongResult
        /// A change is neither accepted nor refused.
        case undecided
        /// A refusal does not name its reason.
        case vagueRefusal
        /// The generated classes do not compile.
        case notCompiled
    }
}
