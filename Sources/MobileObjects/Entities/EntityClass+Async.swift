/// The twins that block no cooperative thread: the rows are read on another thread, the objects stay in the caller's isolation.
extension EntityClass {
    /// As the blocking form.
    public nonisolated(nonsending) func find(_ surrogateKey: Int64) async throws -> GenericEntity? {
        try await context.first(metadata.sql.byKey, [.integer(surrogateKey)])
    }

    /// As the blocking form.
    public nonisolated(nonsending) func load(_ surrogateKey: Int64) async throws -> GenericEntity { try await context.load(surrogateKey) }

    /// As the blocking form.
    public nonisolated(nonsending) func findByPrimaryKey(_ values: AttributeValue...) async throws -> GenericEntity? {
        try await context.first(metadata.sql.byPrimaryKey, metadata.keyValues(values))
    }

    /// As the blocking form.
    public nonisolated(nonsending) func findAll(skip: Int = 0, take: Int = -1) async throws -> EntityList<GenericEntity> {
        EntityList(try await context.objects(skip: skip, take: take))
    }

    /// As the blocking form.
    public nonisolated(nonsending) func page(after key: Int64 = 0, size: Int = 100) async throws -> EntityList<GenericEntity> {
        EntityList(try await context.objects(behind: key, size))
    }

    /// As the blocking form.
    public nonisolated(nonsending) func query(
        _ name: String, _ parameters: [AttributeValue] = [], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) async throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(parameters)))
    }

    /// As the blocking form.
    public nonisolated(nonsending) func query(
        _ name: String, _ parameters: [String: AttributeValue], sortedBy: [AttributeSort] = [], skip: Int = 0, take: Int = -1
    ) async throws -> EntityList<GenericEntity> {
        let query = try ObjectSQL(name, context)
        return EntityList(try await context.objects(query.sql(sortedBy: sortedBy, skip: skip, take: take), query.values(query.ordered(parameters))))
    }

    /// As the blocking form.
    @discardableResult
    public nonisolated(nonsending) func call(_ operation: String, _ parameters: [String: AttributeValue] = [:]) async throws -> Entity {
        try await callable(operation).call(operation, parameters)
    }
}
