import MobileStore

/// An error of the object layer. SMP 2.3: `SUPPersistenceException` and its subclasses; each code names its original.
public struct ObjectError: Error, Sendable {
    /// The kind of failure; stable, for programs.
    public let code: Code
    /// The attempted action with the names it used, and the failure; one line, for people.
    public let message: String
    /// The underlying failure; nil where this error is the first one.
    public let cause: (any Error)?

    /// Kinds of failure. This is a structure, not an enumeration, so that a new code breaks no switch.
    public struct Code: RawRepresentable, Sendable, Hashable {
        public let rawValue: Int
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The store failed; ``ObjectError/cause`` is its `StoreError`. `SUPPersistenceException`.
        public static let store = Code(rawValue: 1)
        /// The row does not exist: `find` found nothing to load, or the row of an update or delete is gone. `SUPObjectNotFoundException`.
        public static let notFound = Code(rawValue: 2)
        /// A row with this modelled key exists already. `SUPPersistenceException`.
        public static let duplicateKey = Code(rawValue: 3)
        /// Another writer changed the row since this object read it; refresh and try again.
        public static let stale = Code(rawValue: 4)
        /// A value that must be set before `create` is missing.
        public static let missingValue = Code(rawValue: 5)
        /// A value does not fit its attribute. `SUPWrongDataTypeException`.
        public static let invalidValue = Code(rawValue: 6)
        /// The object is not in the database yet. `SUPObjectNotSavedException`.
        public static let notSaved = Code(rawValue: 7)
        /// The object is in the database already.
        public static let alreadySaved = Code(rawValue: 8)
        // 9 was the code of a create before the first grant of surrogate keys. Such a create succeeds now.
        /// No surrogate key is left: 1,024 ranges of the database's own wait for the server. Submit and synchronize.
        public static let keysUsedUp = Code(rawValue: 10)
        /// The model has no such object. `SUPNoSuchClassException`.
        public static let noSuchClass = Code(rawValue: 11)
        /// The object has no such attribute. `SUPNoSuchAttributeException`.
        public static let noSuchAttribute = Code(rawValue: 12)
        /// The object has no such operation or query. `SUPNoSuchOperationException`.
        public static let noSuchOperation = Code(rawValue: 13)
        /// The operation or query has no such parameter. `SUPNoSuchParameterException`.
        public static let noSuchParameter = Code(rawValue: 14)
        /// The object has no such relationship.
        public static let noSuchRelationship = Code(rawValue: 15)
        /// A named operation has changed this row and is not submitted yet, or the row's create is not answered.
        /// `SUPPersistenceException`.
        public static let otherOperationPending = Code(rawValue: 16)
        /// The documentation of the method excludes this call.
        public static let misuse = Code(rawValue: 17)
        /// The database file was made by another model or by a newer release.
        public static let version = Code(rawValue: 18)
        /// The text of a modelled query is not valid object SQL, or the parts of a query made at run time do not fit together.
        public static let invalidQuery = Code(rawValue: 19)
        /// A stored value does not have its attribute's type.
        public static let corrupt = Code(rawValue: 20)
        /// The database does not exist.
        public static let noDatabase = Code(rawValue: 21)
        /// A query names a class that has no rows of its own: a structure. `SUPAbstractClassException`.
        public static let abstractClass = Code(rawValue: 22)
        /// A value of a query's result was read as a type that cannot hold it: null, or a number out of range. `SUPInvalidDataTypeException`.
        public static let invalidDataType = Code(rawValue: 23)
        /// A value of a query's result was read as a type other than its own. `SUPWrongDataTypeException`.
        public static let wrongDataType = Code(rawValue: 24)
        /// The type of the values supports no such aggregate, order or comparison. `SUPPersistenceException`.
        public static let unsupportedType = Code(rawValue: 25)
        /// The index cannot be created, or does not exist. `SUPPersistenceException`.
        public static let invalidIndex = Code(rawValue: 26)
        /// The task was cancelled between two portions of a long piece of work. The message says how much is done, and that stays done.
        public static let cancelled = Code(rawValue: 27)
        /// A file with the texts of errors is not valid.
        public static let invalidText = Code(rawValue: 40)
        /// A file of the application, not of the database, cannot be written.
        public static let file = Code(rawValue: 41)
    }

    /// Creates an error of the object layer, also for a provider or handler that reports one.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        (self.code, self.message, self.cause) = (code, message, cause)
    }
}

extension ObjectError: CustomStringConvertible {
    public var description: String { message }
}

extension ObjectError {
    /// Converts every error of the store into an `ObjectError`, at the boundary between the layers. Errors of callers' own closures pass
    /// unchanged.
    static func gate<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as StoreError { throw ObjectError(error) }
    }

    init(_ error: StoreError) {
        self.init(.store, error.message, cause: error)
    }
}
