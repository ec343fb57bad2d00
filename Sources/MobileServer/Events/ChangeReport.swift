internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The report of a back end: "these objects have changed", or "these rows have changed".
struct ChangeReport: WireValue {
    /// Name and version of the package.
    let package: String
    /// The names of the objects; empty for all, or if rows are named.
    let objects: [String]
    /// The primary keys of changed rows as objects with a member for each attribute, by the names of their objects.
    let keys: [String: [JSONObject]]

    /// The maximum number of keys. The change of more rows is one of their objects.
    static let maximumKeys = 1000

    init(json: JSONValue) throws(ProtocolError) {
        guard let package = json["pkg"]?.string else { throw ProtocolError(.invalidContent, "report of changes: expected \"pkg\"") }
        self.package = package
        let listed = json["objects"] ?? .array([])
        guard let names = listed.array, case let objects = names.compactMap(\.string), objects.count == names.count else {
            throw ProtocolError(.invalidContent, "report of changes: expected names in \"objects\"")
        }
        self.objects = objects
        let invalid = ProtocolError(.invalidContent, "report of changes: expected objects with lists of keys in \"keys\"")
        guard let rows = (json["keys"] ?? .object([:])).object else { throw invalid }
        var keys: [String: [JSONObject]] = [:]
        for member in rows {
            guard let values = member.value.array, case let found = values.compactMap(\.object), found.count == values.count else { throw invalid }
            keys[member.key] = found
        }
        self.keys = keys
        let count = keys.values.reduce(0) { $0 + $1.count }
        guard count <= Self.maximumKeys else {
            throw ProtocolError(.invalidContent, "report of changes: \(count) keys; name at most \(Self.maximumKeys), or their objects")
        }
    }

    var json: JSONValue {
        let keys = JSONObject(uniqueKeys: keys.sorted { $0.key < $1.key }.map { ($0.key, .array($0.value.map { .object($0) })) })
        return ["pkg": .string(package), "objects": .array(objects.map { .string($0) }), "keys": .object(keys)]
    }

    /// The report for other processes, without keys if there are too many for a message.
    var message: String {
        let text = json.description
        guard text.utf8.count > StateNotifications.messageBytes, !keys.isEmpty else { return text }
        let objects = Set(self.objects).union(keys.keys).sorted()
        return JSONValue.object(["pkg": .string(package), "objects": .array(objects.map { .string($0) })]).description
    }

    /// Returns the keys in the form of the cache.
    /// - Throws: ``RequestFailure`` for an object that the package does not have, and for a key that does not fit.
    func keys(in package: DeployedPackage) throws(RequestFailure) -> [String: [RowKey]] {
        for name in objects + keys.keys.sorted() where package.object(named: name) == nil {
            throw RequestFailure(.notFound, "package \"\(package.identifier)\" has no synchronized object \"\(name.prefix(80))\"")
        }
        var found: [String: [RowKey]] = [:]
        for (name, rows) in keys {
            guard let object = package.object(named: name) else { continue }
            let keys = rows.compactMap { RowKey(wire: $0, of: object) }
            guard keys.count == rows.count else {
                throw RequestFailure(
                    .badRequest, "report of changes: a key of \"\(name)\" lacks an attribute of the primary key, or its value does not fit")
            }
            if !keys.isEmpty { found[name] = keys }
        }
        return found
    }
}
