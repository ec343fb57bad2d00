import Foundation
import MobileCore
import MobileExecution
import Synchronization
import Testing

/// The assignment of connections to callers. The tests follow threads by the pool's statistics, not by the clock.
@Suite struct CheckoutTests {
    @Test func `the writer goes to those who wait in the order of their calls`() throws {
        let core = try CorePool()
        let order = SystemLock<[Int]>([])
        let writer = try core.checkOut(writer: true)
        var threads: [TestThread<Void>] = []
        for number in 0..<5 {
            threads.append(
                TestThread {
                    try core.with(writer: true) { _ in order.withLock { $0.append(number) } }
                })
            core.until { $0.waiting_for_writer == number + 1 }
        }
        core.giveBack(writer)
        for thread in threads { try thread.value() }
        #expect(order.withLock { $0 } == [0, 1, 2, 3, 4])
        #expect(core.statistics.waits == 5)
    }

    @Test func `readers are opened when needed, up to the limit, and the last used one is the next`() throws {
        let core = try CorePool { $0.readers = 2 }
        #expect(core.statistics.readers_open == 0)
        let first = try core.checkOut(loose: true)
        let second = try core.checkOut(loose: true)
        #expect(core.statistics.readers_open == 2)
        core.giveBack(first)
        core.giveBack(second)
        let again = try core.checkOut(loose: true)
        #expect(again == second)
        core.giveBack(again)
    }

    @Test func `a reader that comes back goes to who waits first`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        let thread = TestThread { try core.with { Int(bitPattern: $0) } }
        core.until { $0.waiting_for_reader == 1 }
        core.giveBack(reader)
        #expect(try thread.value() == Int(bitPattern: reader))
    }

    @Test func `a timeout says who holds the writer, for how long, and what to do`() throws {
        let core = try CorePool()
        let writer = try core.checkOut(writer: true, loose: true, label: "import of sales_order")
        let error = #expect(throws: CoreError.self) { _ = try core.checkOut(writer: true, timeout: 20_000_000) }
        #expect(error?.code == MC_ERROR_TIMEOUT)
        let message = try #require(error?.message)
        // The time depends on the load of the processor.
        let expected = /no write connection within 0\.0 s: "import of sales_order" has held it for \d+\.\d s; raise the timeout.*/
        #expect(message.wholeMatch(of: expected) != nil, "\(message)")
        core.giveBack(writer)
        core.giveBack(try core.checkOut(writer: true, timeout: Int64(MC_WAIT_NEVER)))
    }

    @Test func `a timeout of readers says how many are in use`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        let error = #expect(throws: CoreError.self) { _ = try core.checkOut(loose: true, timeout: Int64(MC_WAIT_NEVER)) }
        #expect(error?.message.contains("all 1 are in use") == true)
        core.giveBack(reader)
    }

    @Test func `a zeroed check-out waits, as long as the pool's options say`() throws {
        let core = try CorePool { $0.busy_timeout_ns = 20_000_000 }
        let writer = try core.checkOut(writer: true, loose: true)
        var checkout = mc_default_checkout(), connection: OpaquePointer?
        checkout.writer = true
        let began = ContinuousClock.now
        let error = #expect(throws: CoreError.self) { try CoreError.check { mc_pool_checkout(core.pool, &checkout, &connection, $0) } }
        #expect(error?.code == MC_ERROR_TIMEOUT && ContinuousClock.now - began >= .milliseconds(20))
        core.giveBack(writer)
        try CoreError.check { mc_pool_checkout(core.pool, &checkout, &connection, $0) }
        core.giveBack(connection!)
    }

    @Test func `a rest of time that was computed and is used up is refused`() throws {
        let core = try CorePool()
        let error = #expect(throws: CoreError.self) { _ = try core.checkOut(timeout: -3) }
        #expect(error?.code == MC_ERROR_MISUSE && error?.message == "check-out with a timeout of -3 ns: use 1 or more, or one of MC_WAIT_...")
        var checkout = mc_default_checkout(), refused = MC_OK
        checkout.timeout_ns = .min
        withUnsafeMutablePointer(to: &refused) { refused in
            mc_pool_checkout_later(
                core.pool, &checkout, { context, _, error in context!.assumingMemoryBound(to: mc_status.self).pointee = error!.pointee.code }, refused
            )
        }
        #expect(refused == MC_ERROR_MISUSE)
    }

    @Test func `labels are cut between characters`() throws {
        let core = try CorePool()
        let writer = try core.checkOut(writer: true, loose: true, label: String(repeating: "ü", count: 60))
        let error = #expect(throws: CoreError.self) { _ = try core.checkOut(writer: true, timeout: Int64(MC_WAIT_NEVER)) }
        #expect(error?.message.contains("\"" + String(repeating: "ü", count: 40) + "\"") == true)
        core.giveBack(writer)
    }

    @Test func `a thread that holds all readers itself is refused, and so is its close`() throws {
        let core = try CorePool {
            $0.readers = 2
            $0.busy_timeout_ns = 20_000_000
        }
        let first = try core.checkOut(loose: true, label: "pages of customer"), second = try core.checkOut(loose: true)
        let refused = #expect(throws: CoreError.self) { _ = try core.checkOut() }
        #expect(refused?.code == MC_ERROR_MISUSE)
        #expect(
            refused?.message == "this thread holds all 2 read connections itself, one as \"pages of customer\": end one of these reads first, "
                + "or raise the maximum connections")
        let close = #expect(throws: CoreError.self) { try CoreError.check { mc_pool_close(core.pool, $0) } }
        #expect(close?.code == MC_ERROR_MISUSE && close?.message.contains("this thread still uses one of its connections") == true)
        core.giveBack(second)
        #expect(try core.integer("SELECT 1") == 1)
        core.giveBack(first)
        try CoreError.check { mc_pool_close(core.pool, $0) }
    }

    @Test func `a connection that another thread uses is waited for`() throws {
        let core = try CorePool { $0.readers = 1 }
        nonisolated(unsafe) let reader = try core.checkOut(loose: true)
        let isUsed = Atomic(false)
        let thread = TestThread {
            try exec(reader, "SELECT 1")
            isUsed.store(true, ordering: .releasing)
            core.until { $0.waiting_for_reader == 1 }
            core.giveBack(reader)
        }
        while !isUsed.load(ordering: .acquiring) { sched_yield() }
        core.giveBack(try core.checkOut())
        try thread.value()
    }

    /// The system gives the id of a thread that has ended to one of the next ones, mostly the first of them.
    @Test func `a thread does not continue in the transaction of one that ended`() throws {
        let core = try CorePool()
        nonisolated(unsafe) let left = try TestThread {
            let writer = try core.checkOut(writer: true, label: "left")
            try CoreError.check { mc_connection_begin(writer, $0) }
            return Int(bitPattern: writer)
        }.value()
        for _ in 0..<20 {
            let error = #expect(throws: CoreError.self) {
                _ = try TestThread { Int(bitPattern: try core.checkOut(writer: true, timeout: Int64(MC_WAIT_NEVER))) }.value()
            }
            #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.contains("\"left\"") == true)
        }
        core.giveBack(OpaquePointer(bitPattern: left)!)
    }

    @Test func `a wait is interrupted`() throws {
        let core = try CorePool()
        let ticket = try Ticket()
        let writer = try core.checkOut(writer: true, loose: true)
        let thread = TestThread { _ = try core.checkOut(writer: true, ticket: ticket.handle) }
        core.until { $0.waiting_for_writer == 1 }
        mc_ticket_interrupt(ticket.handle)
        let error = #expect(throws: CoreError.self) { _ = try thread.value() }
        #expect(error?.code == MC_ERROR_INTERRUPTED)
        #expect(core.statistics.waiting_for_writer == 0)
        core.giveBack(writer)
        core.giveBack(try core.checkOut(writer: true, timeout: Int64(MC_WAIT_NEVER)))
    }

    @Test func `running work is interrupted, everything after it as well, and its transaction is rolled back`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        let ticket = try Ticket()
        let hasBegun = Atomic(false)
        let thread = TestThread {
            let writer = try core.checkOut(writer: true, ticket: ticket.handle)
            defer { core.giveBack(writer) }
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO t VALUES (1)")
            hasBegun.store(true, ordering: .releasing)
            let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
            var codes: [mc_status] = []
            for sql in [endless, "SELECT 1"] {
                do { try exec(writer, sql) } catch let error as CoreError { codes.append(error.code) }
            }
            return codes
        }
        while !hasBegun.load(ordering: .acquiring) {}
        mc_ticket_interrupt(ticket.handle)
        #expect(try thread.value() == [MC_ERROR_INTERRUPTED, MC_ERROR_INTERRUPTED])
        #expect(try core.integer("SELECT count(*) FROM t") == 0)
    }

    @Test func `the ticket of a nested check-out interrupts its work alone, that of the outer one both`() throws {
        let core = try CorePool()
        let outer = try Ticket(), inner = try Ticket()
        func code(_ connection: OpaquePointer) -> mc_status {
            do { try exec(connection, "SELECT 1") } catch let error as CoreError { return error.code } catch {}
            return MC_OK
        }
        let writer = try core.checkOut(writer: true, ticket: outer.handle)
        let nested = try core.checkOut(writer: true, ticket: inner.handle)
        let again = try core.checkOut(ticket: inner.handle)
        #expect(nested == writer && again == writer)
        mc_ticket_interrupt(inner.handle)
        #expect(code(again) == MC_ERROR_INTERRUPTED)
        core.giveBack(again)
        #expect(code(nested) == MC_ERROR_INTERRUPTED)
        core.giveBack(nested)
        #expect(code(writer) == MC_OK)
        let error = #expect(throws: CoreError.self) { _ = try core.checkOut(ticket: inner.handle) }
        #expect(error?.code == MC_ERROR_INTERRUPTED)
        let next = try Ticket(), last = try core.checkOut(ticket: next.handle)
        mc_ticket_interrupt(outer.handle)
        #expect(code(last) == MC_ERROR_INTERRUPTED)
        core.giveBack(last)
        #expect(code(writer) == MC_ERROR_INTERRUPTED)
        core.giveBack(writer)
        #expect(try core.integer("SELECT 1") == 1)
    }

    @Test func `a savepoint of interrupted work is undone, also beside a statement that stands on a row`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)") }
        let ticket = try Ticket()
        let writer = try core.checkOut(writer: true, loose: true, ticket: ticket.handle)
        try CoreError.check { mc_connection_begin(writer, $0) }
        try exec(writer, "INSERT INTO t VALUES (3)")
        try withStatement(writer, "SELECT a FROM t") { (statement) throws in
            var hasRow = false
            try CoreError.check { mc_statement_step(statement, &hasRow, $0) }
            try CoreError.check { mc_connection_savepoint(writer, $0) }
            try exec(writer, "DELETE FROM t WHERE a = 1")
            mc_ticket_interrupt(ticket.handle)
            mc_connection_rollback_savepoint(writer)
        }
        try CoreError.check { mc_connection_commit(writer, $0) }
        core.giveBack(writer)
        #expect(try core.integer("SELECT sum(a) FROM t") == 6)
    }

    @Test func `nothing runs behind the end of its transaction`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a UNIQUE ON CONFLICT ROLLBACK); INSERT INTO t VALUES (1)") }
        try core.with(writer: true) { writer in
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO t VALUES (2)")
            #expect(throws: CoreError.self) { try exec(writer, "INSERT INTO t VALUES (1)") }  // SQLite rolls back the transaction
            let calls: [() throws -> Void] = [
                { try exec(writer, "INSERT INTO t VALUES (3)") },
                { _ = try integer(writer, "SELECT a FROM t") },
                { try CoreError.check { mc_connection_savepoint(writer, $0) } },
                { try CoreError.check { mc_connection_commit(writer, $0) } },
            ]
            for call in calls {
                let error = #expect(throws: CoreError.self) { try call() }
                #expect(error?.code == MC_ERROR_MISUSE)
                #expect(error?.message.contains("the transaction has been rolled back already, by SQLite after an earlier error") == true)
            }
        }
        try core.with(writer: true) { try exec($0, "INSERT INTO t VALUES (4)") }
        #expect(try core.integer("SELECT sum(a) FROM t") == 5)
    }

    @Test func `the end of a transaction is not interrupted`() throws {
        let core = try CorePool { $0.synchronous = MC_SYNCHRONOUS_OFF }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        let current = CurrentTicket(), isDone = Atomic(false)
        let thread = TestThread {
            while !isDone.load(ordering: .acquiring) { current.interrupt() }
        }
        var committed: Int64 = 0
        for _ in 0..<2000 {
            let ticket = try Ticket()
            let writer = try core.checkOut(writer: true, loose: true, ticket: ticket.handle)
            try CoreError.check { mc_connection_begin(writer, $0) }
            try exec(writer, "INSERT INTO t VALUES (1)")
            current.set(ticket)
            try CoreError.check { mc_connection_commit(writer, $0) }
            committed += 1
            current.set(nil)
            core.giveBack(writer)
        }
        isDone.store(true, ordering: .releasing)
        try thread.value()
        #expect(try core.integer("SELECT count(*) FROM t") == committed)
    }

    @Test func `a ticket that was interrupted before gets nothing, one in use cannot be used twice`() throws {
        let core = try CorePool()
        let ticket = try Ticket()
        let reader = try core.checkOut(loose: true, ticket: ticket.handle)
        let twice = #expect(throws: CoreError.self) { _ = try core.checkOut(loose: true, ticket: ticket.handle) }
        #expect(twice?.code == MC_ERROR_MISUSE)
        core.giveBack(reader)
        mc_ticket_interrupt(ticket.handle)
        let late = #expect(throws: CoreError.self) { _ = try core.checkOut(loose: true, ticket: ticket.handle) }
        #expect(late?.code == MC_ERROR_INTERRUPTED)
    }

    @Test func `close refuses those who wait, waits for those who are in, and refuses those who come later`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut(loose: true)
        let waiting = TestThread { _ = try core.checkOut() }
        core.until { $0.waiting_for_reader == 1 }
        let isClosed = Atomic(false)
        let closing = TestThread {
            try CoreError.check { mc_pool_close(core.pool, $0) }
            isClosed.store(true, ordering: .releasing)
        }
        let refused = #expect(throws: CoreError.self) { try waiting.value() }
        #expect(refused?.code == MC_ERROR_CLOSED)
        #expect(try integer(reader, "SELECT 5") == 5)
        let wasClosed = isClosed.load(ordering: .acquiring)
        #expect(!wasClosed)
        core.giveBack(reader)
        try closing.value()
        #expect(#expect(throws: CoreError.self) { _ = try core.checkOut(writer: true) }?.code == MC_ERROR_CLOSED)
        try CoreError.check { mc_pool_close(core.pool, $0) }
    }

    @Test func `close on a thread that holds a connection is refused`() throws {
        let core = try CorePool()
        try core.with { _ in
            let error = #expect(throws: CoreError.self) { try CoreError.check { mc_pool_close(core.pool, $0) } }
            #expect(error?.code == MC_ERROR_MISUSE)
        }
        #expect(try core.integer("SELECT 1") == 1)
    }

    @Test func `check-outs of one thread nest`() throws {
        let core = try CorePool { $0.readers = 1 }
        let reader = try core.checkOut()
        #expect(try core.checkOut() == reader)
        let writer = try core.checkOut(writer: true)
        #expect(try core.checkOut(writer: true) == writer)
        #expect(try core.checkOut() == writer)
        #expect(mc_connection_depth(writer) == 3)
        for connection in [writer, writer, writer, reader, reader] { core.giveBack(connection) }
        #expect(core.statistics.readers_active == 0)
        #expect(!core.statistics.writer_is_active)
    }

    @Test func `a reader beside the writer keeps its snapshot`() throws {
        let core = try CorePool()
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(a)") }
        let reader = try core.checkOut(loose: true)
        try CoreError.check { mc_connection_begin(reader, $0) }
        #expect(try integer(reader, "SELECT count(*) FROM t") == 0)
        try core.with(writer: true) { try exec($0, "INSERT INTO t VALUES (1)") }
        #expect(try integer(reader, "SELECT count(*) FROM t") == 0)
        core.giveBack(reader)
        #expect(try core.integer("SELECT count(*) FROM t") == 1)
    }

    @Test func `another pool's write lock is waited for up to the timeout`() throws {
        let core = try CorePool()
        let other = try CorePool.open(core.directory + "/core.db")
        defer { mc_pool_free(other) }
        try core.with(writer: true) { (writer) throws in
            try CoreError.check { mc_connection_begin(writer, $0) }
            var checkout = mc_checkout(writer: true, is_long: false, loose: false, timeout_ns: 30_000_000, label: nil, ticket: nil)
            var second: OpaquePointer?
            try CoreError.check { mc_pool_checkout(other, &checkout, &second, $0) }
            let error = #expect(throws: CoreError.self) { try CoreError.check { mc_connection_begin(second!, $0) } }
            #expect(error?.code == MC_ERROR_TIMEOUT)
            #expect(error?.message.hasPrefix("no write lock within 0.0 s: another process or pool writes to") == true)
            mc_pool_return(other, second!)
        }
    }

    @Test func `a connection is granted to a callback, at once or later, or times out`() throws {
        let core = try CorePool()
        let grants = Grants()
        var checkout = mc_checkout(writer: true, is_long: false, loose: false, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        let writer = try #require(grants.connections.first)
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        #expect(core.statistics.waiting_for_writer == 1)
        let ticket = try Ticket()
        checkout.ticket = ticket.handle
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        mc_ticket_time_out(ticket.handle, 1_500_000_000)
        #expect(grants.errors.first?.message.hasPrefix("no write connection within 1.5 s: \"a write without a label\" has held it") == true)
        core.giveBack(writer)
        #expect(grants.connections == [writer, writer])
        core.giveBack(writer)
    }

    @Test func `a time-out before the wait begins ends it, one during the work or after it has no effect`() throws {
        let core = try CorePool(), grants = Grants(), ticket = try Ticket()
        var checkout = mc_checkout(writer: true, is_long: false, loose: false, timeout_ns: Int64(MC_WAIT_FOREVER), label: nil, ticket: nil)
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        let writer = try #require(grants.connections.first)
        mc_ticket_time_out(ticket.handle, 1_500_000_000)
        checkout.ticket = ticket.handle
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        #expect(grants.errors.map(\.code) == [MC_ERROR_TIMEOUT] && core.statistics.waiting_for_writer == 0)
        #expect(grants.errors.first?.message.hasPrefix("no write connection within 1.5 s: \"a write without a label\" has held it") == true)
        core.giveBack(writer)
        // The same ticket for two more check-outs: late time-outs of the first ones do not end the next.
        mc_ticket_time_out(ticket.handle, 1_500_000_000)
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        mc_ticket_time_out(ticket.handle, 1_500_000_000)
        core.giveBack(writer)
        checkout.ticket = nil
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        checkout.ticket = ticket.handle
        mc_pool_checkout_later(core.pool, &checkout, Grants.callback, grants.context)
        #expect(core.statistics.waiting_for_writer == 1 && grants.errors.count == 1)
        mc_ticket_time_out(ticket.handle, 2_000_000_000)
        #expect(grants.errors.count == 2 && grants.errors.last?.message.hasPrefix("no write connection within 2.0 s") == true)
        core.giveBack(writer)
    }

    @Test func `many threads read and write, and nothing is lost`() throws {
        let core = try CorePool {
            $0.readers = 3; $0.page_size = 4096; $0.cache_bytes = 40960
        }
        try core.with(writer: true) { try exec($0, "CREATE TABLE t(thread, i)") }
        let threads = (0..<6).map { number in
            TestThread {
                for i in 0..<40 {
                    try core.with(writer: true) { (writer) throws in
                        try CoreError.check { mc_connection_begin(writer, $0) }
                        try exec(writer, "INSERT INTO t VALUES (\(number), \(i)), (\(number), -\(i + 1))")
                        if i % 2 == 1 { mc_connection_rollback(writer) } else { try CoreError.check { mc_connection_commit(writer, $0) } }
                    }
                    try core.with { (reader) throws in
                        #expect(try integer(reader, "SELECT count(*) FROM t") % 2 == 0)
                        #expect(try integer(reader, "SELECT count(*) FROM t WHERE thread = \(number)") == Int64(i / 2 * 2 + 2))
                    }
                }
            }
        }
        for thread in threads { try thread.value() }
        #expect(try core.integer("SELECT count(*) FROM t") == 6 * 40)
    }
}

private final class Ticket: @unchecked Sendable {  // a ticket may be used on any thread
    let handle: OpaquePointer

    init() throws {
        var handle: OpaquePointer?
        try CoreError.check { mc_ticket_create(&handle, $0) }
        self.handle = handle!
    }

    deinit { mc_ticket_free(handle) }
}

/// The ticket that another thread may interrupt at this moment. The lock is one that the thread sanitizer knows, because it is contended.
private final class CurrentTicket: @unchecked Sendable {
    private let lock = NSLock()
    private var ticket: Ticket?

    func set(_ ticket: Ticket?) { lock.withLock { self.ticket = ticket } }
    func interrupt() { lock.withLock { if let ticket { mc_ticket_interrupt(ticket.handle) } } }
}

/// The results of a callback, all on the test's own thread.
private final class Grants {
    var connections: [OpaquePointer] = []
    var errors: [CoreError] = []

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    static let callback: mc_granted = { context, connection, error in
        let grants = Unmanaged<Grants>.fromOpaque(context!).takeUnretainedValue()
        if let connection { grants.connections.append(connection) }
        if let error { grants.errors.append(CoreError(error.pointee)) }
    }
}
