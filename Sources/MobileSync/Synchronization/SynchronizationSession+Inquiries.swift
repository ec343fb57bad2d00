internal import MobileObjects
internal import MobileProtocol

/// The further inquiries of the server's administrator to this device.
extension SynchronizationSession {
    /// The target length of one message; the server accepts more.
    private static let pieceLength = 500_000

    /// Answers the inquiries of a download. A failure is only logged for developers, because the synchronization is done; the server repeats the
    /// inquiry.
    func answer(_ inquiries: [ServerInquiry]) {
        guard inquiries.contains(.performanceLog) else { return }
        do {
            let summaries = try package.environment.performance?.summaries() ?? []
            try send(summaries.map { .init(name: $0.name, text: String($0.text.prefix(Self.pieceLength))) }, for: .performanceLog)
        } catch {
            package.console.warn("the performance log could not be sent to the server: \(error)")
        }
    }

    private func send(_ entries: [ClientLogContent.Entry], for inquiry: ServerInquiry) throws {
        var piece: [ClientLogContent.Entry] = [], length = 0
        for entry in entries {
            if length + entry.text.utf8.count > Self.pieceLength, !piece.isEmpty {
                try send(ClientLogContent(inquiry: inquiry, entries: piece, isLast: false))
                (piece, length) = ([], 0)
            }
            piece.append(entry)
            length += entry.text.utf8.count
        }
        try send(ClientLogContent(inquiry: inquiry, entries: piece))
    }

    private func send(_ content: ClientLogContent) throws {
        let session = try application.session()
        let server = try package.synchronizer.server(application, profile, session.properties, for: package)
        let header = server.header(.log, package: package.wireName, client: try package.clientID)
        _ = try server.send(Message(header, content: content), token: session.token)
    }
}
