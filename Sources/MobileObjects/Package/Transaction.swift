import MobileStore
import Synchronization

/// One local transaction: the connection it runs on, and what must happen when it ends.
///
/// Everything that writes takes one of these instead of the database, so that several changes share a transaction by construction.
package final class Transaction {
    package let connection: Connection
    package let database: PackageDatabase
    /// Values that rows let go of in this transaction; removed before the commit unless something still refers to them.
    var releasedLargeValues: Set<ReleasedLargeValue> = []
    /// Rows with large values left in a way that names no single value: a pass over all of them is due at the end.
    var sweepsLargeValues = false
    /// The last replay counter, once it was asked for.
    var lastCounter: ReplayCounter?
    /// What this transaction has written of it where it stays.
    var keptCounter: Int64 = 0
    /// New large values, kept from clean-ups until the commit.
    private var heldLargeValues: [LargeValue] = []
    /// What layers above keep with the transaction: one object per class.
    private var attachments: [AnyObject] = []
    private var closing: [ClosingStep: (Transaction) throws -> Void] = [:]
    /// Undoes changes of objects in memory when the transaction is rolled back; the last one first.
    private var undo: [() -> Void] = []

    init(_ connection: Connection, of database: PackageDatabase) {
        (self.connection, self.database) = (connection, database)
    }

    var metadata: PackageMetadata { database.metadata }

    func hold(_ value: LargeValue) { heldLargeValues.append(value) }

    func onRollback(_ action: @escaping () -> Void) { undo.append(action) }

    func rolledBack() {
        for action in undo.reversed() { action() }
        undo = []
    }

    /// The number of undo actions so far, to return to when a nested transaction fails.
    var undoMark: Int { undo.count }

    func rollBack(to mark: Int) {
        while undo.count > mark { undo.removeLast()() }
    }

    /// What a layer above keeps with this transaction, made when it is asked for first: one object per class.
    func attachment<Attachment: AnyObject>(_ make: () -> Attachment) -> Attachment {
        for known in attachments { if let known = known as? Attachment { return known } }
        let made = make()
        attachments.append(made)
        return made
    }

    /// What is done at the end of a transaction, before the commit, in this order.
    enum ClosingStep: CaseIterable {
        /// Marks of parents, where an import may have changed whose they are.
        case marks
        /// Entries of the change log.
        case changeLog
        /// Log records of imports.
        case importRecords
    }

    func closes(with step: ClosingStep) -> Bool { closing[step] != nil }

    /// Once per transaction: `action` takes the place of another one for the same step.
    func atEnd(_ step: ClosingStep, _ action: @escaping (Transaction) throws -> Void) { closing[step] = action }

    /// Does what is due before the commit.
    func close() throws {
        for step in ClosingStep.allCases { try closing[step]?(self) }
        try removeReleasedLargeValues()
    }
}

/// Makes a transaction known to the operations that are called inside of it, on the thread that runs it and nowhere else.
///
/// A task that is started inside inherits the task-local value: it runs on another thread, or after the closure has ended, and both are
/// told apart here. That proves `@unchecked Sendable`: `transaction` is only handed to the thread that made it, while it is open.
final class TransactionScope: @unchecked Sendable {
    @TaskLocal static var current: TransactionScope?

    private let transaction: Transaction
    private let thread = ThreadIdentity.current
    private let isOpen = Mutex(true)

    private init(_ transaction: Transaction) { self.transaction = transaction }

    static func run<R>(_ transaction: Transaction, _ body: (Transaction) throws -> R) rethrows -> R {
        let scope = TransactionScope(transaction)
        defer { scope.isOpen.withLock { $0 = false } }
        return try $current.withValue(scope) { try body(transaction) }
    }

    /// The transaction of `database` that runs on this thread; nil when there is none.
    static func transaction(of database: PackageDatabase) -> Transaction? {
        guard let scope = current, scope.thread == ThreadIdentity.current, scope.isOpen.withLock({ $0 }),
            scope.transaction.database === database
        else { return nil }
        return scope.transaction
    }
}
