internal import MobileExecution
internal import MobileStore

extension RhomModel {
    /// Returns the object with an id; nil if there is none. RhoConnect: `find:`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func find(_ object: String) throws(RhoConnectError) -> RhomObject? {
        try findAll(RhomQuery(where: [RhomCondition("object", .equal(object))])).first
    }

    /// Returns the first object, in the order of ids, that has all these values; nil if there is none. RhoConnect: `find_first:`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func findFirst(_ conditions: [String: String] = [:]) throws(RhoConnectError) -> RhomObject? {
        var query = RhomQuery(equal: conditions)
        query.limit = 1
        return try findAll(query).first
    }

    /// Returns all objects that have all these values, in the order of ids. RhoConnect: `find_all:`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func findAll(_ conditions: [String: String] = [:]) throws(RhoConnectError) -> [RhomObject] {
        try findAll(RhomQuery(equal: conditions))
    }

    /// Returns the objects of a query.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func findAll(_ query: RhomQuery) throws(RhoConnectError) -> [RhomObject] {
        let attachment = try attached()
        if query.conditions == [RhomCondition("object", .equal(query.soughtObject ?? ""))], let id = query.soughtObject {
            return try attachment.client.read { connection in
                guard var found = try attachment.source.table.attributes(of: id, in: connection) else { return [] }
                found["object"] = id
                found["source_id"] = String(attachment.source.id)
                return [found]
            }
        }
        let objects = try ObjectQuery(attachment.source, query)
        return try attachment.client.read { try objects.objects(in: $0) }
    }

    /// Returns the number of objects of a query, without regard to its limit and offset.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func count(_ query: RhomQuery = RhomQuery()) throws(RhoConnectError) -> Int {
        let attachment = try attached()
        let objects = try ObjectQuery(attachment.source, query)
        return try attachment.client.read { try objects.count(in: $0) }
    }

    /// Returns the text that the server sent about the model, usually JSON; nil before it did. RhoConnect: `metadata`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func metadata() throws(RhoConnectError) -> String? {
        let attachment = try attached()
        return try attachment.client.read { try SourceRow(attachment.source.id, in: $0).metadata }
    }
}

extension RhomQuery {
    /// Makes a query of equal values.
    init(equal conditions: [String: String]) {
        self.init(where: conditions.sorted { $0.key < $1.key }.map { RhomCondition($0.key, .equal($0.value)) })
    }

    /// The id, in a query of one object with all its attributes.
    fileprivate var soughtObject: String? {
        guard conditions.count == 1, conditions[0].attribute == "object", case .equal(let id) = conditions[0].test, attributes == nil,
            offset == 0, limit ?? 1 > 0, after == nil
        else { return nil }
        return id
    }
}

extension RhomModel {
    /// As the blocking twin, on a thread of its own.
    public func find(_ object: String) async throws -> RhomObject? { try await BlockingWork.run { try self.find(object) } }
    /// As the blocking twin, on a thread of its own.
    public func findFirst(_ conditions: [String: String] = [:]) async throws -> RhomObject? {
        try await BlockingWork.run { try self.findFirst(conditions) }
    }
    /// As the blocking twin, on a thread of its own.
    public func findAll(_ conditions: [String: String] = [:]) async throws -> [RhomObject] {
        try await BlockingWork.run { try self.findAll(conditions) }
    }
    /// As the blocking twin, on a thread of its own.
    public func findAll(_ query: RhomQuery) async throws -> [RhomObject] { try await BlockingWork.run { try self.findAll(query) } }
    /// As the blocking twin, on a thread of its own.
    @discardableResult
    public func create(_ object: RhomObject) async throws -> String { try await BlockingWork.run { try self.create(object) } }
    /// As the blocking twin, on a thread of its own.
    public func save(_ object: RhomObject) async throws { try await BlockingWork.run { try self.save(object) } }
    /// As the blocking twin, on a thread of its own.
    @discardableResult
    public func destroy(_ object: RhomObject) async throws -> Int { try await BlockingWork.run { try self.destroy(object) } }
}
