internal import MobileModel
internal import MobileObjects
internal import MobileProtocol
internal import MobileStore

/// Writes the large values of a complete download into the database, before the imports refer to them. Each is written in short transactions of its
/// own, so that a value of any length blocks no other writer for long. The next transaction removes
/// values that no import has taken.
struct LargeValueIntake {
    private let package: PackageDatabase
    private let progress: SynchronizationProgress
    private let files: DownloadFiles

    init(_ package: PackageDatabase, _ progress: SynchronizationProgress) {
        (self.package, self.progress) = (package, progress)
        files = DownloadFiles(package)
    }

    /// - Parameter contents: the values that were fetched on their own, in their order.
    /// - Returns: the values in the order of their parts; nil for NULL.
    func run(_ spool: Spool, _ contents: [ListedContent]) throws -> [LargeValue?] {
        var contents = contents[...]
        spool.rewind()
        var reader = FrameReader(.download), values: [LargeValue?] = []
        var writer: LargeValueWriter?
        while let frame = try reader.next(from: { try spool.nextChunk() }) {
            switch frame.content {
            case .largeValue(let part):
                try progress.enter(.receivingData, object: part.object)
                guard part.compression == .none else {
                    throw SyncError(
                        .synchronize, .synchronizationCommunication,
                        "download of \"\(part.object)\": a large value is deflated; this client accepts only uncompressed ones")
                }
                if part.content != nil {
                    guard let content = contents.popFirst() else { throw SyncError.unlisted(part.object) }
                    values.append(try read(content, part))
                    writer = nil
                } else if part.length == nil || part.submitted != nil {
                    values.append(nil)
                } else {
                    writer = try makeWriter(part)
                }
            case .data(let bytes): try writer?.write(bytes)
            case .partEnd(.bytes):
                guard let complete = writer else { continue }
                values.append(try complete.finish())
                writer = nil
            default: break
            }
        }
        return values
    }

    private func read(_ content: ListedContent, _ part: LargeValuePart) throws -> LargeValue {
        let writer = try makeWriter(part)
        try files.read(content) { try writer.write($0) }
        return try writer.finish()
    }

    private func makeWriter(_ part: LargeValuePart) throws -> LargeValueWriter {
        let attribute = try package.metadata.entity(named: part.object).attribute(named: part.attribute)
        return try LargeValueWriter(in: package.store, unit: attribute.type == .bigString ? .scalars : .bytes)
    }
}

extension SyncError {
    /// The import found a content that the receipt of the same bytes did not.
    static func unlisted(_ object: String) -> SyncError {
        SyncError(.synchronize, .synchronizationCommunication, "download: a content of \"\(object)\" was not listed")
    }
}
