internal import MobileProtocol

/// Takes a download as it arrives, checks its frames and keeps it in a spool. Nothing is imported before the download is complete, so a slow network
/// holds no transaction, and half a download leaves no trace.
final class DownloadReceiver {
    let spool: Spool
    private let progress: SynchronizationProgress
    private let trace: MessageTrace?
    private let began: () throws(SyncError) -> Void
    private var reader = FrameReader(.download)
    private var hasBegun = false
    /// Whether the download contains a large value.
    private(set) var hasLargeValues = false

    /// - Parameter began: called once, when the first byte arrives.
    init(_ spool: Spool, _ progress: SynchronizationProgress, trace: MessageTrace?, began: @escaping () throws(SyncError) -> Void) {
        self.trace = trace
        self.spool = spool
        self.progress = progress
        self.began = began
    }

    func receive(_ bytes: RawSpan) throws {
        if !hasBegun {
            hasBegun = true
            try began()
        }
        try spool.append(bytes)
        try reader.push(bytes)
        while let frame = try reader.next() {
            trace?.write(.received, frame.content)
            try check(frame.content)
        }
        try progress.received(bytes: bytes.byteCount)
    }

    /// Ends the download.
    /// - Throws: `ProtocolError` if the download is not complete.
    func finish() throws { try reader.finish() }

    private func check(_ content: FrameContent) throws {
        switch content {
        case .failure(let failure): throw SyncError(.synchronize, .init(rawValue: Int(failure.code)), failure.message)
        case .answer: try progress.enter(.receivingUploadAcknowledgement)
        case .table(let part): try progress.enter(.receivingTable, object: part.object)
        case .largeValue(let part):
            hasLargeValues = true
            try progress.enter(.receivingData, object: part.object)
        default: break
        }
    }
}
