import MobileStore

/// An index on the attributes of an object: queries that test or sort by them are faster, and writing is a little slower. The model is not changed.
/// SMP 2.3: `SUPIndexMetaData`.
public struct IndexMetadata: Sendable {
    /// The name, unique among the indexes of its object.
    public var name: String
    /// Whether no two rows may have the same values; null equals no value. An import that brings such rows fails, so this is mostly for local
    /// objects.
    public var isUnique: Bool
    /// The attributes in the order of the index, one or more; the first ones count most. SMP 2.3: `attributes`.
    public var attributes: [AttributeMetadata]
    /// Whether the framework made it for the model, such as for keys: it cannot be dropped then.
    public internal(set) var isModelled = false

    /// Describes an index to be made; its attributes can be added one by one.
    public init(name: String, unique isUnique: Bool = false, attributes: [AttributeMetadata] = []) {
        (self.name, self.isUnique, self.attributes) = (name, isUnique, attributes)
    }
}

extension PackageDatabase {
    /// Makes an index on the table of an object. It takes effect at once and stays until it is dropped or the database is deleted.
    /// SMP 2.3: `createIndex:withEntity:`.
    /// - Throws: ``ObjectError/Code/invalidIndex``: it has no name or no attributes, one of them twice, there is one of this name, or it is
    ///   to be unique and rows have equal values. ``ObjectError/Code/noSuchAttribute``: an attribute of another object.
    ///   ``ObjectError/Code/unsupportedType``: a large or structured attribute.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func createIndex(_ index: IndexMetadata, on entity: EntityMetadata) throws {
        let plan = try IndexPlan(index, on: entity, in: metadata)
        try write("create index \(index.name)") { try plan.create($0.connection) }
    }

    /// The same without blocking a cooperative thread.
    public final func createIndex(_ index: IndexMetadata, on entity: EntityMetadata) async throws {
        let plan = try IndexPlan(index, on: entity, in: metadata)
        try await write("create index \(index.name)") { try plan.create($0.connection) }
    }

    /// Removes an index that `createIndex(_:on:)` made. SMP 2.3: `dropIndex:withEntity:`.
    /// - Throws: ``ObjectError/Code/invalidIndex``: the object has no such index, or it belongs to the model.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func dropIndex(_ name: String, on entity: EntityMetadata) throws {
        try write("drop index \(name)") { try IndexPlan.drop(name, on: entity, $0.connection) }
    }

    /// The same without blocking a cooperative thread.
    public final func dropIndex(_ name: String, on entity: EntityMetadata) async throws {
        try await write("drop index \(name)") { try IndexPlan.drop(name, on: entity, $0.connection) }
    }

    /// Returns the database's indexes on attributes of an object, those that the framework made for the model first. SMP 2.3: `getIndexes:`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func indexes(of entity: EntityMetadata) throws -> [IndexMetadata] { try read { try IndexPlan.list(entity, $0) } }

    /// The same without blocking a cooperative thread.
    public final func indexes(of entity: EntityMetadata) async throws -> [IndexMetadata] { try await read { try IndexPlan.list(entity, $0) } }
}

/// An index as SQL. Its name in the database consists of the object's and its own, because SQLite has one set of names for all tables. A colon, which
/// no modelled name has, separates the two, and distinguishes the name from those of the framework.
private struct IndexPlan: Sendable {
    private let name: String
    private let entity: EntityMetadata
    private let sql: String

    init(_ index: IndexMetadata, on entity: EntityMetadata, in package: PackageMetadata) throws {
        guard package.entities.indices.contains(entity.index), package.entities[entity.index] === entity else {
            throw ObjectError(.noSuchClass, "create index \"\(index.name)\": \(entity.name) is not an object of package \(package.name)")
        }
        guard !index.name.isEmpty, !index.name.unicodeScalars.contains("\0") else {
            throw ObjectError(.invalidIndex, "create index of \(entity.name): its name is empty or has a character that names cannot have")
        }
        guard !index.attributes.isEmpty else {
            throw ObjectError(.invalidIndex, "create index \"\(index.name)\" of \(entity.name): it has no attributes")
        }
        guard Set(index.attributes.map(\.name)).count == index.attributes.count else {
            throw ObjectError(.invalidIndex, "create index \"\(index.name)\" of \(entity.name): it has an attribute twice")
        }
        let columns = try index.attributes.map { attribute in
            let own = try entity.attribute(named: attribute.name)
            guard !QueryType(own).isOpaque else {
                throw ObjectError(.unsupportedType, "create index \"\(index.name)\": \(entity.name).\(own.name) is a \(own.type), which has no order")
            }
            return entity.sql.attributeColumns[own.index]
        }
        name = index.name
        self.entity = entity
        let quoted = EntitySQL.quote(Self.prefix(entity) + index.name)
        sql = "CREATE \(index.isUnique ? "UNIQUE " : "")INDEX \(quoted) ON \(entity.sql.table) (\(columns.joined(separator: ", ")))"
    }

    func create(_ connection: Connection) throws {
        guard try !Self.list(entity, connection).contains(where: { $0.name == name }) else {
            throw ObjectError(.invalidIndex, "create index \"\(name)\" of \(entity.name): there is one of this name")
        }
        do { try connection.execute(sql) } catch {
            guard error.code == .constraint else { throw error }
            throw ObjectError(
                .invalidIndex, "create index \"\(name)\" of \(entity.name): rows have equal values, and it is to be unique", cause: error)
        }
    }

    static func drop(_ name: String, on entity: EntityMetadata, _ connection: Connection) throws {
        guard let index = try list(entity, connection).first(where: { $0.name == name }) else {
            throw ObjectError(.invalidIndex, "drop index \"\(name)\" of \(entity.name): there is none of this name")
        }
        guard !index.isModelled else {
            throw ObjectError(.invalidIndex, "drop index \"\(name)\" of \(entity.name): it belongs to the model")
        }
        try connection.execute("DROP INDEX \(EntitySQL.quote(prefix(entity) + name))")
    }

    static func list(_ entity: EntityMetadata, _ connection: Connection) throws -> [IndexMetadata] {
        let rows = try connection.rows(
            "SELECT name, \"unique\" FROM pragma_index_list(?1) WHERE origin = 'c' ORDER BY name LIKE 'index:%', name", [.text(entity.name)])
        return try rows.compactMap { row in
            guard let stored = row[0].text else { throw ObjectError(.corrupt, "an index of \(entity.name) has no name") }
            let columns = try connection.rows("SELECT name FROM pragma_index_info(?1) ORDER BY seqno", [.text(stored)])
            // A column that is an expression has no name.
            let attributes = columns.compactMap { $0[0].text.flatMap { entity.attribute(ifNamed: $0) } }
            // Indexes on references cannot be described by the model's attributes.
            guard attributes.count == columns.count else { return nil }
            let isOwn = stored.hasPrefix(prefix(entity))
            var index = IndexMetadata(
                name: isOwn ? String(stored.dropFirst(prefix(entity).count)) : stored, unique: row[1].integer == 1, attributes: attributes)
            index.isModelled = !isOwn
            return index
        }
    }

    private static func prefix(_ entity: EntityMetadata) -> String { "index:\(entity.name):" }
}
