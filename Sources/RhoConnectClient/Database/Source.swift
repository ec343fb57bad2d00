internal import MobileStore

/// A model with its number in the local database, and the place of its objects.
struct Source: Sendable {
    let id: Int
    let name: String
    let model: RhomModel.Definition

    /// The first ids of the partitions, as the original clients number them.
    static func firstID(of partition: RhomModel.Partition) -> Int {
        switch partition {
        case .user: 1
        case .app: 20_003
        case .local: 40_003
        }
    }

    /// Whether local changes wait for the server, and pages come from it.
    var isIncremental: Bool { model.syncType != .none && model.syncType != .bulkOnly }

    /// The objects of the model.
    var table: ObjectTable {
        if case .fixedSchema(let schema) = model.modelType {
            return ObjectTable(sourceID: id, name: name, columns: schema.properties.map(\.name))
        }
        return ObjectTable(sourceID: id, name: name, columns: nil)
    }

    /// The waiting changes of the model.
    var queue: ChangeQueue { ChangeQueue(sourceID: id, isPassThrough: model.options.isPassThrough) }

    /// The attributes that hold files.
    var blobAttributes: [String: RhomModel.BlobRule] {
        guard case .fixedSchema(let schema) = model.modelType else { return model.options.blobAttributes }
        return schema.blobAttributes.merging(model.options.blobAttributes) { $1 }
    }
}

/// Names that the protocol reserves.
enum ReservedNames {
    /// The members of objects that are not attributes: never sent, never stored.
    static let members: Set<String> = ["object", "source_id", "update_type", "attrib_type", "set_notification", "clear_notification"]
    /// The server's separator, which must not occur in ids, names and values.
    static let separator = ":^rho&:"
    /// The suffix of a property bag's attributes that are files.
    static let blobSuffix = "-rhoblob"

    /// Returns the attributes of an object without reserved members.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for a name that the server would drop or split, and for its separator in a value.
    static func attributes(of object: RhomObject) throws(RhoConnectError) -> [String: String] {
        var attributes: [String: String] = [:]
        for (name, value) in object where !members.contains(name) {
            guard !name.isEmpty, name != "id", !name.contains(":") else {
                throw RhoConnectError(.runtime, "attribute \"\(name.prefix(80))\": the server takes no empty name, no colon, and not the name id")
            }
            guard !value.contains(separator) else {
                throw RhoConnectError(.runtime, "attribute \"\(name.prefix(80))\": its value contains the server's separator \(separator)")
            }
            attributes[name] = value
        }
        return attributes
    }

    /// Removes the values of a property bag that have reserved names, by the index of values.
    static func remove(from source: Source, in connection: Connection) throws(StoreError) {
        for name in members {
            try connection.execute("DELETE FROM object_values WHERE source_id = ?1 AND attrib = ?2", [Value(source.id), .text(name)])
        }
    }

    /// Checks an object id.
    static func check(object: String) throws(RhoConnectError) {
        guard !object.isEmpty, !object.contains(separator) else {
            throw RhoConnectError(.runtime, "object id \"\(object.prefix(80))\": it must not be empty or contain \(separator)")
        }
    }
}
