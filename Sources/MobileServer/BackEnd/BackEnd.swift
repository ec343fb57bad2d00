public import MobileModel
public import MobileStore

/// A system of the enterprise: the server reads rows from it, and does the operations of devices on it.
///
/// The server has two of its own: SQLite files and PostgreSQL databases, by the addresses in ``PackageDeployment/backEnds``. Any other system, such as
/// a web service, takes a type that conforms to this protocol, in ``PackageDeployment/providedBackEnds``. The article <doc:BackEnds> builds one.
///
/// A type that reads without snapshots conforms to ``BackEndSnapshot`` as well, and one without transactions to ``BackEndTransaction``: the methods
/// ``read(_:)`` and ``replay(for:_:)`` then pass the type itself.
///
/// Threads: all methods are called from several threads at a time, and may block. Errors of any type may be thrown; ``classify(_:of:)`` explains them.
public protocol BackEnd: Sendable {
    /// Whether operations may be repeated without harm. The server then keeps no record of them, and does an operation again whose answer was lost.
    /// Every other back end stores ``OperationRecords``.
    var isIdempotent: Bool { get }

    /// Checks that the back end has what the objects need, before they are served. Changes nothing.
    /// - Parameters:
    ///   - objects: the synchronized objects whose binding names this back end.
    ///   - package: their package.
    /// - Throws: ``ServerError`` or another error, which names the missing part. The package is not served then.
    func check(_ objects: [ObjectModel], of package: PackageModel) throws

    /// Creates the place for ``OperationRecords``, unless it exists. Called after ``check(_:of:)``, if an object of the package has operations and
    /// ``isIdempotent`` is false.
    func prepareRecords() throws

    /// Makes sure that the system answers, for `GET /ready`.
    func ping() throws

    /// Runs `body` on one snapshot of the system, as far as it has snapshots.
    func read<R>(_ body: (any BackEndSnapshot) throws -> R) throws -> R

    /// Runs the operations of one batch: opens a transaction, calls `body` with it, and commits. When `body` throws, no operation of the batch stays.
    /// - Parameters:
    ///   - client: the client whose batch it is; empty when the server itself changes ``OperationRecords``.
    ///   - body: runs the operations.
    /// - Returns: the result of `body`, after the commit.
    func replay<R>(for client: String, _ body: (any BackEndTransaction) throws -> R) throws -> R

    /// Reads one large value.
    /// - Parameters:
    ///   - attribute: a large attribute of the object. Texts are passed in UTF-8.
    ///   - key: the row.
    ///   - object: the object of the row.
    ///   - receive: is called with the pieces of the value, in order. All of them belong to one state of the value.
    func value(
        of attribute: AttributeModel, in key: RowKey, of object: ObjectModel, _ receive: (_ piece: [UInt8]) throws -> Void
    ) throws -> BackEndValue

    /// Explains an error that a method of this back end has thrown.
    /// - Parameter object: the object of the failed operation; nil if no single operation failed, such as at the commit.
    func classify(_ error: any Error, of object: ObjectModel?) -> BackEndFailure

    /// Removes entries of the back end's own log of changes that are older than a time, if it keeps one.
    /// - Parameter time: milliseconds since 1970, UTC.
    /// - Returns: the number of removed entries.
    @discardableResult
    func removeChanges(before time: Int64) throws -> Int

    /// The time between two looks at ``BackEndSnapshot/position()`` while devices listen for changes; default one second.
    var positionInterval: Duration { get }

    /// Ends the use of the back end. Called once, when the server closes.
    func close() throws
}

extension BackEnd {
    /// One second.
    public var positionInterval: Duration { .seconds(1) }
    /// Accepts all objects.
    public func check(_ objects: [ObjectModel], of package: PackageModel) throws {}
    /// Does nothing.
    public func prepareRecords() throws {}
    /// Does nothing.
    public func ping() throws {}
    /// Removes nothing.
    public func removeChanges(before time: Int64) throws -> Int { 0 }
    /// Does nothing.
    public func close() throws {}
}

extension BackEnd where Self: BackEndSnapshot {
    /// Passes the back end itself.
    public func read<R>(_ body: (any BackEndSnapshot) throws -> R) throws -> R { try body(self) }
}

extension BackEnd where Self: BackEndTransaction {
    /// Passes the back end itself.
    public func replay<R>(for client: String, _ body: (any BackEndTransaction) throws -> R) throws -> R { try body(self) }
}

/// A part of a back end that has its record of operations.
public protocol BackEndAccess {
    /// The record of operations, as this snapshot sees it or in this transaction; nil (default) for a back end whose operations may be repeated.
    func records() throws -> (any OperationRecords)?
}

extension BackEndAccess {
    /// Returns nil.
    public func records() throws -> (any OperationRecords)? { nil }
}

/// A read of a back end.
public protocol BackEndSnapshot: BackEndAccess {
    /// Whether all calls of this read see one moment of the back end, also while others change it. The rows of a first load are then written while they
    /// arrive; otherwise (default) they wait until the last one, because the record of operations may have later outcomes by then.
    var isSnapshot: Bool { get }

    /// Returns the state that this read sees; nil (default) if the system does not know. Two equal positions mean that nothing has changed in between,
    /// and the server loads nothing. Without positions it loads the requested rows at every synchronization, and compares them.
    func position() throws -> BackEndPosition?

    /// Finds the changes of one partition's rows without loading them. One changed row of a million then costs one look-up, not a load.
    /// - Parameters:
    ///   - object: the object of the rows.
    ///   - parameters: the values of the object's synchronization parameters, by name.
    ///   - mark: a mark that an earlier read of this partition returned, maybe years ago or from a database that was restored since; nil at first.
    /// - Returns: the changed keys, and the present mark; ``BackEndChanges/unknown`` (default) for a back end that cannot find changes.
    func changes(of object: ObjectModel, parameters: [String: Value], since mark: String?) throws -> BackEndChanges

    /// Loads the rows of one partition.
    /// - Parameters:
    ///   - object: the object of the rows.
    ///   - parameters: the values of the object's synchronization parameters, by name.
    ///   - keys: the rows to load if they are in the partition; nil for all of it.
    ///   - visit: is called with each row, in any order, each key once.
    func load(
        _ object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void
    ) throws

    /// Computes the digests of a partition's large values where they are, so that the values need not travel.
    /// - Parameters:
    ///   - object: the object of the rows.
    ///   - parameters: the values of the object's synchronization parameters, by name.
    ///   - keys: the rows whose values are needed if they are in the partition; nil for all of it.
    ///   - visit: is called once for each large value that is not NULL.
    /// - Returns: whether the back end can do this; false (default) lets the server read every value with
    ///   ``BackEnd/value(of:in:of:_:)``.
    func forEachLargeValue(
        of object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws -> Bool
}

extension BackEndSnapshot {
    /// Returns false.
    public var isSnapshot: Bool { false }

    /// Returns nil.
    public func position() throws -> BackEndPosition? { nil }

    /// Returns ``BackEndChanges/unknown``.
    public func changes(of object: ObjectModel, parameters: [String: Value], since mark: String?) throws -> BackEndChanges { .unknown }

    /// Returns false.
    public func forEachLargeValue(
        of object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (LargeValueDigest) throws -> Void
    ) throws -> Bool { false }
}

/// A transaction of a back end, for one batch of operations. Its reads see its own changes.
public protocol BackEndTransaction: BackEndSnapshot {
    /// Does one operation.
    /// - Returns: the key of the row if the operation has created it or changed its key; otherwise nil.
    /// - Throws: ``BackEndFailure``, or any other error that ``BackEnd/classify(_:of:)`` explains.
    func apply(_ operation: BackEndOperation) throws -> RowKey?

    /// Whether there is a row with this key and these values of attributes, in the form of ``BackEndRow``. The server asks for a key alone before it
    /// creates a row, because a device must not overwrite one, and with values where the model binds parameters to attributes of the user.
    func contains(_ key: RowKey, of object: ObjectModel, having values: JSONObject) throws -> Bool

    /// Keeps a row as it is for others until the transaction ends. The server asks for it before it compares the row with the one that a device saw, where
    /// the model refuses conflicts. Default: does nothing, for a system whose transactions exclude each other.
    func lock(_ key: RowKey, of object: ObjectModel) throws
}

extension BackEndTransaction {
    /// Does nothing.
    public func lock(_ key: RowKey, of object: ObjectModel) throws {}
}

/// The record that a back end keeps of the operations that were done on it, written in the operations' own transactions. It makes an operation
/// happen once, regardless of how often its upload arrives.
///
/// Two systems have no common transaction. So this record alone decides whether an operation was done: a repeated operation is answered from it. The
/// server also reads from it which keys new rows have on the devices.
public protocol OperationRecords {
    /// Makes the client's entry if there is none, raises its floor to `settled`, and locks it until the transaction ends. The lock puts the batches of
    /// one client into an order, also those of several processes. A floor never sinks.
    /// - Returns: the floor: operations with lower ids are settled, and are not done any more.
    func raiseFloor(of client: String, to settled: Int64) throws -> Int64

    /// Returns the recorded outcome of an operation; nil if it was not done.
    func outcome(of operation: Int64, client: String) throws -> String?

    /// Records the outcome of an operation, as a text whose content is the server's. Its number is above those of all records that were committed
    /// before.
    func record(_ outcome: String, of operation: Int64, client: String) throws

    /// Removes the records of one client's operations below an id, as far as their numbers are at most `number`.
    func remove(client: String, below operation: Int64, upTo number: Int64) throws

    /// Visits the committed records above a number, in the order of their numbers.
    func forEachOutcome(after number: Int64, _ visit: (_ number: Int64, _ client: String, _ outcome: String) throws -> Void) throws

    /// Returns the last number that was ever given; 0 if there is none.
    func lastNumber() throws -> Int64

    /// Returns the numbers of a client's recorded operations, by their ids.
    func numbers(of operations: [Int64], client: String) throws -> [Int64: Int64]

    /// Returns the eras of the record, in the order of their beginnings. They are data of the back end: a backup contains them.
    func eras() throws -> [RecordEra]

    /// Stores an era that begins after the last number, and removes the eras in which nothing was recorded. Waits for transactions that are about to give
    /// numbers, and lets no other one give any until this one ends.
    /// - Parameters:
    ///   - name: the name of the era.
    ///   - historyID: the life of the data, see ``RecordEra/historyID``.
    ///   - nextKey: see ``RecordEra/nextKey``.
    func beginEra(_ name: String, historyID: String, nextKey: Int64) throws

    /// Removes the entries of clients that have done nothing for a long time, with their records. The default keeps them.
    /// - Parameters:
    ///   - time: clients go that have changed nothing since then, in milliseconds since 1970, UTC.
    ///   - now: the current time, likewise.
    ///   - limit: the maximum number of clients, so that the transaction is short.
    /// - Returns: the number of removed clients.
    func removeClients(unchangedSince time: Int64, now: Int64, limit: Int) throws -> Int
}

extension OperationRecords {
    /// Removes nothing.
    public func removeClients(unchangedSince time: Int64, now: Int64, limit: Int) throws -> Int { 0 }
}

/// A part of a record of operations, from one start of a server, or one restore of the back end, to the next one. Devices remember the last number of
/// each era: where a back end was restored from a backup, its eras are without the last one or without the end of it.
public struct RecordEra: Sendable, Hashable {
    /// The name, which the server makes at random.
    public let name: String
    /// The life of the data when the era began, as in ``BackEndPosition/historyID``. The server begins an era before it records an operation in another
    /// life.
    public let historyID: String
    /// The number of the first operation: one more than the last number when the era began.
    public let first: Int64
    /// The server's first unused surrogate key when the era began. A server whose own state was lost continues above it.
    public let nextKey: Int64

    /// Creates an era.
    public init(name: String, historyID: String, first: Int64, nextKey: Int64) {
        (self.name, self.historyID, self.first, self.nextKey) = (name, historyID, first, nextKey)
    }
}
