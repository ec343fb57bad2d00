/// The direction of a frame stream; each direction has its own order of frames.
public enum FrameDirection: Sendable, Hashable {
    /// From the client to the server: operations.
    case upload
    /// From the server to the client: imports and results.
    case download
}

/// The first byte of a frame.
public enum FrameType: UInt8, Sendable, Hashable, CaseIterable {
    /// `H`: the header of the stream.
    case header = 0x48
    /// `O`: one operation.
    case operation = 0x4F
    /// `T`: begins rows of an object.
    case table = 0x54
    /// `S`: names rows of an object that the client fetches on their own.
    case segment = 0x53
    /// `V`: begins the value of a large attribute.
    case largeValue = 0x56
    /// `D`: data of the open part.
    case data = 0x44
    /// `E`: ends the open part.
    case partEnd = 0x45
    /// `G`: ends a group.
    case groupEnd = 0x47
    /// `R`: results of operations.
    case replayResults = 0x52
    /// `L`: log records.
    case logRecords = 0x4C
    /// `K`: a range of surrogate keys.
    case keyRange = 0x4B
    /// `W`: the server is still at work on the answer.
    case wait = 0x57
    /// `X`: an error, which ends the stream.
    case failure = 0x58
    /// `Z`: the regular end of the stream.
    case streamEnd = 0x5A

    /// Whether a frame of this type has a payload; all others have none.
    var hasPayload: Bool { self != .wait && self != .streamEnd }

    /// The letter that documents and errors use for the frame.
    public var letter: Character { Character(UnicodeScalar(rawValue)) }
}

/// The content of a frame.
public enum FrameContent: Sendable, Hashable {
    /// `H`, upload.
    case header(SynchronizeHeader)
    /// `H`, download.
    case answer(SynchronizeAnswer)
    /// `O`
    case operation(OperationFrame)
    /// `T`
    case table(TablePart)
    /// `S`
    case segment(SegmentPart)
    /// `V`
    case largeValue(LargeValuePart)
    /// `D`; never empty.
    case data([UInt8])
    /// `E`
    case partEnd(PartEnd)
    /// `G`
    case groupEnd(GroupEnd)
    /// `R`
    case replayResults([ReplayResult])
    /// `L`
    case logRecords([LogRecordEntry])
    /// `K`
    case keyRange(KeyRange)
    /// `W`
    case wait
    /// `X`
    case failure(ProtocolFailure)
    /// `Z`
    case streamEnd

    /// The frame's first byte.
    public var type: FrameType {
        switch self {
        case .header, .answer: .header
        case .operation: .operation
        case .table: .table
        case .segment: .segment
        case .largeValue: .largeValue
        case .data: .data
        case .partEnd: .partEnd
        case .groupEnd: .groupEnd
        case .replayResults: .replayResults
        case .logRecords: .logRecords
        case .keyRange: .keyRange
        case .wait: .wait
        case .failure: .failure
        case .streamEnd: .streamEnd
        }
    }
}

/// One frame that was read.
public struct Frame: Sendable, Hashable {
    /// The number of bytes from the start of the stream to the frame's first byte.
    public let offset: Int64
    /// The frame's content.
    public let content: FrameContent
}
