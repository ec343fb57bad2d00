import MobileProtocol
import MobileStore
import Testing

/// Streams that use every kind of frame once or more.
enum Samples {
    static let token = Token(["v": 42, "p": "f00d"])

    static let upload: [FrameContent] = [
        .header(
            SynchronizeHeader(
                client: "6f9619ff", package: "CRM:1.0", groups: ["default", "prices"], tokens: ["default": token],
                subscriptions: ["Customer": [["region": "NORTH"], ["region": .null]]], personalization: ["region": "NORTH"],
                settledBelow: 7, keysLeft: 50, keyClaims: [1 << 62, .max - 65_535])),
        .operation(
            OperationFrame(
                id: 7, object: "Customer", change: .create, operation: "create", batch: 7, key: 1001,
                attributes: ["name": "Harbour \"Foods\" \u{1F41F}", "creditLimit": .number("1200.50")], refs: ["region": 3])),
        .operation(
            OperationFrame(
                id: 8, object: "SalesOrder", change: .create, batch: 7, key: 1002, attributes: ["total": 0], refs: ["customer": 1001, "other": .null])),
        .largeValue(LargeValuePart(object: "SalesOrder", attribute: "scan", owner: .operation(id: 8), length: 5)),
        .data([1, 2, 3]), .data([4, 5]), .partEnd(.bytes(5)),
        .largeValue(LargeValuePart(object: "SalesOrder", attribute: "notes", owner: .operation(id: 8), length: nil)),
        .partEnd(.bytes(0)),
        .operation(OperationFrame(id: 12, object: "Customer", change: .delete, key: 5, primaryKey: ["id": 17])),
        .operation(OperationFrame(id: 13, object: "Customer", change: .other, operation: "promote", key: .max, parameters: ["level": 2])),
        .streamEnd,
    ]

    static let content = NamedContent(name: String(repeating: "0f", count: 32), grant: "1795521600000.5b.7d79")

    static let download: [FrameContent] = [
        .wait, .wait,
        .answer(SynchronizeAnswer(package: "CRM:1.0", groups: ["default", "prices"], operations: 2)),
        .keyRange(KeyRange(first: 1 << 53 + 1, last: 1 << 62 - 1)),
        .logRecords([LogRecordEntry(code: 200, message: "hello", component: "Customer", timestamp: "2026-01-01T00:00:00.000Z")]),
        .table(TablePart(object: "Customer", columns: ["_sk", "name"], compression: .none)),
        .data(Array("[[1,\"A\"],".utf8)), .data(Array("[2,\"B\"]]".utf8)), .partEnd(.rows(2)),
        .table(TablePart(object: "Region", columns: ["_sk"], mode: .reset, compression: .none)), .partEnd(.rows(0)),
        .table(TablePart(object: "Customer", columns: ["_sk"], mode: .delete)), .partEnd(.rows(0)),
        .largeValue(LargeValuePart(object: "Product", attribute: "picture", owner: .row(key: 9), length: 3, compression: .none)),
        .data([9, 8, 7]), .partEnd(.bytes(3)),
        .segment(SegmentPart(object: "Product", columns: ["_sk", "id"], content: content, length: 5000, rows: 70)),
        .largeValue(LargeValuePart(object: "Product", attribute: "picture", owner: .row(key: 10), length: 7, content: content)), .partEnd(.bytes(7)),
        .groupEnd(GroupEnd(group: "default", token: token)),
        .groupEnd(GroupEnd(group: "prices", token: token, stale: ["Price": [7, 9]])),
        .replayResults([
            ReplayResult(id: 7, outcome: .accepted, object: "Customer", key: 1 << 62 + 1),
            ReplayResult(id: 12, outcome: .rejected, code: 412, message: "CHECK constraint", object: "Customer", key: 5),
        ]),
        .logRecords([
            LogRecordEntry(
                messageId: 3, level: .error, code: 412, eisCode: "275", message: "CHECK constraint", component: "Customer",
                entityKey: "17", operation: "delete", requestId: "12", timestamp: "2026-01-01T00:00:00.000Z")
        ]),
        .streamEnd,
    ]

    static func contents(_ direction: FrameDirection) -> [FrameContent] { direction == .upload ? upload : download }

    static func bytes(_ direction: FrameDirection) throws -> [UInt8] {
        try bytes(of: contents(direction), direction)
    }

    static func bytes(of contents: [FrameContent], _ direction: FrameDirection) throws -> [UInt8] {
        var writer = FrameWriter(direction)
        for content in contents { try writer.write(content) }
        return writer.take()
    }

    /// Makes one frame with any bytes, whether they are valid or not.
    static func frame(_ type: Character, _ payload: String, flags: UInt8 = 0, reserved: UInt8 = 0, length: UInt32? = nil) -> [UInt8] {
        let length = length ?? UInt32(payload.utf8.count)
        return [type.asciiValue!, flags, 0, reserved] + withUnsafeBytes(of: length.bigEndian) { Array($0) } + Array(payload.utf8)
    }

    /// Reads the frames of a complete stream, pushed in chunks of `size` bytes.
    static func read(_ bytes: [UInt8], _ direction: FrameDirection, chunk size: Int) throws -> [FrameContent] {
        var reader = FrameReader(direction)
        var position = 0
        var contents: [FrameContent] = []
        while let frame = try reader.next(from: {
            guard position < bytes.count else { return nil }
            defer { position += size }
            return Array(bytes[position..<min(position + size, bytes.count)])
        }) {
            contents.append(frame.content)
        }
        return contents
    }
}
