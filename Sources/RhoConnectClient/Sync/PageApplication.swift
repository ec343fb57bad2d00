internal import MobileStore

/// The effect of one page on the database: everything in one transaction with the page's token.
///
/// The order is metadata, links, deletes, inserts, token. Deletes come first because a changed attribute is in both.
struct PageApplication {
    private let source: Source
    private let page: PageResponse
    private let core: ClientCore
    private let blobs: DownloadedBlobs
    let errors: RhoConnectServerErrors
    let isSchemaChanged: Bool
    /// Whether the page is that of a search, which never has the end of the model's data.
    var isSearch = false
    /// Whether the next query follows a page with a token.
    var isFollowed = true

    private(set) var inserted = 0
    private(set) var deleted = 0
    private(set) var changes = PageChanges()

    init(_ source: Source, _ page: PageResponse, _ core: ClientCore, _ blobs: DownloadedBlobs) {
        (self.source, self.page, self.core, self.blobs) = (source, page, core, blobs)
        errors = RhoConnectServerErrors(page, of: source.name)
        isSchemaChanged = page[.schemaChanged].exists
    }

    mutating func apply(in connection: Connection) throws {
        guard !isSchemaChanged else {
            // Acknowledged only with the application's decision to load the data again.
            return try SourceRow.set("schema_token = ?1, awaits_page = 0", [.text(page.token)], of: source.id, in: connection)
        }
        try applyErrors(in: connection)
        try noteFiles(in: connection)
        if source.model.options.isPassThrough, !isSearch, page[.insert].exists || errors.source.isEmpty {
            let created = try source.createdObjects(in: connection)
            try source.table.removeAll(in: connection)
            for (object, attributes) in created { try source.table.put(attributes, of: object, in: connection) }
        }
        if let metadata = page[.metadata].string {
            try SourceRow.set("metadata = ?1", [.text(metadata)], of: source.id, in: connection)
        }
        try applyLinks(in: connection)
        try applyDeletes(in: connection)
        try applyInserts(in: connection)
        try keepLocalChanges(in: connection)
        guard !isSearch else {
            if !page.token.isEmpty { try SourceRow.set("last_search = ?1", [.text(page.token)], of: source.id, in: connection) }
            return
        }
        if page.token.isEmpty { try source.queue.settle(in: connection) }
        let token = source.model.options.isPassThrough ? "" : page.token
        try SourceRow.set("token = ?1, awaits_page = ?2", [.text(token), Value(isFollowed && !token.isEmpty)], of: source.id, in: connection)
    }

    /// Notes the files that the page may replace.
    private func noteFiles(in connection: Connection) throws {
        let replaced = core.database.replacedFiles
        if source.model.options.isPassThrough, !isSearch { return try replaced.note(nil, of: source, in: connection) }
        try replaced.note(page[.delete].keys + page[.insert].keys, of: source, in: connection)
    }

    /// Stores the refusals until they are answered, and keeps refused creates pending.
    private func applyErrors(in connection: Connection) throws {
        guard !errors.isEmpty else { return }
        for refusal in errors.create { try source.queue.noteFailure(of: refusal.object, in: connection) }
        if !isSearch { try StoredErrors.add(errors, of: source, in: connection) }
    }

    private mutating func applyLinks(in connection: Connection) throws {
        let links = page[.links]
        for (temporary, link) in zip(links.keys, links) {
            guard let id = link.first(where: { _ in true })?.scalarText, !id.isEmpty,
                try source.queue.link(temporary, to: id, in: connection)
            else { continue }
            try source.table.rename(temporary, to: id, in: connection)
            for (other, attribute) in core.references(to: source) {
                try other.table.replace(temporary, with: id, in: attribute, in: connection)
                try other.queue.replace(temporary, with: id, in: attribute, in: connection)
            }
            changes.events[temporary] = .created
        }
    }

    private mutating func applyDeletes(in connection: Connection) throws {
        let deletes = page[.delete]
        guard deletes.exists, deletes.count > 0 else { return }
        noteChanges(of: deletes, as: .deleted)
        if source.table.columns == nil, source.blobAttributes.isEmpty, !blobs.hasSuffixes {
            let statement = try connection.statement(ObjectTable.remove)
            try statement.bind(Value(source.id), at: 1)
            deleted = try statement.run(forEachLeafOf: deletes, parameters: LeafParameters(outer: 2, inner: 3, isGrouped: true))
            return
        }
        for (object, attributes) in zip(deletes.keys, deletes) {
            try source.table.remove(attributes.keys.map(Self.plainName), of: object, in: connection)
            deleted += 1
        }
    }

    private mutating func applyInserts(in connection: Connection) throws {
        let inserts = page[.insert]
        guard inserts.exists, inserts.count > 0 else { return }
        noteChanges(of: inserts, as: .updated)
        let allowed = source.model.options.allowedAttributes
        if source.table.columns == nil, allowed.isEmpty, source.blobAttributes.isEmpty, !blobs.hasSuffixes {
            let statement = try connection.statement(ObjectTable.upsert)
            try statement.bind(Value(source.id), at: 1)
            // Grouped by attribute: the index of values begins with it.
            inserted = try statement.run(forEachLeafOf: inserts, parameters: LeafParameters(outer: 2, inner: 3, value: 4, isGrouped: true))
            // Servers do not send reserved names.
            try ReservedNames.remove(from: source, in: connection)
            return
        }
        for (object, attributes) in zip(inserts.keys, inserts) {
            var values: [String: String] = [:]
            for (key, value) in zip(attributes.keys, attributes) {
                let name = Self.plainName(key)
                guard !ReservedNames.members.contains(name), allowed.isEmpty || allowed.contains(name) else { continue }
                if blobs.isBlob(key, of: source) {
                    values[name] = blobs.files[.init(object: object, attribute: name)]
                } else {
                    guard let text = value.scalarText else { throw PageResponse.unexpected("attribute \"\(name)\" is not a scalar") }
                    values[name] = text
                }
            }
            try source.table.put(values, of: object, in: connection)
            inserted += 1
        }
    }

    /// Puts local changes that the server does not have yet over the page: they are uploaded next, and the user keeps what he typed. An object that the page
    /// removed stays removed.
    private func keepLocalChanges(in connection: Connection) throws {
        let rows = try connection.rows(
            "SELECT object, attrib, value, update_type FROM changed_values WHERE source_id = ?1 AND sent = 0 AND update_type IN ('update', 'delete')",
            [Value(source.id)])
        for row in rows {
            let object = row[0].text ?? ""
            if row[3].text == "delete" {
                try source.table.remove(object, in: connection)
            } else if try source.table.attributes(of: object, in: connection) != nil {
                try source.table.put([row[1].text ?? "": row[2].text ?? ""], of: object, in: connection)
            }
        }
    }

    /// Notes changed objects, if any object of the model is observed.
    private mutating func noteChanges(of node: JSONNode, as event: PageChanges.Event) {
        let isObserved = core.withState { $0.observedObjects.contains { $0.sourceID == source.id } }
        guard isObserved else { return }
        for object in node.keys { changes.events[object] = event }
    }

    private static func plainName(_ name: String) -> String {
        name.hasSuffix(ReservedNames.blobSuffix) ? String(name.dropLast(ReservedNames.blobSuffix.count)) : name
    }
}

/// The objects that a page changed; the last event of an object counts.
struct PageChanges {
    enum Event { case created, updated, deleted }
    var events: [String: Event] = [:]

    /// The notification about the observed ones.
    func notification(of sourceID: Int, observed: Set<RhoConnectObjectNotify.Object>) -> RhoConnectObjectNotify {
        var notify = RhoConnectObjectNotify()
        for (id, event) in events.sorted(by: { $0.key < $1.key }) {
            let object = RhoConnectObjectNotify.Object(object: id, sourceID: sourceID)
            guard observed.contains(object) else { continue }
            switch event {
            case .created: notify.createdObjects.append(object)
            case .updated: notify.updatedObjects.append(object)
            case .deleted: notify.deletedObjects.append(object)
            }
        }
        return notify
    }
}
