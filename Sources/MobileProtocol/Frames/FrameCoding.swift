internal import MobileStore

extension FrameContent {
    /// Reads a payload.
    /// - Parameter offset: the position of the payload in the stream; positions in errors count from there.
    init(_ type: FrameType, _ direction: FrameDirection, payload: [UInt8], at offset: Int64) throws(ProtocolError) {
        do {
            switch type {
            case .header where direction == .upload: self = .header(try SynchronizeHeader(parsing: payload))
            case .header: self = .answer(try SynchronizeAnswer(parsing: payload))
            case .operation: self = .operation(try OperationFrame(parsing: payload))
            case .table: self = .table(try TablePart(parsing: payload))
            case .segment: self = .segment(try SegmentPart(parsing: payload))
            case .largeValue: self = .largeValue(try LargeValuePart(parsing: payload))
            case .data: self = .data(payload)
            case .partEnd: self = .partEnd(try PartEnd(parsing: payload))
            case .groupEnd: self = .groupEnd(try GroupEnd(parsing: payload))
            case .replayResults: self = .replayResults(try FrameContent.list(payload, "replay results"))
            case .logRecords: self = .logRecords(try FrameContent.list(payload, "log records"))
            case .keyRange: self = .keyRange(try KeyRange(parsing: payload))
            case .failure: self = .failure(try ProtocolFailure(parsing: payload))
            case .wait: self = .wait
            case .streamEnd: self = .streamEnd
            }
        } catch {
            throw ProtocolError(
                error.code, "frame \"\(type.letter)\": \(error.message)", byteOffset: offset + (error.byteOffset ?? 0), cause: error.cause)
        }
    }

    /// Reads an array of values.
    private static func list<Element: WireValue>(_ payload: [UInt8], _ name: String) throws(ProtocolError) -> [Element] {
        let json = try JSONValue(wire: payload)
        guard let values = json.array else {
            throw ProtocolError(.invalidContent, "\(name): expected an array, found \(json.kindName)")
        }
        var elements: [Element] = []
        elements.reserveCapacity(values.count)
        for value in values { elements.append(try Element(json: value)) }
        return elements
    }

    /// The payloads to write: one, or several if a list is too long for one frame. Not for data.
    func payloads(limit: Int) throws(ProtocolError) -> [[UInt8]] {
        switch self {
        case .header(let value): [value.bytes]
        case .answer(let value): [value.bytes]
        case .operation(let value): [value.bytes]
        case .table(let value): [value.bytes]
        case .segment(let value): [value.bytes]
        case .largeValue(let value): [value.bytes]
        case .data(let bytes): [bytes]
        case .partEnd(let value): [value.bytes]
        case .groupEnd(let value): [value.bytes]
        case .replayResults(let values): try FrameContent.arrays(values, limit: limit)
        case .logRecords(let values): try FrameContent.arrays(values, limit: limit)
        case .keyRange(let value): [value.bytes]
        case .failure(let value): [value.bytes]
        case .wait, .streamEnd: [[]]
        }
    }

    /// The payload for people: JSON as it is sent; for data only the length, because data may be deflated or binary.
    package var text: String {
        switch self {
        case .data(let bytes): "\(bytes.count) bytes"
        default: ((try? payloads(limit: .max)) ?? []).map { String(decoding: $0, as: UTF8.self) }.joined()
        }
    }

    /// JSON arrays of the values in order, each within `limit` bytes. Without values there is no array.
    private static func arrays(_ values: [some WireValue], limit: Int) throws(ProtocolError) -> [[UInt8]] {
        var arrays: [[UInt8]] = []
        var array: [UInt8] = []
        for value in values {
            let element = value.bytes
            guard element.count + 2 <= limit else {
                throw ProtocolError(.limitExceeded, "list element of \(element.count) bytes: a frame takes \(limit)")
            }
            if !array.isEmpty, array.count + element.count + 2 > limit {
                arrays.append(array + [UInt8(ascii: "]")])
                array = []
            }
            array.append(UInt8(ascii: array.isEmpty ? "[" : ","))
            array += element
        }
        if !array.isEmpty { arrays.append(array + [UInt8(ascii: "]")]) }
        return arrays
    }
}
