import MobileStore

/// The one place where rows become objects.
extension EntityContext {
    /// The object of a surrogate key; nil when there is none.
    func find<T: Entity>(_ key: Int64) throws -> T? {
        let objects: [T] = try objects(metadata.sql.selectByKey, [.integer(key)])
        return objects.first
    }

    /// The object of a surrogate key, which must exist.
    func load<T: Entity>(_ key: Int64) throws -> T {
        guard let object: T = try find(key) else {
            throw ObjectError(.notFound, "load of \(metadata.name) \(key): there is no such row")
        }
        return object
    }

    /// The objects of a SELECT of ``EntitySQL/columns``.
    func objects<T: Entity>(_ sql: String, _ values: [Value]) throws -> [T] {
        try package.read { try self.objects($0, sql, values) }
    }

    /// The same on a connection.
    func objects<T: Entity>(_ connection: Connection, _ sql: String, _ values: [Value], pageSize: Int = 100) throws -> [T] {
        var pages = try connection.pages(sql, values, size: pageSize)
        var objects: [T] = []
        while let page = try pages.next() { append(page, to: &objects) }
        return objects
    }

    /// Makes an object of each row.
    func append<T: Entity>(_ page: RowPage, to objects: inout [T]) {
        objects.reserveCapacity(objects.count + page.count)
        for row in page { objects.append(T(row: row, at: EntitySQL.firstAttribute, context: self)) }
    }
}
