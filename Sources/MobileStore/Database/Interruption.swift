internal import MobileCore

/// An object with which another thread ends a wait for a connection, or the work on one.
///
/// Pass it to one ``Database/read(length:timeout:label:interruption:_:)`` or write at a time. Once interrupted, it remains so.
@safe public final class Interruption: Sendable {
    /// The core's ticket, which has its own lock. It lives as long as this object, which outlives its check-out.
    nonisolated(unsafe) let ticket: OpaquePointer

    /// Makes an interruption.
    /// - Throws: ``StoreError/Code/noMemory``.
    public init() throws(StoreError) {
        var ticket: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_ticket_create(&ticket, $0) }
        unsafe self.ticket = ticket!  // MC_OK promises a ticket
    }

    deinit { unsafe mc_ticket_free(ticket) }

    /// Makes the wait, or the running statement and each later one, throw ``StoreError/Code/interrupted``.
    /// A running commit completes.
    public func interrupt() { unsafe mc_ticket_interrupt(ticket) }

    /// Ends a wait that has no thread; does nothing when the wait is over.
    func timeOut(waited: Duration) { unsafe mc_ticket_time_out(ticket, waited.nanoseconds) }
}

extension Duration {
    /// The nanoseconds for the core, limited to the range from 0 to the largest `Int64`.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64.max / 1_000_000_000 else { return .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Duration? {
    /// The core's waiting time; nil waits without a limit.
    var wait: Int64 {
        guard let self else { return Int64(MC_WAIT_FOREVER) }
        return self > .zero ? self.nanoseconds : Int64(MC_WAIT_NEVER)
    }
}
