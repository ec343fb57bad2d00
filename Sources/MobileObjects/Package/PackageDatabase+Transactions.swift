internal import MobileExecution
import MobileStore

extension PackageDatabase {
    /// Runs `body` in one local transaction: all its creates, updates, deletes, submits and cancels are committed together, or,
    /// when it throws, not at all. Objects in memory then get their state back. Several saves in one transaction are faster.
    /// Nested transactions are savepoints. SMP 2.3: `beginTransaction`, `SUPLocalTransaction commit`, `rollback`.
    /// - Throws: the errors of `body`; ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func transaction<R>(_ body: () throws -> R) throws -> R {
        try write("transaction", measured: .transaction) { _ in try body() }
    }

    /// Does the same without blocking a cooperative thread. For objects that the caller has, use `transaction(with:_:)`, or find them inside.
    public final func transaction<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await write("transaction", measured: .transaction) { _ in try body() }
    }

    /// Does the same with objects, which go to the thread of the transaction and come back as the result. The caller gives them up: the compiler refuses
    /// objects that something else still uses, such as a property of an actor. Load those inside by their surrogate keys, and refresh them afterwards.
    ///
    ///     let found = try await Customer.findByName(name: "Harbour Foods", in: crm)
    ///     if let customer = found {
    ///         let moved = try await crm.transaction(with: customer) { customer in
    ///             customer.city = "Galway"
    ///             try customer.update()
    ///             try customer.submitPending()
    ///             return customer
    ///         }
    ///         print(moved.state)
    ///     }
    ///
    /// - Parameter objects: one object, a list of objects, or a tuple of them.
    /// - Returns: the result of `body`, which may be the objects.
    /// - Throws: the errors of `body`; ``ObjectError/Code/store``. The transaction is rolled back then, and the caller does not get the objects back.
    public nonisolated(nonsending) final func transaction<Objects, Result>(
        with objects: sending Objects, _ body: @escaping @Sendable (sending Objects) throws -> sending Result
    ) async throws -> sending Result {
        let given = Handover(objects)
        let result = try await write("transaction", measured: .transaction) { _ in
            guard let objects = given.take() else { throw Self.handedOverTwice }
            return Handover(try body(objects))
        }
        guard let result = result.take() else { throw Self.handedOverTwice }
        return result
    }

    private static var handedOverTwice: ObjectError { ObjectError(.misuse, "transaction: its objects were handed over twice") }

    /// Writes in a transaction. All writes to an open database use it. Inside a running transaction of this database it is a savepoint of that one.
    /// - Parameter type: the interval's type in an interaction.
    @discardableResult
    package final func write<R>(
        _ label: String, measured type: IntervalType = .persistenceWrite, _ body: (Transaction) throws -> R
    ) throws -> R {
        let interval = environment.performance?.begin(type)
        defer { environment.performance?.end(interval) }
        return try gate {
            if let running = TransactionScope.transaction(of: self) { return try nested(in: running, body) }
            var last: Transaction?
            do {
                let result = try openStoreForWriting().write(label: label) { connection in
                    let transaction = Transaction(connection, of: self)
                    last = transaction
                    return try perform(transaction, body)
                }
                lookAtStorage()
                return result
            } catch {
                last?.rolledBack()
                throw error
            }
        }
    }

    /// Does the same without blocking a cooperative thread.
    @discardableResult
    package final func write<R: Sendable>(
        _ label: String, measured type: IntervalType = .persistenceWrite, _ body: @escaping @Sendable (Transaction) throws -> R
    ) async throws -> R {
        let interval = environment.performance?.begin(type)
        defer { environment.performance?.end(interval) }
        do {
            let result = try await openStoreForWriting().write(label: label) { connection in
                let transaction = Transaction(connection, of: self)
                do { return try self.perform(transaction, body) } catch {
                    transaction.rolledBack()
                    throw error
                }
            }
            lookAtStorage()
            return result
        } catch let error as StoreError { throw failure(error) }
    }

    /// Reads one consistent state. Inside a running transaction of this database it includes that one's changes.
    package final func read<R>(_ body: (Connection) throws -> R) throws -> R {
        let interval = environment.performance?.begin(.persistenceRead)
        defer { environment.performance?.end(interval) }
        return try gate {
            if let running = TransactionScope.transaction(of: self) { return try body(running.connection) }
            return try openStore().read(body)
        }
    }

    /// Does the same without blocking a cooperative thread.
    package final func read<R: Sendable>(_ body: @escaping @Sendable (Connection) throws -> R) async throws -> R {
        let interval = environment.performance?.begin(.persistenceRead)
        defer { environment.performance?.end(interval) }
        do { return try await openStore().read(body) } catch let error as StoreError { throw failure(error) }
    }

    /// Reads the first rows of a select in their current state; inside a running transaction of this thread with its changes.
    final func page(_ select: PageSelect, _ values: [Value], size: Int) throws -> RowPage {
        let interval = environment.performance?.begin(.persistenceRead)
        defer { environment.performance?.end(interval) }
        let store = try openStore()
        // Without ``read(_:)``: one statement needs no transaction, and the store itself finds this thread's.
        do throws(StoreError) { return try store.page(select, values, size: size) } catch { throw failure(error) }
    }

    /// Converts every error of the store into an `ObjectError`; errors of callers' own closures pass unchanged.
    private func gate<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let error as StoreError { throw failure(error) }
    }

    private func perform<R>(_ transaction: Transaction, _ body: (Transaction) throws -> R) throws -> R {
        let result = try TransactionScope.run(transaction, body)
        try transaction.close()
        return result
    }

    private func nested<R>(in running: Transaction, _ body: (Transaction) throws -> R) throws -> R {
        let mark = running.undoMark
        do {
            let result = try running.connection.savepoint { try body(running) }
            running.noteSeenCounters()
            return result
        } catch {
            running.rollBack(to: mark)
            throw error
        }
    }
}
