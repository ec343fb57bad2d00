internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol

/// The large values that a client has because it has made them: those of accepted operations of its upload, and those that it lists.
///
/// **A content that comes from a device is not sent to it again.** The digest decides, not the operation: a trigger of the back end may have made another content
/// of it. *If you break it*: a photo of 20 MB that was uploaded is downloaded by the same device.
struct OwnLargeValues {
    /// A large attribute of one row.
    private struct Place: Hashable {
        let object: String
        let key: Int64
        let attribute: String
    }

    private struct Content {
        let digest: [UInt8]
        /// The operation of the upload that has brought it; nil for a value that the client's row has.
        let operation: Int64?
    }

    /// The client's knowledge of a value that is to be sent to it.
    enum Origin: Equatable {
        /// The client does not have it.
        case elsewhere
        /// The client's row has it.
        case row
        /// An operation of the upload has it.
        case operation(Int64)
    }

    private var contents: [Place: Content] = [:]

    /// The client has made no value.
    init() {}

    /// - Parameters:
    ///   - upload: the operations, read once more if some have large values.
    ///   - groups: the requested groups; values of other objects are not sent now.
    init(_ header: SynchronizeHeader, _ upload: UploadReader, hasLargeValues: Bool, _ outcomes: [OperationOutcome], groups: [RequestedGroups.Group]) throws {
        // An earlier release of the client would not understand.
        guard let held = header.held else { return }
        let requested = Set(groups.flatMap(\.objects).filter { !$0.largeAttributes.isEmpty }.map(\.name))
        for (object, values) in held where requested.contains(object) {
            for value in values {
                contents[Place(object: object, key: value.key, attribute: value.attribute)] = [UInt8](hexadecimal: value.digest)
                    .map { Content(digest: $0, operation: nil) }
            }
        }
        guard hasLargeValues, !requested.isEmpty else { return }
        let accepted = Dictionary(outcomes.lazy.filter { $0.result.outcome == .accepted && !$0.isSettled }.map { ($0.result.id, $0.result.key) }) { $1 }
        var operations = try upload.operations()
        while let operation = try operations.next() {
            guard requested.contains(operation.frame.object) else { continue }
            for (attribute, value) in operation.largeValues {
                // The content of the row is not the one that the client compares with any more.
                contents[Place(object: operation.frame.object, key: operation.frame.key, attribute: attribute)] = nil
                guard let value, let key = accepted[operation.frame.id] else { continue }
                var digest = try SHA256()
                try value.forEachPiece { try digest.update($0) }
                let place = Place(object: operation.frame.object, key: key, attribute: attribute)
                contents[place] = Content(digest: try digest.finish(), operation: operation.frame.id)
            }
        }
    }

    /// Returns where the client has a value of a row.
    /// - Parameter isReset: whether the client removes its rows before it takes those of the download.
    func origin(of entry: LargeValueList.Entry, _ object: ObjectPlan, isReset: Bool) -> Origin {
        guard !contents.isEmpty, !entry.isNull else { return .elsewhere }
        let place = Place(object: object.name, key: entry.surrogateKey, attribute: object.largeAttributes[entry.attribute].name)
        guard let content = contents[place], content.digest == entry.digest else { return .elsewhere }
        if let operation = content.operation { return .operation(operation) }
        return isReset ? .elsewhere : .row
    }
}
