internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// A column with the version of each row's last change.
struct VersionColumn: Sendable {
    let column: SQLColumn
    /// Whether the load has it; otherwise rows are joined with their table.
    let isInLoad: Bool
}

/// The transactions that give versions, as a read of a back end sees them.
struct VersionSnapshot: Equatable {
    /// The life of the data. Versions of two lives say nothing about each other.
    let life: String
    /// The first transaction that was still running, and the first that had not begun; nil where there is one writer at a time. All transactions with lower
    /// numbers have ended.
    let running: Range<Int64>?
}

/// Finds changed rows of one partition by a version column, and vanished ones by sums over the buckets of their keys.
///
/// A version is confirmed when no transaction can commit a lower one any more. Rows are read from the confirmed version on: those whose version equals it
/// are read again, so equal versions do no harm. Until the first one is confirmed, sums over whole rows show the changes, as in ``DigestReader``.
///
///     look n      the highest version is seen
///     look n + 1  it becomes the candidate: transactions that run now may have lower versions
///     later       it is confirmed when all of these have ended
///
/// The candidate waits for one look, because a transaction takes its version an instant before its number.
struct VersionReader {
    let object: SQLObject
    let column: VersionColumn
    let rules: ChangeRules
    let buckets: any BucketReading
    let connection: any SQLConnection
    /// The keys of the partition.
    private let keys: BucketQuery
    /// Its rows with their versions: a row with another version has changed, although this may be a large value only.
    private let rows: BucketQuery

    init(_ object: SQLObject, _ column: VersionColumn, _ parameters: [String: Value], _ rules: ChangeRules, _ connection: any BackEndConnection) {
        (self.object, self.column, self.rules, buckets, self.connection) = (object, column, rules, connection.buckets, connection)
        keys = BucketQuery(object, parameters, tables: object.versionTables(column))
        var rows = keys
        rows.columns = [column.column] + object.plan.rowAttributes.map { object.sourceColumn($0.name) }
        self.rows = rows
    }

    /// Returns the keys of changed rows since a mark, and the present mark.
    func changes(since mark: String?) throws -> BackEndChanges {
        guard DigestReader.hasKeys(object) else { return .unknown }
        let snapshot = try buckets.snapshot(), name = try rows.name
        guard let known = mark.flatMap(VersionMark.init(text:)), known.name == name, known.life == snapshot.life else {
            guard try buckets.hasRows(rules.leastRows, keys, connection) else { return .unknown }
            let seed = SystemEnvironment.randomBytes(RowDigest.seedSize), progress = VersionProgress().next(seen: try newest, snapshot)
            let sums = try buckets.sums(of: progress.confirmed == nil ? rows : keys, seed: seed)
            return BackEndChanges(keys: nil, mark: try self.mark(name, snapshot.life, seed, sums, progress).text)
        }
        let tail = try known.progress.confirmed.map { try buckets.sums(of: newRows(from: $0), seed: known.seed) }
        let sums = try buckets.sums(of: tail == nil ? rows : keys, seed: known.seed), number = known.keys.count
        let moved = BucketSet(BucketSums.joined(sums.keys, to: number), differentFrom: known.keys)
        let changed = tail == nil ? BucketSet(BucketSums.joined(sums.rows, to: number), differentFrom: known.rows) : moved
        guard tail?.total != known.tail || !changed.isEmpty else { return BackEndChanges(keys: [], mark: mark) }
        let progress = known.progress.next(seen: try newest, snapshot)
        let next = sums.count < rules.leastRows / 2 ? nil : try self.mark(name, known.life, known.seed, sums, progress).text
        guard let found = try changedKeys(known, tail, changed) else { return BackEndChanges(keys: nil, mark: next) }
        let bucket = buckets.bucket(seed: known.seed), covers: @Sendable (RowKey) -> Bool = { moved.contains(bucket($0)) }
        return BackEndChanges(keys: found, mark: next, covers: moved.isEmpty ? nil : covers)
    }

    private var newest: JSONValue? { get throws { try buckets.newest(column, of: keys)?.keyJSON } }

    /// The rows whose version has reached one.
    private func newRows(from version: JSONValue) -> BucketQuery {
        var query = rows
        query.values.append(Value(key: version) ?? .null)
        query.condition = " WHERE " + buckets.isReached(column, place: query.values.count)
        return query
    }

    /// Returns the keys of new versions, and those in changed buckets; nil if they are too many.
    private func changedKeys(_ known: VersionMark, _ tail: BucketSums?, _ changed: BucketSet) throws -> [RowKey]? {
        guard changed.count <= max(1, known.keys.count / rules.changedPart) else { return nil }
        let reader = BucketKeys(object, rules)
        var found: [RowKey] = []
        if let tail, tail.total != known.tail, let version = known.progress.confirmed {
            guard tail.count <= Int64(rules.keyLimit),
                let keys = try reader.read(newRows(from: version), nil, seed: known.seed, buckets)
            else { return nil }
            found += keys
        }
        guard !changed.isEmpty else { return found }
        return try reader.read(keys, changed, seed: known.seed, buckets).map { found + $0 }
    }

    private func mark(_ name: String, _ life: String, _ seed: [UInt8], _ sums: BucketSums, _ progress: VersionProgress) throws -> VersionMark {
        let number = sums.bucketCount(rules)
        let tail = try progress.confirmed.map { try buckets.sums(of: newRows(from: $0), seed: seed).total }
        return VersionMark(
            name: name, life: life, seed: seed, keys: BucketSums.joined(sums.keys, to: number),
            rows: tail == nil ? BucketSums.joined(sums.rows, to: number) : [], tail: tail, progress: progress)
    }
}

/// How far the versions of a partition are known: values of the column as JSON.
struct VersionProgress: Equatable {
    /// Every transaction with a lower version has ended before the last look; nil if none is known to be so.
    var confirmed: JSONValue?
    /// It is confirmed when all transactions before ``end`` have ended.
    var candidate: JSONValue?
    var end: Int64 = 0
    /// The highest version of the last look.
    var seen: JSONValue?

    /// Returns the progress after another look, which has read all rows from the confirmed version on.
    func next(seen newest: JSONValue?, _ snapshot: VersionSnapshot) -> VersionProgress {
        guard let running = snapshot.running else { return VersionProgress(confirmed: newest ?? confirmed, seen: newest) }
        var next = self
        if let candidate, running.lowerBound >= end { (next.confirmed, next.candidate) = (candidate, nil) }
        if next.candidate == nil, seen != next.confirmed { (next.candidate, next.end) = (seen, running.upperBound) }
        next.seen = newest ?? seen
        return next
    }
}

/// The knowledge of a partition's versions and keys since the last refresh.
struct VersionMark {
    /// The name of the query.
    let name: String
    /// See ``VersionSnapshot/life``.
    let life: String
    let seed: [UInt8]
    let keys: [UInt64]
    /// Empty when a version is confirmed.
    let rows: [UInt64]
    /// The number and the sum of the rows from the confirmed version on.
    let tail: String?
    let progress: VersionProgress

    init(name: String, life: String, seed: [UInt8], keys: [UInt64], rows: [UInt64], tail: String?, progress: VersionProgress) {
        (self.name, self.life, self.seed, self.keys, self.rows, self.tail, self.progress) = (name, life, seed, keys, rows, tail, progress)
    }

    /// Reads a text of ``text``; nil for one that is damaged.
    init?(text: String) {
        guard let json = try? JSONValue(parsing: text), let name = json["name"]?.string, let life = json["life"]?.string,
            let seed = json["seed"]?.string.flatMap(DigestMark.seed), let keys = json["keys"]?.string.flatMap(BucketSums.sums),
            let end = json["end"]?.string.flatMap({ Int64($0) })
        else { return nil }
        func version(_ name: String) -> JSONValue? {
            guard let value = json[name], !value.isNull else { return nil }
            return value
        }
        let rows = json["rows"]?.string.flatMap(BucketSums.sums) ?? [], tail = json["tail"]?.string
        let progress = VersionProgress(confirmed: version("confirmed"), candidate: version("candidate"), end: end, seen: version("seen"))
        guard progress.confirmed == nil ? rows.count == keys.count : tail != nil else { return nil }
        self.init(name: name, life: life, seed: seed, keys: keys, rows: rows, tail: tail, progress: progress)
    }

    var text: String {
        JSONValue.object([
            "name": .string(name), "life": .string(life), "seed": .string(seed.hexadecimal), "keys": .string(BucketSums.text(keys)),
            "rows": rows.isEmpty ? .null : .string(BucketSums.text(rows)), "tail": tail.map { .string($0) } ?? .null,
            "confirmed": progress.confirmed ?? .null, "candidate": progress.candidate ?? .null, "end": .string(String(progress.end)),
            "seen": progress.seen ?? .null,
        ]).description
    }
}
