import Foundation
import MobileProtocol
import MobileServer
import MobileStore

/// A device without a database: it keeps the server's rows in memory, and sends the operations of a test.
final class TestDevice {
    let server: TestServer
    /// Name and version of the package.
    let package: String
    let client: String
    let name: String
    let user: String
    private(set) var token = ""
    /// Rows by object and surrogate key, each with its columns.
    private(set) var rows: [String: [Int64: [String: JSONValue]]] = [:]
    /// Large values by object, surrogate key and attribute.
    private(set) var largeValues: [String: [Int64: [String: [UInt8]]]] = [:]
    var tokens: [String: Token] = [:]
    var subscriptions: Subscriptions = [:]
    var personalization: JSONObject = [:]
    var settledBelow: Int64 = 0
    var keysLeft: Int64 = 0
    private(set) var keyRange: KeyRange?
    /// Sets further members of the header.
    var adjustHeader: (inout SynchronizeHeader) -> Void = { _ in }
    private var nextOperation: Int64 = 1

    init(_ server: TestServer, package: String? = nil, name: String = "phone", user: String = "ada", password: String = "secret") throws {
        self.server = server
        self.package = package ?? server.package
        self.name = name
        self.user = user
        client = UUID().uuidString
        try register(password: password)
    }

    func register(password: String = "secret") throws {
        let answer = try server.send([Message(header(.register), content: Credentials(user: user, password: password))])[0]
        if answer.header.method == .register.result { token = try answer.content(as: SessionGrant.self).token }
    }

    func header(_ method: MessageMethod) -> MessageHeader {
        MessageHeader(method: method, id: "1", package: package, client: client, application: "crm", device: name)
    }

    /// Sends one message in the device's session.
    func send(_ method: MessageMethod, content: JSONObject = [:]) throws -> Message {
        try server.send([Message(header(method), content: content)], token: token)[0]
    }

    /// Returns the next operation id.
    func nextID() -> Int64 {
        defer { nextOperation += 1 }
        return nextOperation
    }

    /// Returns the next surrogate key of the granted range.
    func nextKey() -> Int64 {
        guard let range = keyRange else { return 0 }
        keyRange = KeyRange(first: range.first + 1, last: range.last)
        return range.first
    }

    /// The result of one synchronization.
    struct Result {
        var status = 200
        var failure: ProtocolFailure?
        var frames: [FrameContent] = []
        var results: [ReplayResult] = []
        var logRecords: [LogRecordEntry] = []
        /// The objects that a reset part emptied.
        var resets: [String] = []
        /// The numbers of rows in upsert and delete parts, by object.
        var upserts: [String: Int] = [:]
        var deletes: [String: Int] = [:]
        var largeValues = 0
        var bytes = 0
        /// The contents that the download named, as the device fetched them; the statuses of those that it could not fetch.
        var segments: [SegmentPart] = []
        var refused: [Int] = []
    }

    /// Makes the upload of a synchronization, as bytes.
    func upload(
        _ operations: [OperationFrame] = [], groups: [String]? = nil, log: [LogRecordEntry] = [], large: [Int64: [String: [UInt8]?]] = [:]
    ) throws -> [UInt8] {
        var writer = FrameWriter(.upload)
        var header = SynchronizeHeader(
            client: client, package: package, groups: groups ?? ["default"], tokens: tokens, subscriptions: subscriptions,
            personalization: personalization, settledBelow: settledBelow, keysLeft: keysLeft)
        adjustHeader(&header)
        try writer.write(.header(header))
        if !log.isEmpty { try writer.write(.logRecords(log)) }
        for operation in operations {
            try writer.write(.operation(operation))
            for (attribute, content) in (large[operation.id] ?? [:]).sorted(by: { $0.key < $1.key }) {
                try writer.write(
                    .largeValue(
                        LargeValuePart(
                            object: operation.object, attribute: attribute, owner: .operation(id: operation.id),
                            length: content.map { Int64($0.count) })))
                if let content { try writer.write(.data(content)) }
                try writer.write(.partEnd(.bytes(Int64(content?.count ?? 0))))
            }
        }
        try writer.write(.streamEnd)
        return writer.take()
    }

    @discardableResult
    func synchronize(
        _ operations: [OperationFrame] = [], groups: [String]? = nil, log: [LogRecordEntry] = [], large: [Int64: [String: [UInt8]?]] = [:]
    ) throws -> Result {
        try synchronize(upload: upload(operations, groups: groups, log: log, large: large))
    }

    /// Sends an upload and stores the download, unless it is lost on the way.
    @discardableResult
    func synchronize(upload: [UInt8], losesAnswer: Bool = false) throws -> Result {
        let response = server.server.respond(
            to: ServerRequest(
                method: "POST", path: Endpoint.synchronize, headers: ["authorization": "Bearer \(token)"], body: Spool(upload)))
        var result = Result()
        result.status = response.status
        let bytes = try TestServer.bytes(of: response)
        result.bytes = bytes.count
        guard response.status == 200 else {
            result.failure = try ProtocolFailure(parsing: bytes)
            return result
        }
        if losesAnswer { return result }
        var reader = FrameReader(.download)
        let spool = Spool(bytes)
        var open = OpenPart.none
        while let frame = try reader.next(from: { try spool.nextChunk() }) {
            result.frames.append(frame.content)
            try store(frame.content, &open, &result)
        }
        return result
    }

    /// Fetches a content that a download has named.
    /// - Parameter range: the field `Range`; nil for none.
    func fetch(
        _ content: NamedContent, range: String? = nil
    ) throws -> (status: Int, bytes: [UInt8], headers: [(name: String, value: String)]) {
        let response = server.server.respond(to: request(content, range: range))
        return (response.status, try TestServer.bytes(of: response), response.headers)
    }

    /// The request for a content, or a part of it.
    func request(_ content: NamedContent, range: String? = nil) -> ServerRequest {
        var headers = ["authorization": "Bearer \(token)"]
        headers["range"] = range
        return ServerRequest(path: "\(Endpoint.segments)/\(content.name)", query: ["grant": content.grant], headers: headers)
    }

    private enum OpenPart {
        case none
        case table(TablePart, [UInt8])
        case value(LargeValuePart, [UInt8])
    }

    private func store(_ frame: FrameContent, _ open: inout OpenPart, _ result: inout Result) throws {
        switch frame {
        case .table(let part): open = .table(part, [])
        case .largeValue(let part): open = .value(part, [])
        case .data(let bytes):
            switch open {
            case .table(let part, let data): open = .table(part, data + bytes)
            case .value(let part, let data): open = .value(part, data + bytes)
            case .none: break
            }
        case .segment(let part):
            result.segments.append(part)
            let answer = try fetch(part.content)
            guard answer.status == 200, !answer.bytes.isEmpty else {
                result.refused.append(answer.status)
                return
            }
            try store(TablePart(object: part.object, columns: part.columns), answer.bytes, &result)
        case .partEnd:
            if case .value(let part, _) = open, let content = part.content {
                let answer = try fetch(content)
                if answer.status == 200 { open = .value(part, answer.bytes) } else { result.refused.append(answer.status) }
            }
            switch open {
            case .table(let part, let data): try store(part, data, &result)
            case .value(let part, let data): store(part, data, &result)
            case .none: break
            }
            open = .none
        case .groupEnd(let end): tokens[end.group] = end.token
        case .replayResults(let results): result.results += results
        case .logRecords(let records): result.logRecords += records
        case .keyRange(let range):
            keyRange = range
            keysLeft = range.last - range.first + 1
        case .failure(let failure): result.failure = failure
        default: break
        }
    }

    private func store(_ part: TablePart, _ data: [UInt8], _ result: inout Result) throws {
        if part.mode == .reset {
            result.resets.append(part.object)
            rows[part.object] = [:]
            largeValues[part.object] = [:]
            return
        }
        let lines = try Inflated.rows(data, columns: part.columns)
        for line in lines {
            let key = line[0].integer ?? 0
            if part.mode == .delete {
                rows[part.object]?[key] = nil
                largeValues[part.object]?[key] = nil
            } else {
                rows[part.object, default: [:]][key] = Dictionary(uniqueKeysWithValues: zip(part.columns, line))
            }
        }
        if part.mode == .delete {
            result.deletes[part.object, default: 0] += lines.count
        } else {
            result.upserts[part.object, default: 0] += lines.count
        }
    }

    private func store(_ part: LargeValuePart, _ data: [UInt8], _ result: inout Result) {
        result.largeValues += 1
        guard case .row(let key) = part.owner else { return }
        largeValues[part.object, default: [:]][key, default: [:]][part.attribute] = part.length == nil ? nil : data
    }

    /// Returns the rows of an object by the value of one of its attributes.
    func rows(_ object: String, by attribute: String) -> [JSONValue: [String: JSONValue]] {
        Dictionary((rows[object] ?? [:]).values.map { ($0[attribute] ?? .null, $0) }) { $1 }
    }
}
