internal import MobileCore

/// Ends a wait for a connection, or the work on one, from another thread.
///
/// Give it to one ``Database/read(length:timeout:label:interruption:_:)`` or write at a time. Once interrupted it stays so.
@safe public final class Interruption: Sendable {
    /// The ticket's own lock guards it; it lives as long as this object, which outlives its check-out.
    nonisolated(unsafe) let ticket: OpaquePointer

    /// - Throws: ``StoreError/Code/noMemory``.
    public init() throws(StoreError) {
        var ticket: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_ticket_create(&ticket, $0) }
        unsafe self.ticket = ticket!  // MC_OK promises a ticket
    }

    deinit { unsafe mc_ticket_free(ticket) }

    /// The wait, or the running statement and each one after it, throws ``StoreError/Code/interrupted``.
    /// A transaction that is being committed is committed.
    public func interrupt() { unsafe mc_ticket_interrupt(ticket) }

    /// Ends a wait that has no thread; nothing happens when it is over.
    func timeOut(waited: Duration) { unsafe mc_ticket_time_out(ticket, waited.nanoseconds) }
}

extension Duration {
    /// Nanoseconds for the core: no span is below 0, and none overflows.
    var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        guard seconds < Int64.max / 1_000_000_000 else { return .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}

extension Duration? {
    /// How long the core is to wait: nil is as long as it takes.
    var wait: Int64 {
        guard let self else { return Int64(MC_WAIT_FOREVER) }
        return self > .zero ? self.nanoseconds : Int64(MC_WAIT_NEVER)
    }
}
