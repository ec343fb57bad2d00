internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Finds changed rows of one partition by sums over buckets.
///
///     load --sums of 3,072 buckets--> compared with the mark --keys of the buckets that differ--> refresh of the cache
///
/// The sums are read in one pass over the load, and need some KB for any number of rows.
struct DigestReader {
    let object: SQLObject
    let rules: ChangeRules
    let buckets: any BucketReading
    let connection: any SQLConnection
    private let query: BucketQuery

    init(_ object: SQLObject, _ parameters: [String: Value], _ rules: ChangeRules, _ connection: any BackEndConnection) {
        (self.object, self.rules, buckets, self.connection) = (object, rules, connection.buckets, connection)
        var query = BucketQuery(object, parameters)
        query.columns = object.plan.rowAttributes.map { object.sourceColumn($0.name) }
        self.query = query
    }

    /// Whether the server can compute the buckets of an object's keys. Numbers with a fraction and bytes have several notations.
    static func hasKeys(_ object: SQLObject) -> Bool { object.plan.keyType == .integer || object.plan.keyType == .text }

    /// Whether the sums of rows are compared.
    static func comparesSums(_ object: SQLObject) -> Bool { hasKeys(object) && object.plan.largeAttributes.isEmpty }

    /// Packs all rows, and adds them up on the way.
    /// - Returns: the mark of these rows; nil for few.
    func pack(
        into rows: inout PackedRows, _ parameters: [String: Value], by load: any BackEndConnection, unfit: (UnfitRow) throws -> Void,
        _ added: (inout PackedRows) throws -> Void
    ) throws -> String? {
        let seed = SystemEnvironment.randomBytes(RowDigest.seedSize)
        let sums = try load.packRows(of: object, parameters, sums: (query, seed), into: &rows, unfit: unfit, added)
        guard let sums, sums.count >= rules.leastRows else { return nil }
        return DigestMark(try query.name, seed, sums, rules).text
    }

    /// Returns the keys of changed rows since a mark, and the present mark.
    func changes(since mark: String?) throws -> BackEndChanges {
        guard Self.comparesSums(object) else { return .unknown }
        let name = try query.name
        guard let known = mark.flatMap(DigestMark.init(text:)), known.name == name else {
            guard try buckets.hasRows(rules.leastRows, query, connection) else { return .unknown }
            let seed = SystemEnvironment.randomBytes(RowDigest.seedSize)
            return BackEndChanges(keys: nil, mark: DigestMark(name, seed, try buckets.sums(of: query, seed: seed), rules).text)
        }
        let sums = try buckets.sums(of: query, seed: known.seed), number = known.rows.count
        let changed = BucketSet(BucketSums.joined(sums.rows, to: number), differentFrom: known.rows)
        guard !changed.isEmpty else { return BackEndChanges(keys: [], mark: mark) }
        // At half as many rows, so that a partition at the limit stays on one side.
        let next = sums.count < rules.leastRows / 2 ? nil : DigestMark(name, known.seed, sums, rules).text
        guard changed.count <= max(1, number / rules.changedPart),
            let keys = try BucketKeys(object, rules).read(query, changed, seed: known.seed, buckets)
        else { return BackEndChanges(keys: nil, mark: next) }
        let moved = BucketSet(BucketSums.joined(sums.keys, to: number), differentFrom: known.keys)
        let bucket = buckets.bucket(seed: known.seed), covers: @Sendable (RowKey) -> Bool = { moved.contains(bucket($0)) }
        return BackEndChanges(keys: keys, mark: next, covers: moved.isEmpty ? nil : covers)
    }
}

/// Keys of a back end, as far as they are not too many.
struct BucketKeys {
    let object: SQLObject
    let limit: Int

    init(_ object: SQLObject, _ rules: ChangeRules) { (self.object, limit) = (object, rules.keyLimit) }

    /// Returns nil for too many keys, and for a row without one.
    func read(_ query: BucketQuery, _ set: BucketSet?, seed: [UInt8], _ buckets: any BucketReading) throws -> [RowKey]? {
        let found = try buckets.keys(of: query, in: set, seed: seed, limit: limit + 1)
        let keys = found.count > limit || found.contains(.null) ? [] : found.compactMap { RowKey($0, of: object.plan) }
        return keys.count == found.count ? keys : nil
    }
}

/// The sums of a partition's rows at the last refresh, with what they were made with.
struct DigestMark {
    /// The name of the query.
    let name: String
    let seed: [UInt8]
    let rows: [UInt64]
    let keys: [UInt64]

    init(_ name: String, _ seed: [UInt8], _ sums: BucketSums, _ rules: ChangeRules) {
        let number = sums.bucketCount(rules)
        (self.name, self.seed) = (name, seed)
        (rows, keys) = (BucketSums.joined(sums.rows, to: number), BucketSums.joined(sums.keys, to: number))
    }

    /// Reads a text of ``text``; nil for one that is damaged.
    init?(text: String) {
        guard let json = try? JSONValue(parsing: text), let name = json["name"]?.string, let seed = json["seed"]?.string.flatMap(Self.seed),
            let rows = json["rows"]?.string.flatMap(BucketSums.sums), let keys = json["keys"]?.string.flatMap(BucketSums.sums),
            rows.count == keys.count
        else { return nil }
        (self.name, self.seed, self.rows, self.keys) = (name, seed, rows, keys)
    }

    var text: String {
        JSONValue.object([
            "name": .string(name), "seed": .string(seed.hexadecimal), "rows": .string(BucketSums.text(rows)), "keys": .string(BucketSums.text(keys)),
        ]).description
    }

    static func seed(_ text: String) -> [UInt8]? { Value(key: ["hex": .string(text)])?.blob.flatMap { $0.count == RowDigest.seedSize ? $0 : nil } }
}
