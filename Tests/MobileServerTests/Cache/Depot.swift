import Foundation
import MobileCrypto
import MobileExecution
import MobileModel
import MobileProtocol
import MobileStore
import TestSupport
import Testing

@testable import MobileServer

/// A back end in memory with snapshots, a log of changed keys, and a record of operations. A test can stop a load, and change the contents during one.
final class Depot: BackEnd {
    struct Contents: Sendable {
        var articles: [Int64: Article] = [:]
        /// The number of the last change.
        var state = 0
        /// The changed keys, in order; their places are the marks.
        var log: [Int64] = []
        var records: [(client: String, text: String)] = []
        var eras: [RecordEra] = []
    }

    struct BrokenOff: Error {}

    struct Article: Sendable, Equatable {
        var name: String
        /// The names of the shelves are its letters: an article can be on several.
        var shelves: String
        /// Whether it refers to the article with half of its number.
        var hasParent = true
    }

    let contents = SystemLock(Contents())
    /// Whether the log of changed keys is used.
    let hasLog: Bool
    /// Whether a read sees one state.
    let hasSnapshots: Bool
    let isIdempotent = false
    /// Run at the begin of a read, before its snapshot, and in each load, after its snapshot.
    let willRead = SystemLock<(@Sendable () -> Void)?>(nil)
    let willLoad = SystemLock<(@Sendable (_ isWhole: Bool) -> Void)?>(nil)
    /// The article before which a load breaks off.
    let breaksBefore = SystemLock<Int64?>(nil)
    /// The number of loads of whole partitions.
    let loads = SystemLock(0)
    /// An article that loads return twice.
    let doubled = SystemLock<Int64?>(nil)

    init(hasLog: Bool = true, hasSnapshots: Bool = true) { (self.hasLog, self.hasSnapshots) = (hasLog, hasSnapshots) }

    // MARK: Changes

    /// Writes an article, or removes it.
    func set(_ number: Int64, _ article: Article?) {
        contents.withLock { contents in
            contents.articles[number] = article
            contents.state += 1
            contents.log.append(number)
        }
    }

    /// Writes an article as a device has created it, with the surrogate key that the device gave it.
    func create(_ number: Int64, _ article: Article, key: Int64) {
        let result = ReplayResult(id: key, outcome: .accepted, object: "Article", key: key)
        let outcome = OperationOutcome(
            result: result, package: "Depot:1.0", change: .create, operation: "create", timestamp: "", rowKey: .integer(number))
        contents.withLock { contents in
            contents.articles[number] = article
            contents.state += 1
            contents.log.append(number)
            contents.records.append(("phone", outcome.json.description))
        }
    }

    // MARK: Back end

    func read<R>(_ body: (any BackEndSnapshot) throws -> R) throws -> R {
        willRead.withLock { $0 }?()
        return try body(DepotSnapshot(depot: self, taken: hasSnapshots ? contents.withLock { $0 } : nil))
    }

    func replay<R>(for client: String, _ body: (any BackEndTransaction) throws -> R) throws -> R {
        try body(DepotSnapshot(depot: self, taken: nil))
    }

    func value(
        of attribute: AttributeModel, in key: RowKey, of object: ObjectModel, _ receive: (_ piece: [UInt8]) throws -> Void
    ) -> BackEndValue { .null }

    func classify(_ error: any Error, of object: ObjectModel?) -> BackEndFailure { .outOfReach(detail: "\(error)") }

    static let model = try! PackageModel(
        json: """
            {"format": 1, "name": "Depot", "version": "1.0", "synchronizationGroups": [{"name": "default"}],
             "backEnds": [{"name": "depot", "kind": "sqlite"}],
             "objects": [{"name": "Article", "primaryKey": ["number"],
                "attributes": [{"name": "number", "type": "long"}, {"name": "name", "type": "string", "length": 40},
                    {"name": "parent", "type": "long", "nullable": true}],
                "relationships": [{"name": "above", "target": "Article", "cardinality": "manyToOne", "mapping": {"parent": "number"}}],
                "synchronizationParameters": [{"name": "shelf", "type": "string"}], "operations": ["create", "update", "delete"],
                "binding": {"backEnd": "depot", "table": "articles", "load": "SELECT * FROM articles WHERE shelf = :shelf"}}]}
            """)
}

/// A read of the depot, or the present contents.
private struct DepotSnapshot: BackEndTransaction, OperationRecords {
    let depot: Depot
    let taken: Depot.Contents?

    private var contents: Depot.Contents { taken ?? depot.contents.withLock { $0 } }

    var isSnapshot: Bool { depot.hasSnapshots }

    func position() -> BackEndPosition? { BackEndPosition(historyID: "", state: "\(contents.state)") }

    func changes(of object: ObjectModel, parameters: [String: Value], since mark: String?) -> BackEndChanges {
        guard depot.hasLog else { return .unknown }
        let log = contents.log, present = "\(log.count)"
        guard let mark = mark.flatMap({ Int($0) }), mark <= log.count else { return BackEndChanges(keys: nil, mark: present) }
        return BackEndChanges(keys: Set(log[mark...]).compactMap { RowKey(["number": .integer($0)], of: object) }, mark: present)
    }

    func load(_ object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws {
        if keys == nil { depot.loads.withLock { $0 += 1 } }
        let before = depot.hasSnapshots ? contents : nil
        depot.willLoad.withLock { $0 }?(keys == nil)
        let shelf = parameters["shelf"]?.text ?? ""
        for (number, article) in (before ?? contents).articles.sorted(by: { $0.key < $1.key }) where article.shelves.contains(shelf) {
            if depot.breaksBefore.withLock({ $0 }) == number { throw Depot.BrokenOff() }
            let values: JSONObject = [
                "number": .integer(number), "name": .string(article.name), "parent": article.hasParent ? .integer(number / 2) : .null,
            ]
            if let keys, !keys.contains(where: { $0 == RowKey(values, of: object) }) { continue }
            try visit(BackEndRow(values))
            if depot.doubled.withLock({ $0 }) == number { try visit(BackEndRow(values)) }
        }
    }

    func apply(_ operation: BackEndOperation) throws -> RowKey? { nil }
    func contains(_ key: RowKey, of object: ObjectModel, having values: JSONObject) -> Bool { false }

    func records() -> (any OperationRecords)? { self }
    func raiseFloor(of client: String, to settled: Int64) -> Int64 { settled }
    func outcome(of operation: Int64, client: String) -> String? { nil }
    func record(_ outcome: String, of operation: Int64, client: String) {}
    func remove(client: String, below operation: Int64, upTo number: Int64) {}

    func forEachOutcome(after number: Int64, _ visit: (_ number: Int64, _ client: String, _ outcome: String) throws -> Void) throws {
        for (place, record) in contents.records.enumerated() where place + 1 > number { try visit(Int64(place + 1), record.client, record.text) }
    }

    func lastNumber() -> Int64 { Int64(contents.records.count) }
    func numbers(of operations: [Int64], client: String) -> [Int64: Int64] { [:] }
    func eras() -> [RecordEra] { contents.eras }

    func beginEra(_ name: String, historyID: String, nextKey: Int64) {
        depot.contents.withLock { contents in
            let first = Int64(contents.records.count) + 1
            contents.eras.removeAll { $0.first >= first }
            contents.eras.append(RecordEra(name: name, historyID: historyID, first: first, nextKey: nextKey))
        }
    }
}

/// Servers over one depot that share one state: one server on SQLite, any number on PostgreSQL. It stays as it was created.
final class DepotServers: @unchecked Sendable {
    let depot: Depot
    let servers: [MobileServer]
    private let bench: StateBench

    init(
        _ depot: Depot, _ engine: StateStoreTests.Engine, count: Int = 1, clocks: [VirtualClock] = [], rules: [RefreshRules] = [],
        also other: Depot? = nil, segments: SegmentRules = SegmentRules()
    ) throws {
        let bench = try StateBench(engine)
        (self.depot, self.bench) = (depot, bench)
        servers = try (0..<count).map { index in
            var configuration = bench.configuration
            configuration.packages = [PackageDeployment(Depot.model)]
            configuration.packages[0].providedBackEnds = ["depot": depot]
            if let other {
                var model = Depot.model
                model.name = "Other"
                configuration.packages.append(PackageDeployment(model))
                configuration.packages[1].providedBackEnds = ["depot": other]
            }
            (configuration.users, configuration.passwordParameters) = (["ada": "secret"], .init(n: 16))
            if index < clocks.count {
                let clock = clocks[index]
                configuration.clock = { clock.milliseconds }
            }
            if index < rules.count { configuration.refreshRules = rules[index] }
            configuration.segmentRules = segments
            return try MobileServer(configuration)
        }
    }

    deinit { for server in servers { try? server.close() } }

    var store: any StateStore { servers[0].packages[0].stateStore }

    func refresher(_ index: Int = 0) -> CacheRefresher { servers[index].packages[0].refresher }

    /// Brings shelves up to date, as a request of a device does.
    func refresh(_ shelves: String, on index: Int = 0) throws { _ = try refresher(index).refresh(Self.parameters(shelves)) }

    /// Reads reported articles on shelves.
    func report(_ numbers: [Int64], on shelves: String) throws {
        let object = Depot.model.objects[0]
        try refresher().refresh(
            Self.parameters(shelves), reported: ["Article": numbers.compactMap { RowKey(["number": .integer($0)], of: object) }])
    }

    private static func parameters(_ shelves: String) -> [PartitionParameters] {
        shelves.map { PartitionParameters(object: "Article", values: [.text("\($0)")], text: "[\"\($0)\"]") }
    }

    /// Registers a device, and synchronizes one shelf of a package with it, as a client does.
    /// - Returns: whether the answer is complete.
    func login(password: String, package: String, shelf: JSONValue) throws -> Bool {
        let client = UUID().uuidString
        let header = MessageHeader(method: .register, id: "1", package: package, client: client, application: "depot", device: client)
        let message = Message(header, content: Credentials(user: "ada", password: password))
        let answer = try respond(Endpoint.messages, Message.bytes([message]), token: nil)
        guard let granted = try Message.messages(parsing: answer.bytes).first, granted.header.method == .register.result else { return false }
        var writer = FrameWriter(.upload)
        try writer.write(
            .header(SynchronizeHeader(client: client, package: package, groups: ["default"], subscriptions: ["Article": [["shelf": shelf]]])))
        try writer.write(.streamEnd)
        let download = try respond(Endpoint.synchronize, writer.take(), token: granted.content(as: SessionGrant.self).token)
        guard download.status == 200 else { return false }
        var reader = FrameReader(.download), last: FrameContent?
        let spool = Spool(download.bytes)
        while let frame = try reader.next(from: { try spool.nextChunk() }) { last = frame.content }
        if case .streamEnd? = last { return true }
        return false
    }

    private func respond(_ path: String, _ body: [UInt8], token: String?) throws -> (status: Int, bytes: [UInt8]) {
        let response = servers[0].respond(
            to: ServerRequest(
                method: "POST", path: path, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:], body: Spool(body)))
        return (response.status, try TestServer.bytes(of: response))
    }

    struct Row: Equatable {
        let name: String
        let key: Int64
        let parent: Int64?
    }

    /// Returns the rows of a shelf that a device would receive, by number.
    func rows(_ shelf: Character) throws -> [Int64: Row] {
        try store.read { connection in
            let bodies = try connection.texts(
                """
                SELECT r.body FROM _row AS r JOIN _partition AS p ON p.id = r.partition WHERE p.parameters = ?1 AND r.deleted = 0
                """, [.text("[\"\(shelf)\"]")])
            let rows = try bodies.map { try JSONValue(parsing: $0).array ?? [] }
            return Dictionary(rows.map { ($0[1].integer ?? 0, Row(name: $0[2].string ?? "", key: $0[0].integer ?? 0, parent: $0.last?.integer)) }) {
                Issue.record("two rows \($0) and \($1)")
                return $1
            }
        }
    }

    /// Returns the version of a shelf.
    func version(_ shelf: Character) throws -> Int64 {
        try store.read { try $0.number("SELECT version FROM _partition WHERE parameters = ?1", [.text("[\"\(shelf)\"]")]) }
    }

    /// Returns the surrogate key of an article; nil if it has none.
    func key(of number: Int64) throws -> Int64? {
        try store.read { try $0.optionalNumber("SELECT sk FROM _key WHERE CAST(k AS TEXT) = ?1", [.text("\(number)")]) }
    }
}
