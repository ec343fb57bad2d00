internal import MobileProtocol

/// The body of a request on its way from the connection to a spool.
///
/// The loop's thread only collects pieces in memory. A worker moves them to the spool, which may write to a disk: a slow disk never holds up other
/// connections, but only the client that sends.
struct RequestBody {
    /// The number of collected bytes that are moved to the spool.
    static let portion = 256 << 10

    /// Used by one job at a time.
    let spool: Spool
    private var collected: [UInt8] = []
    /// The number of bytes that have arrived.
    private(set) var length = 0

    init(_ spool: Spool = Spool([])) { self.spool = spool }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        collected.append(contentsOf: bytes)
        length += bytes.count
    }

    /// Whether there is enough to move.
    var isPortion: Bool { collected.count >= Self.portion }

    /// Takes the collected bytes out.
    mutating func take() -> HandedOver<Portion> {
        defer { collected = [] }
        return HandedOver(Portion(spool: spool, bytes: collected))
    }

    /// Bytes that a job moves to the spool.
    struct Portion {
        let spool: Spool
        let bytes: [UInt8]

        func move() throws(ProtocolError) {
            if !bytes.isEmpty { try spool.append(bytes) }
        }
    }
}
