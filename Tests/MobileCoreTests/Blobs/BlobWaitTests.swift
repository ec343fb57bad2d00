import MobileCore
import Testing

/// The waits of readers of large values for a connection.
@Suite struct BlobWaitTests {
    private let core: CorePool
    private let value: Int64
    private let content = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    init() throws {
        core = try CorePool { $0.readers = 1 }
        try core.prepareBlobs()
        value = try core.writeBlob(content)
    }

    private func open(timeout: Int64 = 0, ticket: OpaquePointer? = nil) throws(CoreError) -> OpaquePointer {
        var options = mc_blob_reader_default_options(), reader: OpaquePointer?
        (options.timeout_ns, options.ticket) = (timeout, ticket)
        try CoreError.check { mc_blob_reader_open(core.pool, value, &options, &reader, $0) }
        return reader!
    }

    private func read(_ reader: OpaquePointer, _ count: Int) throws(CoreError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count), length = 0
        try CoreError.check { mc_blob_reader_read(reader, &bytes, count, &length, $0) }
        return Array(bytes[..<length])
    }

    @Test func `a large value is not waited for longer than its options say, at the opening and in each read`() throws {
        let reader = try open(timeout: Int64(MC_WAIT_NEVER))
        defer { mc_blob_reader_free(reader) }
        #expect(try read(reader, 100_000) == Array(content[..<100_000]))
        let held = try core.checkOut(loose: true)
        for attempt in [{ try open(timeout: Int64(MC_WAIT_NEVER)) }, { try open(timeout: 1_000_000) }] {
            let error = #expect(throws: CoreError.self) { _ = try attempt() }
            #expect(error?.code == MC_ERROR_TIMEOUT && error?.message.hasPrefix("no read connection within 0.0 s") == true)
        }
        let error = #expect(throws: CoreError.self) { _ = try read(reader, 150_000) }
        #expect(error?.code == MC_ERROR_TIMEOUT && mc_blob_reader_position(reader) == 100_000)
        core.giveBack(held)
        #expect(try read(reader, 200_000) == Array(content[100_000...]))
    }

    @Test func `a ticket ends the wait of a read, and all later reads`() throws {
        var ticket: OpaquePointer?
        try CoreError.check { mc_ticket_create(&ticket, $0) }
        defer { mc_ticket_free(ticket) }
        let reader = try open(timeout: Int64(MC_WAIT_FOREVER), ticket: ticket)
        defer { mc_blob_reader_free(reader) }
        let held = try core.checkOut(loose: true)
        nonisolated(unsafe) let (used, end) = (reader, ticket!)
        let waiting = TestThread { [self] in #expect(throws: CoreError.self) { _ = try read(used, 10) }?.code }
        core.until { $0.waiting_for_reader == 1 }
        mc_ticket_interrupt(end)
        #expect(try waiting.value() == MC_ERROR_INTERRUPTED)
        core.giveBack(held)
        let later = #expect(throws: CoreError.self) { _ = try read(reader, 10) }
        #expect(later?.code == MC_ERROR_INTERRUPTED && mc_blob_reader_position(reader) == 0)
        let other = #expect(throws: CoreError.self) { _ = try open(ticket: ticket) }
        #expect(other?.code == MC_ERROR_INTERRUPTED)
        #expect(try core.readBlob(value) == content)
    }

    @Test func `a timeout out of its range is refused`() throws {
        let error = #expect(throws: CoreError.self) { _ = try open(timeout: -3) }
        #expect(error?.code == MC_ERROR_MISUSE && error?.message == "check-out with a timeout of -3 ns: use 1 or more, or one of MC_WAIT_...")
    }
}
