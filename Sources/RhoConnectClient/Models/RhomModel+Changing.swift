internal import MobileStore

extension RhomModel {
    /// Makes an object and marks it for the next synchronization. RhoConnect: `create:`.
    /// - Parameter object: the attributes, at least one; `object` may hold the id, otherwise one is generated. On return it has `object` and `source_id`.
    /// - Returns: the object's id. It is temporary: the server's id takes its place with a synchronization.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for an id that is in use, no attribute, or a name that the server would change.
    @discardableResult
    public func create(_ object: inout RhomObject) throws(RhoConnectError) -> String {
        let attachment = try attached()
        let attributes = try ReservedNames.attributes(of: object), given = object["object"]
        if let given { try ReservedNames.check(object: given) }
        let id = try attachment.client.write("create \(name)") { connection in
            let id = try given ?? attachment.client.newObjectID(in: connection)
            try attachment.source.create(attributes, as: id, in: connection)
            return id
        }
        object["object"] = id
        object["source_id"] = String(attachment.source.id)
        return id
    }

    /// Makes an object; see ``create(_:)-(RhomObject)``.
    @discardableResult
    public func create(_ object: RhomObject) throws(RhoConnectError) -> String {
        var object = object
        return try create(&object)
    }

    /// Writes the attributes of an object that differ from the stored ones, and marks them for the next synchronization; others stay. An unknown object is
    /// created. RhoConnect: `save:`.
    /// - Parameter object: attributes with the id under `object`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` without an id, and as `create`.
    public func save(_ object: RhomObject) throws(RhoConnectError) {
        let attachment = try attached()
        let attributes = try ReservedNames.attributes(of: object)
        guard let id = object["object"] else { throw RhoConnectError(.runtime, "save in \"\(name)\": the object has no id under \"object\"") }
        try ReservedNames.check(object: id)
        let files = attachment.client.database.replacedFiles
        try attachment.client.write("save \(name)") { connection in
            try files.note([id], of: attachment.source, in: connection)
            try attachment.source.save(attributes, of: id, in: connection)
        }
        attachment.client.deleteReplacedFiles()
    }

    /// Removes objects, and marks that for the next synchronization. RhoConnect: `destroy:`.
    /// - Parameter object: the id under `object`; without one, all objects that have these attributes are removed.
    /// - Returns: the number of removed objects; an unknown one counts nothing.
    /// - Throws: ``RhoConnectErrorCode/runtime`` without id and attributes.
    @discardableResult
    public func destroy(_ object: RhomObject) throws(RhoConnectError) -> Int {
        let attachment = try attached()
        let conditions = object.filter { !ReservedNames.members.contains($0.key) }.map { RhomCondition($0.key, .equal($0.value)) }
        if object["object"] == nil && conditions.isEmpty {
            throw RhoConnectError(.runtime, "destroy in \"\(name)\": neither an id under \"object\" nor attributes are given")
        }
        let files = attachment.client.database.replacedFiles
        let count = try attachment.client.write("destroy \(name)") { connection in
            let source = attachment.source
            let ids = try object["object"].map { [$0] } ?? ObjectQuery(source, RhomQuery(where: conditions)).ids(in: connection)
            try files.note(ids, of: source, in: connection)
            return try ids.count { try source.destroy($0, in: connection) }
        }
        attachment.client.deleteReplacedFiles()
        return count
    }

    /// Whether there are local changes that the server has not confirmed. RhoConnect: `is_changed`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func isChanged() throws(RhoConnectError) -> Bool {
        let attachment = try attached()
        return try attachment.client.read { try attachment.source.queue.isChanged(in: $0) }
    }

    /// Has the next synchronization upload, also without local changes: the server then works off what waits in its queue. RhoConnect: `pushChanges`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func pushChanges() throws(RhoConnectError) {
        let attachment = try attached()
        guard attachment.source.isIncremental else { return }
        try attachment.client.write("push changes") { try attachment.source.queue.addPush(in: $0) }
    }

    /// New objects that the server has neither confirmed nor refused, although it answered at least once since it took them.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func unconfirmedCreates() throws(RhoConnectError) -> [String] {
        let attachment = try attached()
        return try attachment.client.read { connection in
            try connection.rows(
                "SELECT object FROM changed_values WHERE source_id = ?1 AND update_type = 'create' AND sent = 2 AND failed = 0 AND tries > 0 ORDER BY object",
                [Value(attachment.source.id)]
            ).compactMap(\.first?.text)
        }
    }

    /// Collects the following changes of all models of the client into one transaction. They are visible at once to this client's models, and stored with
    /// ``stopBulkUpdate()``. A synchronization waits. RhoConnect: `startBulkUpdate`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` when one is in progress already.
    public func startBulkUpdate() throws(RhoConnectError) { try attached().client.startBulkUpdate() }

    /// Stores the changes since ``startBulkUpdate()``. RhoConnect: `stopBulkUpdate`.
    /// - Throws: ``RhoConnectErrorCode/runtime`` without a start, or when storing fails; nothing is stored in that case.
    public func stopBulkUpdate() throws(RhoConnectError) { try attached().client.stopBulkUpdate() }
}

extension Source {
    /// Whether local changes go to the server.
    private var isQueued: Bool { model.syncType != .none }

    func create(_ attributes: [String: String], as object: String, in connection: Connection) throws {
        let known = try known(attributes)
        let isTaken = try table.attributes(of: object, in: connection) != nil || queue.marker(of: object, in: connection) != nil
        guard !isTaken, try !queue.isDestroyed(object, in: connection) else {
            throw RhoConnectError(.runtime, "create in \"\(name)\": the id \"\(object.prefix(80))\" is in use")
        }
        try table.put(known, of: object, in: connection)
        if isQueued { try queue.addCreate(of: object, in: connection) }
    }

    func save(_ attributes: [String: String], of object: String, in connection: Connection) throws {
        guard let old = try table.attributes(of: object, in: connection) else { return try create(attributes, as: object, in: connection) }
        let changed = (table.columns == nil ? attributes : attributes.filter { table.columns?.contains($0.key) == true })
            .filter { old[$0.key] != $0.value }
        guard !changed.isEmpty else { return }
        try table.put(changed, of: object, in: connection)
        guard isQueued, try queue.marker(of: object, in: connection)?.isUnknownToServer != true else { return }
        try queue.addUpdates(changed, of: object, in: connection)
    }

    /// - Returns: whether the object existed.
    func destroy(_ object: String, in connection: Connection) throws -> Bool {
        guard let attributes = try table.attributes(of: object, in: connection) else { return false }
        try table.remove(object, in: connection)
        guard isQueued else { return true }
        if try queue.marker(of: object, in: connection)?.isUnknownToServer == true {
            try queue.remove(object, in: connection)
        } else {
            try queue.addDelete(attributes, of: object, in: connection)
        }
        return true
    }

    /// The attributes that the model can store.
    private func known(_ attributes: [String: String]) throws -> [String: String] {
        let known = table.columns.map { columns in attributes.filter { columns.contains($0.key) } } ?? attributes
        guard !known.isEmpty else {
            throw RhoConnectError(.runtime, "create in \"\(name)\": an object needs at least one attribute, because the server drops others")
        }
        return known
    }
}
