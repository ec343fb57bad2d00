internal import MobileCore

/// The changes of one commit in the observed tables.
///
/// SQLite does not report rows of WITHOUT ROWID and virtual tables: then ``mayChangeAnyTable`` is true. A row that gets another rowid is reported
/// under both, a row that another one replaces under its own.
public struct CommittedChanges: Sendable, Hashable {
    /// The keys of the inserted, updated and deleted rows by table, in ascending order; `nil` stands for any of them, as after more than
    /// 4096 changes.
    public let tables: [String: [Int64]?]

    /// Whether unreported rows were changed: any table may have changed, and rows other than those in ``tables``.
    public let mayChangeAnyTable: Bool

    /// Returns whether rows of the table have changed, or may have.
    public func mayChange(_ table: String) -> Bool { mayChangeAnyTable || tables[table] != nil }
}

/// The registration of an observer of commits; it ends when its last reference is released.
@safe public final class Observation: Sendable {
    private let database: Database
    /// The core's observer, which the pool's lock guards.
    nonisolated(unsafe) private let handle: OpaquePointer
    /// The context of the core's callback; it lives as long as the observer.
    private let sink: ChangeSink

    fileprivate init(_ handle: OpaquePointer, of database: Database, sink: ChangeSink) {
        unsafe self.handle = handle
        self.database = database
        self.sink = sink
    }

    deinit { unsafe mc_pool_unobserve(database.pool, handle) }
}

extension Database {
    /// Calls `changed` after each commit of this database that changed rows of the tables: once for the whole transaction, including an
    /// import's, and in the order of the commits. A caller that reads after this call misses no change: a write that is already running is
    /// reported as one that may have changed any table.
    ///
    /// Without observers, changes are not recorded and cost nothing. Changes by other processes are not reported.
    ///
    ///     let observation = try database.observe(["customer"]) { changes in
    ///         if changes.mayChange("customer") { print("customers changed") }
    ///     }
    ///
    /// - Parameters:
    ///   - tables: the observed tables; empty for all.
    ///   - changed: a function that runs on the committing thread, which holds the writer meanwhile. Move long work to another
    ///     thread. The function may read, and must not write.
    /// - Returns: the observation, which the caller keeps as long as it needs the reports.
    /// - Throws: ``StoreError/Code/noMemory``.
    public func observe(_ tables: Set<String> = [], _ changed: @escaping @Sendable (CommittedChanges) -> Void) throws(StoreError) -> Observation {
        let sink = ChangeSink(changed)
        var observer: OpaquePointer?
        try unsafe StoreError.check { error in
            unsafe withCStrings(Array(tables)) { names in
                var observation = unsafe mc_observation(
                    tables: names.baseAddress, table_count: names.count, changed: ChangeSink.callback,
                    context: Unmanaged.passUnretained(sink).toOpaque())
                return unsafe mc_pool_observe(pool, &observation, &observer, error)
            }
        }
        return unsafe Observation(observer!, of: self, sink: sink)  // MC_OK promises an observer
    }

    /// Reports the commits as a stream, for tasks. A task that is slower than the writer misses none: they wait in the stream.
    ///
    ///     let commits = try database.commits(of: ["customer"])
    ///     try await database.write { try $0.execute("UPDATE customer SET city = 'Galway'") }
    ///     for await changes in commits where changes.mayChange("customer") { break }
    ///
    /// - Throws: ``StoreError/Code/noMemory``.
    public func commits(of tables: Set<String> = []) throws(StoreError) -> AsyncStream<CommittedChanges> {
        let (stream, continuation) = AsyncStream.makeStream(of: CommittedChanges.self)
        let observation = try observe(tables) { continuation.yield($0) }
        continuation.onTermination = { _ in withExtendedLifetime(observation) {} }
        return stream
    }
}

/// Passes the core's changes on to a closure.
private final class ChangeSink: Sendable {
    let report: @Sendable (CommittedChanges) -> Void

    init(_ report: @escaping @Sendable (CommittedChanges) -> Void) { self.report = report }

    static let callback: mc_changed = { context, changes in
        guard let context = unsafe context else { return }
        let sink = unsafe Unmanaged<ChangeSink>.fromOpaque(context).takeUnretainedValue()
        let changes = unsafe changes.pointee
        var tables: [String: [Int64]?] = [:]
        for index in unsafe 0..<changes.table_count {
            guard let table = unsafe changes.tables?[index] else { break }
            let keys = unsafe Array(UnsafeBufferPointer(start: table.keys, count: table.key_count))
            unsafe tables.updateValue(table.any_key ? nil : keys, forKey: String(cString: table.table))
        }
        sink.report(CommittedChanges(tables: tables, mayChangeAnyTable: unsafe changes.any_table))
    }
}

/// Calls `body` with the texts as C strings, which are valid during the call.
private func withCStrings<R>(_ texts: [String], _ body: (UnsafeBufferPointer<UnsafePointer<CChar>>) -> R) -> R {
    var places: [Int] = [], all: [CChar] = []  // one block with all texts in it
    for text in texts {
        places.append(all.count)
        all += text.utf8CString
    }
    return unsafe all.withUnsafeBufferPointer { block in
        let starts = unsafe block.baseAddress.map { start in unsafe places.map { unsafe start + $0 } } ?? []
        return unsafe starts.withUnsafeBufferPointer { unsafe body($0) }
    }
}

extension Connection {
    /// Runs `body`, and reports none of its changes to observers. For content that follows from other tables, whose changes are reported: an index of words
    /// (FTS5) writes rows that SQLite does not name, so that each commit would be reported as one that may have changed any table. FTS5 keeps what it has
    /// indexed in memory until the next savepoint or commit: set a savepoint in `body`, because the commit comes after it.
    ///
    ///     try connection.execute("INSERT INTO note (id, body) VALUES (?1, ?2)", [.integer(1), .text("Ring at the side door")])
    ///     try connection.withoutReporting {
    ///         try connection.execute("INSERT INTO words (rowid, body) SELECT id, body FROM note WHERE id = ?1", [.integer(1)])
    ///         try connection.execute("SAVEPOINT written; RELEASE written")
    ///     }
    ///
    /// - Throws: the error of `body`; ``StoreError/Code/misuse`` on a reader, and after the connection's closure has returned.
    public func withoutReporting<R>(_ body: () throws -> R) throws -> R {
        let handle = unsafe try core()
        guard isWriter else { throw StoreError(.misuse, "a reader changes nothing that could be reported") }
        unsafe mc_changes_pause(handle)
        defer { unsafe mc_changes_resume(handle) }
        return try body()
    }
}
