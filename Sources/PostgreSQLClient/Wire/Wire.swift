internal import MobilePostgreSQL

/// The thin layer over a connection of libpq: every call of libpq about connections is in this folder, and no call of it blocks without a deadline.
///
/// One thread uses it at a time. After a failure of the connection, ``isOpen`` is false, and the object is of no other use.
@safe final class Wire {
    private let connection: OpaquePointer
    private let end: UnsafeMutablePointer<mpq_end>
    private var wasCut = false

    /// Begins to connect; ``connect(until:)`` continues.
    init(_ parameters: [(key: String, value: String)]) throws(PostgreSQLError) {
        let keys = CStrings(parameters.map(\.key)), values = CStrings(parameters.map(\.value))
        guard let connection = unsafe PQconnectStartParams(keys.pointers, values.pointers, 0) else {
            throw PostgreSQLError(.outOfResources, "no memory for a connection")
        }
        unsafe self.connection = connection
        unsafe end = .allocate(capacity: 1)
        unsafe mpq_watch_notices(connection, end)
        // While it connects, the message is the only place of the SQLSTATE.
        _ = unsafe PQsetErrorVerbosity(connection, PQERRORS_VERBOSE)
    }

    deinit {
        unsafe PQfinish(connection)
        unsafe end.deallocate()
    }

    /// Connects and logs in.
    /// - Throws: `.connectionFailed`, `.authentication`, `.timeout` and the kinds of the server's own refusals.
    func connect(until deadline: Deadline) throws(PostgreSQLError) {
        guard unsafe PQstatus(connection) != CONNECTION_BAD else { throw connectionFailure }
        var next = PGRES_POLLING_WRITING
        while next != PGRES_POLLING_OK {
            guard next != PGRES_POLLING_FAILED else { throw connectionFailure }
            guard !wait(for: next == PGRES_POLLING_WRITING ? .write : .read, until: deadline).isEmpty else {
                cut()
                throw PostgreSQLError(.timeout, "no connection to PostgreSQL before the deadline")
            }
            next = unsafe PQconnectPoll(connection)
        }
        _ = unsafe PQsetErrorVerbosity(connection, PQERRORS_DEFAULT)
        guard unsafe PQsetnonblocking(connection, 1) == 0 else { throw connectionFailure }
    }

    private var connectionFailure: PostgreSQLError {
        let needsPassword = unsafe PQconnectionNeedsPassword(connection) != 0
        return PostgreSQLError(connecting: message, needsPassword: needsPassword)
    }

    /// The last message about the connection, on one line.
    private var message: String { unsafe String(cString: PQerrorMessage(connection)).oneLine }

    // MARK: State

    /// Whether the connection works, as far as libpq knows.
    var isOpen: Bool { unsafe !wasCut && PQstatus(connection) == CONNECTION_OK && end.pointee.state.0 == 0 }

    /// The SQLSTATE with which the server ended the session between two statements; nil if it did not.
    private var endState: String? {
        unsafe withUnsafeBytes(of: end.pointee.state) { unsafe $0[0] == 0 ? nil : String(decoding: $0.prefix(5), as: UTF8.self) }
    }

    /// The version, such as 150018 for 15.18.
    var serverVersion: Int { Int(unsafe PQserverVersion(connection)) }

    /// The process of the server that serves this connection.
    var processID: Int { Int(unsafe PQbackendPID(connection)) }

    /// Whether TLS protects the connection.
    var usesTLS: Bool { unsafe PQsslInUse(connection) != 0 }

    /// The states of a session between statements.
    enum TransactionState {
        case idle, open, failed, unknown
    }

    /// The session's transaction, as the server's last message said.
    var transactionState: TransactionState {
        switch unsafe PQtransactionStatus(connection) {
        case PQTRANS_IDLE: .idle
        case PQTRANS_INTRANS: .open
        case PQTRANS_INERROR: .failed
        default: .unknown
        }
    }

    /// Ends the connection at once, without a word to the server.
    func cut() {
        wasCut = true
        let socket = unsafe PQsocket(connection)
        if socket >= 0 { SocketWait.cut(socket) }
    }

    /// A handle for cancelling this connection's statements.
    func cancelHandle() throws(PostgreSQLError) -> CancelHandle {
        guard let handle = unsafe PQgetCancel(connection) else { throw PostgreSQLError(.outOfResources, "no memory for a connection") }
        return unsafe CancelHandle(handle)
    }

    /// The failure of a connection that broke.
    func lost() -> PostgreSQLError {
        let reason = wasCut || message.isEmpty ? "the connection to PostgreSQL broke" : message, state = endState
        cut()
        guard let state else { return PostgreSQLError(.connectionLost, reason, endsSession: true) }
        return PostgreSQLError(SQLState.code(state), "the server has ended the session between two statements", sqlState: state, endsSession: true)
    }

    // MARK: Sending

    /// Runs one call of libpq that queues a message.
    private func queue(_ call: (OpaquePointer) -> Int32) throws(PostgreSQLError) {
        guard isOpen else { throw lost() }
        guard unsafe call(connection) == 1 else { throw isOpen ? PostgreSQLError(.other, message) : lost() }
    }

    /// Queues SQL without parameters: one or several statements.
    func send(script: String) throws(PostgreSQLError) { try unsafe queue { unsafe PQsendQuery($0, script) } }

    /// Queues the preparation of a statement.
    func send(prepare sql: String, as name: String) throws(PostgreSQLError) { try unsafe queue { unsafe PQsendPrepare($0, name, sql, 0, nil) } }

    /// Queues the question for the types of a prepared statement.
    func send(describe name: String) throws(PostgreSQLError) { try unsafe queue { unsafe PQsendDescribePrepared($0, name) } }

    /// Queues a statement with parameters that is not kept; inside of a pipeline, where ``send(script:)`` does not work.
    func send(once sql: String) throws(PostgreSQLError) { try unsafe queue { unsafe PQsendQueryParams($0, sql, 0, nil, nil, nil, nil, 0) } }

    /// Queues the execution of a prepared statement.
    func send(execute name: String, _ parameters: EncodedParameters, format: Int32) throws(PostgreSQLError) {
        try unsafe queue { connection in
            unsafe parameters.bytes.withUnsafeBytes { bytes in
                // An empty text has its zero byte in `bytes`; empty bytes may be the only value, and need an address that is not NULL.
                let start = unsafe bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)!
                let values = unsafe parameters.offsets.map { offset -> UnsafePointer<CChar>? in
                    unsafe offset < 0 ? nil : (start + offset).assumingMemoryBound(to: CChar.self)
                }
                return unsafe PQsendQueryPrepared(connection, name, Int32(values.count), values, parameters.lengths, parameters.formats, format)
            }
        }
    }

    /// Makes the statement that was queued last deliver its rows one by one.
    func setSingleRowMode() { _ = unsafe PQsetSingleRowMode(connection) }

    /// Lets several statements be queued.
    func enterPipeline() throws(PostgreSQLError) { try unsafe queue { unsafe PQenterPipelineMode($0) } }

    /// Ends the pipeline, whose results have all been read.
    func exitPipeline() throws(PostgreSQLError) { try unsafe queue { unsafe PQexitPipelineMode($0) } }

    /// Whether statements can be queued.
    var isPipeline: Bool { unsafe PQpipelineStatus(connection) != PQ_PIPELINE_OFF }

    /// Queues the end of a pipeline's implicit transaction.
    func sendSync() throws(PostgreSQLError) { try unsafe queue { unsafe PQpipelineSync($0) } }

    /// Sends queued messages as far as the socket takes them.
    /// - Returns: whether all are sent.
    func flush() throws(PostgreSQLError) -> Bool {
        switch unsafe PQflush(connection) {
        case 0: return true
        case 1: return false
        default: throw lost()
        }
    }

    /// Sends all queued messages, and reads meanwhile, because a server that cannot send stops reading.
    func flush(until deadline: Deadline) throws(PostgreSQLError) {
        while try !flush() { try receive([.read, .write], until: deadline) }
    }

    // MARK: Receiving

    /// Waits, and takes in the bytes that have arrived.
    /// - Throws: `.timeout`, `.connectionLost`.
    func receive(_ events: SocketWait.Events, until deadline: Deadline) throws(PostgreSQLError) {
        let ready = wait(for: events, until: deadline)
        guard !ready.isEmpty else { throw PostgreSQLError(.timeout, "the deadline has passed") }
        if ready.contains(.read) { try consume() }
    }

    /// Takes in the bytes that have arrived. Messages before the end of a broken connection can still be read.
    func consume() throws(PostgreSQLError) {
        if unsafe PQconsumeInput(connection) == 0 && PQisBusy(connection) != 0 { throw lost() }
    }

    private func wait(for events: SocketWait.Events, until deadline: Deadline) -> SocketWait.Events {
        let socket = unsafe PQsocket(connection)
        return socket < 0 ? [.read, .write] : SocketWait.wait(socket, for: events, until: deadline)
    }

    /// Whether the next result can be read without waiting.
    var hasResult: Bool { unsafe PQisBusy(connection) == 0 }

    /// The next result that has arrived; nil at the end of a statement's results.
    func result() -> ServerResult? { unsafe PQgetResult(connection).map { unsafe ServerResult($0) } }

    /// Waits for the next result.
    /// - Returns: nil at the end of a statement's results.
    func result(until deadline: Deadline) throws(PostgreSQLError) -> ServerResult? {
        while !hasResult { try receive(.read, until: deadline) }
        return result()
    }

    // MARK: COPY

    /// Queues a piece of the rows of a COPY.
    func put(_ bytes: [UInt8]) throws(PostgreSQLError) {
        try unsafe queue { connection in
            unsafe bytes.withUnsafeBytes { unsafe PQputCopyData(connection, $0.baseAddress?.assumingMemoryBound(to: CChar.self), Int32($0.count)) }
        }
    }

    /// Queues the end of the rows of a COPY.
    /// - Parameter reason: the message with which the server shall refuse them; nil for a success.
    func endCopy(refusing reason: String?) throws(PostgreSQLError) { try unsafe queue { unsafe PQputCopyEnd($0, reason) } }

    // MARK: Notifications

    /// The next notification that has arrived.
    func notification() -> PostgreSQLNotification? {
        guard let notification = unsafe PQnotifies(connection) else { return nil }
        defer { unsafe PQfreemem(notification) }
        return unsafe PostgreSQLNotification(
            channel: String(cString: notification.pointee.relname), payload: String(cString: notification.pointee.extra),
            processID: Int(notification.pointee.be_pid))
    }

    /// Waits until bytes arrive, and takes them in.
    /// - Returns: false when the deadline passes.
    func awaitInput(until deadline: Deadline) throws(PostgreSQLError) -> Bool {
        guard !wait(for: .read, until: deadline).isEmpty else { return false }
        let isRead = unsafe PQconsumeInput(connection) == 1
        _ = hasResult  // libpq looks into what it has read: the end of the session may be among it
        guard isRead, isOpen else { throw lost() }
        return true
    }
}

extension String {
    /// The text with spaces for line breaks, without those at its end.
    var oneLine: String { split(whereSeparator: \.isNewline).joined(separator: " ") }
}
