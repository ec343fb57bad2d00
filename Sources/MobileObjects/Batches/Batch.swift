internal import MobileModel
import MobileStore

/// A change of all objects that a query finds, in one transaction.
///
/// **It changes the objects that the query finds before the first change.** *Why:* a change may bring an object into the result, take it out or move it. *If you
/// break it:* objects are left out or changed twice.
struct Batch: Sendable {
    /// The number of objects in memory at a time.
    private static let size = 500

    private let context: EntityContext
    private let compiled: CompiledQuery

    init(_ query: Query, _ context: EntityContext) throws {
        self.context = context
        compiled = try QueryCompiler.keys(query, of: context.metadata, in: context.package.metadata)
    }

    var package: PackageDatabase { context.package }

    var name: String { context.metadata.name }

    /// Reads the surrogate keys of the objects, in the order of the query. Joins may find an object more than once.
    private func keys(in transaction: Transaction) throws -> [Int64] {
        try package.prepareSearch(compiled.searches)
        var known: Set<Int64> = []
        return try transaction.connection.keys(compiled.sql, compiled.values).filter { known.insert($0).inserted }
    }

    /// Changes each object in memory, and writes it as its `update()` does.
    func update<T: Entity>(in transaction: Transaction, _ change: (T) throws -> Void) throws -> Int {
        let sql = context.metadata.sql, keys = try keys(in: transaction)
        let select = "SELECT \(sql.columns) FROM \(sql.table) WHERE \"_sk\" IN (SELECT value FROM json_each(?1))"
        for start in stride(from: 0, to: keys.count, by: Self.size) {
            let part = keys[start..<min(start + Self.size, keys.count)]
            let found: [T] = try context.objects(select, [.text(EntitySQL.list(part))])
            let byKey = Dictionary(found.map { ($0.surrogateKey, $0) }) { first, _ in first }
            let objects = part.compactMap { byKey[$0] }
            for object in objects { try change(object) }
            try package.perform(SaveSession(objects, cascading: false, in: package), "update \(name)")
        }
        return keys.count
    }

    func delete(in transaction: Transaction) throws -> Int {
        let keys = try keys(in: transaction)
        for key in keys {
            // A composite child has gone with its parent.
            guard try transaction.replayState(of: context.metadata, key) != nil else { continue }
            _ = try transaction.delete(context.metadata, key)
        }
        return keys.count
    }

    func submit(in transaction: Transaction) throws -> Int {
        let metadata = context.metadata
        guard !metadata.isLocal else {
            throw ObjectError(.misuse, "submit of \(name): it is a local object, which never leaves the device")
        }
        let pending = Set(try transaction.connection.keys("SELECT \"_sk\" FROM \(metadata.sql.originalTable)"))
        let rows = try keys(in: transaction).filter(pending.contains).map { RowID(entity: metadata.index, key: $0) }
        _ = try transaction.submit(rows)
        return rows.count
    }
}

extension Batch {
    func update<T: Entity>(_ change: (T) throws -> Void) throws -> Int {
        try package.write("update \(name)") { try update(in: $0, change) }
    }

    nonisolated(nonsending) func update<T: Entity>(_ change: @escaping @Sendable (T) throws -> Void) async throws -> Int {
        try await package.write("update \(name)") { try update(in: $0, change) }
    }

    func delete() throws -> Int { try package.write("delete \(name)") { try delete(in: $0) } }

    nonisolated(nonsending) func delete() async throws -> Int { try await package.write("delete \(name)") { try delete(in: $0) } }

    func submit() throws -> Int { try package.write("submit \(name)", measured: .submitPending) { try submit(in: $0) } }

    nonisolated(nonsending) func submit() async throws -> Int {
        try await package.write("submit \(name)", measured: .submitPending) { try submit(in: $0) }
    }
}
