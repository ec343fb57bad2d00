internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The rows that a client has because an operation of its own was accepted, and not because they were sent to it.
///
/// **After an answer the device has a row exactly if one of its partitions has it.** A row that never was in one of them has left no tombstone there: a row that
/// was created in another region, or that a trigger or another user removes before the cache is refreshed. So each of these rows is looked up, and its
/// deletion is sent if it is in no partition. *If you break it*: the row stays on the device forever. A delete may leave its row: it is sent again.
///
/// Where the cache has not read a row yet that the back end has, nothing is decided, and the client asks again.
struct TouchedRows {
    /// The surrogate keys by the names of the requested objects.
    private var keys: [String: Set<Int64>] = [:]
    /// The rows that the client has removed because a delete of its own was accepted, by object. A trigger of the back end may have kept the row.
    private(set) var removed: [String: Set<Int64>] = [:]

    /// - Parameters:
    ///   - header: names rows of earlier operations.
    ///   - outcomes: those of the operations of its upload.
    ///   - groups: the requested groups; rows of other objects are decided when their group is requested.
    init(_ header: SynchronizeHeader, outcomes: [OperationOutcome], groups: [RequestedGroups.Group]) {
        let requested = Set(groups.flatMap(\.objects).map(\.name))
        for (object, listed) in header.unconfirmed where requested.contains(object) { keys[object, default: []].formUnion(listed) }
        for (object, listed) in header.removed where requested.contains(object) { removed[object, default: []].formUnion(listed) }
        for outcome in outcomes where outcome.result.outcome == .accepted && requested.contains(outcome.result.object) {
            if outcome.change == .delete {
                removed[outcome.result.object, default: []].insert(outcome.result.key)
            } else {
                keys[outcome.result.object, default: []].insert(outcome.result.key)
            }
        }
    }

    /// The answer about the rows.
    struct Decision {
        /// The rows that are in none of the client's partitions, by object.
        var gone: [String: [Int64]] = [:]
        /// The objects with rows that the cache does not have yet.
        var undecided: Set<String> = []
    }

    /// Decides about the rows, after the partitions were refreshed.
    func decide(_ partitions: [Partition], of package: ServedPackage) throws -> Decision {
        var decision = Decision()
        for object in package.deployed.objects {
            guard let touched = keys[object.name] else { continue }
            let own = partitions.filter { $0.object == object.name }
            let missing = try package.stateStore.read { try Self.missing(touched, object, own, package.cache, $0) }
            guard !missing.isEmpty else { continue }
            // Where the back end is out of reach, nothing is decided.
            let present = try? Self.present(missing.compactMap(\.key), object, own, package.deployed.backEnd(of: object).system)
            let gone = present.map { present in missing.filter { row in row.key.map { !present.contains(KeyText($0.value)) } ?? true } } ?? []
            if gone.count < missing.count { decision.undecided.insert(object.name) }
            if !gone.isEmpty { decision.gone[object.name] = gone.map(\.surrogateKey).sorted() }
        }
        return decision
    }

    /// Returns the rows that the cache has in none of the partitions, with their keys in the back end as far as the cache knows them.
    private static func missing(
        _ touched: Set<Int64>, _ object: ObjectPlan, _ partitions: [Partition], _ cache: PackageCache, _ connection: any StateConnection
    ) throws -> [(surrogateKey: Int64, key: RowKey?)] {
        let dialect = connection.dialect,
            lists = [touched.sorted(), partitions.map(\.id)].map { list in
                Value.text(JSONValue.array(list.map { .integer($0) }).description)
            }
        let rows = try connection.rows(
            """
            SELECT t.value, CAST(m.k AS TEXT) FROM (\(dialect.numbers("?2"))) AS t LEFT JOIN _key AS m ON m.object = ?1 AND m.sk = t.value
            WHERE NOT EXISTS (
                SELECT 1 FROM _row AS r WHERE r.sk = t.value AND r.deleted = 0 AND r.partition IN (\(dialect.numbers("?3"))))
            """, [.integer(cache.keySpace(of: object))] + lists)
        return rows.compactMap { row in
            row[0].integer.map { ($0, row[1].text.flatMap { KeyText(text: $0).value }.flatMap { RowKey($0, of: object) }) }
        }
    }

    /// Returns the keys of the rows that the back end has in one of the partitions.
    private static func present(_ keys: [RowKey], _ object: ObjectPlan, _ partitions: [Partition], _ backEnd: any BackEnd) throws -> Set<KeyText> {
        guard !keys.isEmpty, !partitions.isEmpty else { return [] }
        return try backEnd.read { source in
            var present: Set<KeyText> = [], left = keys
            for partition in partitions where !left.isEmpty {
                // A row that is held back because its attributes cannot hold it stays on devices as it was. Its key may be what they cannot hold.
                try BackEndLoad(object: object, parameters: partition.parameters, source: source).forEachRow(left) { row in
                    present.formUnion(row.key.map { [$0] } ?? left.map { KeyText($0.value) })
                } _: { row in
                    present.insert(row.key)
                }
                left.removeAll { present.contains(KeyText($0.value)) }
            }
            return present
        }
    }
}
