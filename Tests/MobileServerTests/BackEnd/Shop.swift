// The back end of the article "Back ends", which shows everything below the next line.
import MobileExecution
import MobileModel
import MobileServer
import MobileStore

// Article
/// A shop without transactions: a stand-in for a web service. Its operations may be repeated.
final class Shop: BackEnd, BackEndSnapshot, BackEndTransaction {
    struct Closed: Error {}

    let isIdempotent = true
    let isOpen = SystemLock(true)
    /// The articles by number, with their attributes in the form of the protocol.
    let articles = SystemLock<[Int64: JSONObject]>([:])
    let pictures = SystemLock<[Int64: [UInt8]]>([:])

    // Reading

    func load(_ object: ObjectModel, parameters: [String: Value], keys: [RowKey]?, _ visit: (BackEndRow) throws -> Void) throws {
        guard isOpen.withLock({ $0 }) else { throw Closed() }
        for article in articles.withLock({ Array($0.values) }) where article["shelf"]?.string == parameters["shelf"]?.text {
            if let keys, !keys.contains(where: { $0 == RowKey(article, of: object) }) { continue }
            try visit(BackEndRow(article))
        }
    }

    func value(
        of attribute: AttributeModel, in key: RowKey, of object: ObjectModel, _ receive: (_ piece: [UInt8]) throws -> Void
    ) throws -> BackEndValue {
        guard let number = number(key, object), contains(key, of: object, having: [:]) else { return .noRow }
        guard let picture = pictures.withLock({ $0[number] }) else { return .null }
        try receive(picture)
        return .content
    }

    // Operations

    func contains(_ key: RowKey, of object: ObjectModel, having values: JSONObject) -> Bool {
        guard let article = articles.withLock({ articles in number(key, object).flatMap { articles[$0] } }) else { return false }
        return values.allSatisfy { article[$0.key] == $0.value }
    }

    func apply(_ operation: BackEndOperation) throws -> RowKey? {
        guard isOpen.withLock({ $0 }) else { throw Closed() }
        guard operation.values["name"] != "forbidden" else { throw BackEndFailure.refused("the shop does not sell this") }
        guard let key = operation.key ?? RowKey(operation.values, of: operation.object), let number = number(key, operation.object) else {
            throw BackEndFailure.refused("an article needs a number")
        }
        articles.withLock { articles in
            guard operation.operation.kind != .delete else { return articles[number] = nil }
            var article = articles[number] ?? [:]
            for member in operation.values { article[member.key] = member.value }
            articles[number] = article
        }
        if let picture = operation.largeValues["picture"] {
            var bytes: [UInt8]? = picture.map { _ in [] }
            try picture?.forEachPiece { bytes?.append(contentsOf: $0) }
            pictures.withLock { $0[number] = bytes }
        }
        return operation.operation.kind == .create ? key : nil
    }

    func classify(_ error: any Error, of object: ObjectModel?) -> BackEndFailure { .outOfReach(detail: "\(error)") }

    private func number(_ key: RowKey, _ object: ObjectModel) -> Int64? { key.values(of: object)["number"]?.integer }
}
