internal import MobileExecution
import MobileStore

/// One local transaction: its connection, and the work that is due at its end.
///
/// All code that writes takes a transaction instead of the database, so that several changes share a transaction by construction.
package final class Transaction {
    package let connection: Connection
    package let database: PackageDatabase
    /// Values that rows have released in this transaction; removed before the commit unless something still refers to them.
    var releasedLargeValues: Set<ReleasedLargeValue> = []
    /// Whether rows with large values left in a way that names no single value. All values are then checked at the end.
    var sweepsLargeValues = false
    /// The last replay counter, after it was first read.
    var lastCounter: ReplayCounter?
    /// The last replay counter that this transaction has stored in the settings.
    var keptCounter: Int64 = 0
    /// New large values, protected from clean-ups until the commit.
    var heldLargeValues: [LargeValue] = []
    /// Objects that higher layers attach to the transaction, one per class.
    private var attachments: [AnyObject] = []
    let searchIndexes = TransactionSearchIndexes()
    private var closing: [ClosingStep: (Transaction) throws -> Void] = [:]
    /// Actions that undo changes of objects in memory when the transaction is rolled back; the last one runs first.
    private var undo: [() -> Void] = []

    init(_ connection: Connection, of database: PackageDatabase) {
        (self.connection, self.database) = (connection, database)
    }

    var metadata: PackageMetadata { database.metadata }

    func onRollback(_ action: @escaping () -> Void) { undo.append(action) }

    func rolledBack() {
        for action in undo.reversed() { action() }
        undo = []
        noteRolledBackSearchIndexes()
    }

    /// The number of undo actions so far, to return to when a nested transaction fails.
    var undoMark: Int { undo.count }

    func rollBack(to mark: Int) {
        while undo.count > mark { undo.removeLast()() }
    }

    /// Returns the object that a higher layer attaches to this transaction, one per class. It is made on first use.
    func attachment<Attachment: AnyObject>(_ make: () -> Attachment) -> Attachment {
        for known in attachments { if let known = known as? Attachment { return known } }
        let made = make()
        attachments.append(made)
        return made
    }

    /// The steps at the end of a transaction, before the commit, in this order.
    enum ClosingStep: CaseIterable {
        /// Modelled keys of rows that a cancel has brought back.
        case keys
        /// Large values of rows that came again without them.
        case largeValues
        /// Keys under which the server knows rows of this device.
        case identities
        /// References by value to rows that have come.
        case references
        /// Attributes of references to rows whose keys have come.
        case referenceKeys
        /// Marks of parents, after an import that may have changed the parents of rows.
        case marks
        /// Entries of the change log.
        case changeLog
        /// Log records of imports.
        case importRecords
    }

    func closes(with step: ClosingStep) -> Bool { closing[step] != nil }

    /// Registers the action of a step. Each step has one per transaction: `action` replaces an earlier one.
    func atEnd(_ step: ClosingStep, _ action: @escaping (Transaction) throws -> Void) { closing[step] = action }

    /// Does the work that is due before the commit.
    func close() throws {
        for step in ClosingStep.allCases { try closing[step]?(self) }
        try updateSearchIndexes()
        try removeReleasedLargeValues()
    }
}

/// Makes a transaction known to the operations that are called inside it, only on the thread that runs it.
///
/// A task that is started inside inherits the task-local value, but runs on another thread, or after the closure has ended. Both cases
/// are detected here. That proves `@unchecked Sendable`: `transaction` is only handed to the thread that made it, while it is open.
final class TransactionScope: @unchecked Sendable {
    @TaskLocal static var current: TransactionScope?

    private let transaction: Transaction
    private let thread = ThreadIdentity.current
    private let isOpen = SystemLock(true)

    private init(_ transaction: Transaction) { self.transaction = transaction }

    static func run<R>(_ transaction: Transaction, _ body: (Transaction) throws -> R) rethrows -> R {
        let scope = TransactionScope(transaction)
        defer { scope.isOpen.withLock { $0 = false } }
        return try $current.withValue(scope) { try body(transaction) }
    }

    /// Returns the transaction of `database` that runs on this thread; nil when there is none.
    static func transaction(of database: PackageDatabase) -> Transaction? {
        guard let scope = current, scope.thread == ThreadIdentity.current, scope.isOpen.withLock({ $0 }),
            scope.transaction.database === database
        else { return nil }
        return scope.transaction
    }
}
