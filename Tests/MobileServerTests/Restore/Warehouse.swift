import MobileExecution
import MobileModel
import MobileServer
import MobileStore

/// A back end in memory that keeps the record of its operations, and that a test can put back to an earlier state. It sees the public protocols alone.
final class Warehouse: BackEnd, BackEndSnapshot, BackEndTransaction, OperationRecords {
    /// Everything that a backup contains.
    struct Contents: Sendable {
        var articles: [Int64: JSONObject] = [:]
        var floors: [String: Int64] = [:]
        var records: [Int64: Record] = [:]
        var last: Int64 = 0
        var eras: [RecordEra] = []
    }

    struct Record: Sendable {
        let client: String
        let operation: Int64
        let outcome: String
    }

    let contents = SystemLock(Contents())
    /// The life of the data; nil for a system that does not know.
    let life: SystemLock<String?>
    /// Runs after each commit of a client's batch.
    let afterCommit = SystemLock<(@Sendable () -> Void)?>(nil)
    let isOpen = SystemLock(true)
    let isIdempotent = false

    struct Closed: Error {}

    init(life: String?) { self.life = SystemLock(life) }

    func position() -> BackEndPosition? {
        life.withLock { $0 }.map { BackEndPosition(historyID: $0, state: "\(contents.withLock { $0.last })") }
    }

    func load(_ object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws {
        for article in contents.withLock({ Array($0.articles.values) }) where article["shelf"]?.string == parameters["shelf"]?.text {
            try visit(BackEndRow(article))
        }
    }

    func value(
        of attribute: AttributeModel, in key: RowKey, of object: ObjectModel, _ receive: (_ piece: [UInt8]) throws -> Void
    ) -> BackEndValue { .null }

    func contains(_ key: RowKey, of object: ObjectModel, having values: JSONObject) -> Bool {
        contents.withLock { $0.articles[number(key, object)] != nil }
    }

    func apply(_ operation: BackEndOperation) -> RowKey? {
        guard let key = operation.key ?? RowKey(operation.values, of: operation.object) else { return nil }
        contents.withLock { $0.articles[number(key, operation.object)] = operation.values }
        return operation.operation.kind == .create ? key : nil
    }

    func classify(_ error: any Error, of object: ObjectModel?) -> BackEndFailure { .outOfReach(detail: "\(error)") }

    private func number(_ key: RowKey, _ object: ObjectModel) -> Int64 { key.values(of: object)["number"]?.integer ?? 0 }

    // MARK: The record

    func read<R>(_ body: (any BackEndSnapshot) throws -> R) throws -> R {
        guard isOpen.withLock({ $0 }) else { throw Closed() }
        return try body(self)
    }

    func replay<R>(for client: String, _ body: (any BackEndTransaction) throws -> R) throws -> R {
        guard isOpen.withLock({ $0 }) else { throw Closed() }
        let before = contents.withLock { $0 }, result: R
        do { result = try body(self) } catch {
            contents.withLock { $0 = before }
            throw error
        }
        if !client.isEmpty { afterCommit.withLock { $0 }?() }
        return result
    }

    func records() -> (any OperationRecords)? { self }

    func raiseFloor(of client: String, to settled: Int64) -> Int64 {
        contents.withLock { contents in
            let floor = max(settled, contents.floors[client] ?? 0)
            contents.floors[client] = floor
            return floor
        }
    }

    func outcome(of operation: Int64, client: String) -> String? {
        contents.withLock { $0.records.values.first { $0.client == client && $0.operation == operation }?.outcome }
    }

    func record(_ outcome: String, of operation: Int64, client: String) {
        contents.withLock { contents in
            contents.last += 1
            contents.records[contents.last] = Record(client: client, operation: operation, outcome: outcome)
        }
    }

    func remove(client: String, below operation: Int64, upTo number: Int64) {
        contents.withLock { contents in
            contents.records = contents.records.filter { $0.value.client != client || $0.value.operation >= operation || $0.key > number }
        }
    }

    func forEachOutcome(after number: Int64, _ visit: (_ number: Int64, _ client: String, _ outcome: String) throws -> Void) throws {
        for (place, record) in contents.withLock({ $0.records }).sorted(by: { $0.key < $1.key }) where place > number {
            try visit(place, record.client, record.outcome)
        }
    }

    func lastNumber() -> Int64 { contents.withLock { $0.last } }

    func numbers(of operations: [Int64], client: String) -> [Int64: Int64] {
        let records = contents.withLock { $0.records }.filter { $0.value.client == client && operations.contains($0.value.operation) }
        return Dictionary(uniqueKeysWithValues: records.map { ($0.value.operation, $0.key) })
    }

    func eras() -> [RecordEra] { contents.withLock { $0.eras } }

    func beginEra(_ name: String, historyID: String, nextKey: Int64) {
        contents.withLock { contents in
            let last = contents.last
            contents.eras.removeAll { $0.first > last }
            contents.eras.append(RecordEra(name: name, historyID: historyID, first: last + 1, nextKey: nextKey))
        }
    }
}
