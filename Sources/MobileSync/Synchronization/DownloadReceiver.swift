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
    /// The groups that the download contains.
    private(set) var groups: [String] = []
    /// The contents that the download names, in their order.
    private(set) var contents: [ListedContent] = []
    /// The number of contents whose group is known.
    private var grouped = 0

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
        try progress.receivedList(bytes: bytes.byteCount)
    }

    /// Ends the download.
    /// - Throws: `ProtocolError` if the download is not complete.
    func finish() throws { try reader.finish() }

    private func check(_ content: FrameContent) throws {
        switch content {
        case .failure(let failure): throw SyncError(.synchronize, .init(rawValue: Int(failure.code)), failure.message)
        case .answer(let answer):
            groups = answer.groups
            try progress.enter(.receivingUploadAcknowledgement)
        case .table(let part): try progress.enter(.receivingTable, object: part.object)
        case .segment(let part):
            try progress.enter(.receivingTable, object: part.object)
            progress.announced(rows: part.rows)
            progress.announced(bytes: part.length)
            contents.append(
                ListedContent(
                    kind: .segment, object: part.object, name: part.content.name, grant: part.content.grant, length: part.length))
        case .groupEnd(let end):
            while grouped < contents.count {
                contents[grouped].group = end.group
                grouped += 1
            }
        case .largeValue(let part):
            hasLargeValues = true
            if let content = part.content {
                progress.announced(bytes: part.length ?? 0)
                contents.append(
                    ListedContent(kind: .largeValue, object: part.object, name: content.name, grant: content.grant, length: part.length ?? 0))
            }
            try progress.enter(.receivingData, object: part.object)
        case .partEnd(.rows(let count)): progress.announced(rows: count)
        default: break
        }
    }
}
