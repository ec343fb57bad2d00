import MobileModel
import MobileStore

/// The references to objects and attributes by name outside their own tables: log records, change log, subscriptions, personalization,
/// synchronization groups; and the effects of relationships that are new or gone.
struct BookkeepingUpgrade {
    private let upgrade: DatabaseUpgrade
    private var connection: Connection { upgrade.connection }

    init(_ upgrade: DatabaseUpgrade) { self.upgrade = upgrade }

    func run() throws {
        try rename()
        try forgetRemovedObjects()
        try rewriteSubscriptions()
        try forgetPersonalization()
        try relate()
        try markParents()
        try forgetGroups()
    }

    private func rename() throws {
        for entity in upgrade.entities where entity.old.name != entity.new.name {
            let names: [Value] = [.text(entity.old.name), .text(entity.new.name)]
            for (table, column) in [
                ("_outbox", "entity"), ("_accepted", "entity"), ("_basis", "entity"), ("_log_record", "component"), ("_change_log", "entity"),
                ("_change_log", "root_entity"),
                ("_subscription", "entity"), ("_unconfirmed", "entity"),
            ] { try connection.execute("UPDATE \"\(table)\" SET \"\(column)\" = ?2 WHERE \"\(column)\" = ?1", names) }
        }
    }

    /// Forgets the bookkeeping of removed objects. Log records are for people and stay.
    private func forgetRemovedObjects() throws {
        for object in upgrade.model.removedObjects {
            let name = [Value.text(object.name)]
            try connection.execute("DELETE FROM \"_subscription\" WHERE \"entity\" = ?1", name)
            try connection.execute("DELETE FROM \"_change_log\" WHERE \"entity\" = ?1", name)
            try connection.execute("DELETE FROM \"_basis\" WHERE \"entity\" = ?1", name)
            try connection.execute("DELETE FROM \"_unconfirmed\" WHERE \"entity\" = ?1", name)
            try connection.execute("DELETE FROM \"_accepted\" WHERE \"entity\" = ?1", name)
            // Rows below a removed row are at the top now.
            try connection.execute("UPDATE \"_change_log\" SET \"root_entity\" = \"entity\", \"root_sk\" = \"sk\" WHERE \"root_entity\" = ?1", name)
        }
    }

    /// Writes the parameters in the order of the new model, without removed ones; sets that are equal then become one.
    private func rewriteSubscriptions() throws {
        var known: Set<[Value]> = []
        for row in try connection.storedRows([SubscriptionColumn.id, .entity, .parameters], "ORDER BY \"id\"") {
            let id = try row.value(.id), name = try row.text(.entity)
            guard let entity = try? upgrade.new.entity(named: name) else { continue }
            let set = try row.object(.parameters)
            let members = entity.model.chosenParameters.compactMap { parameter in set[parameter.name].map { (parameter.name, $0) } }
            let text = Value.text(JSONValue.object(JSONObject(uniqueKeys: members)).description)
            if known.insert([.text(name), text]).inserted {
                guard try row.value(.parameters) != text else { continue }
                try connection.execute("UPDATE \"_subscription\" SET \"parameters\" = ?2 WHERE \"id\" = ?1", [id, text])
            } else {
                try connection.execute("DELETE FROM \"_subscription\" WHERE \"id\" = ?1", [id])
            }
        }
    }

    private func forgetPersonalization() throws {
        let kept = upgrade.new.model.personalizationKeys.filter { $0.storage != .session }.map(\.name)
        for key in upgrade.old.model.personalizationKeys where !kept.contains(key.name) {
            try connection.execute("DELETE FROM \"_personalization\" WHERE \"name\" = ?1", [.text(key.name)])
        }
    }

    // MARK: Relationships

    /// Relates rows by a new relationship: the values of its mapping identify the target rows, until the server reports the references.
    private func relate() throws {
        for entity in upgrade.entities {
            for (position, reference) in entity.object.references.enumerated() where reference.old == nil {
                let relationship = try entity.new.relationship(named: reference.name), target = upgrade.new.entities[relationship.targetIndex]
                guard !relationship.mapping.isEmpty, Set(relationship.mapping.map(\.target)) == Set(target.primaryKey) else { continue }
                let column = entity.new.sql.referenceColumns[position]
                for table in entity.new.isLocal ? [entity.new.sql.table] : [entity.new.sql.table, entity.new.sql.originalTable] {
                    let equal = relationship.mapping.map {
                        "t.\(target.sql.attributeColumns[$0.target]) = \(table).\(entity.new.sql.attributeColumns[$0.source])"
                    }
                    try connection.execute(
                        "UPDATE \(table) SET \(column) = (SELECT min(t.\"_sk\") FROM \(target.sql.table) AS t WHERE \(equal.joined(separator: " AND ")))"
                    )
                }
            }
        }
    }

    /// Sets every parent's mark again, because the owners of rows may have changed.
    private func markParents() throws {
        guard
            upgrade.entities.contains(where: { ownership($0.old, upgrade.old) != ownership($0.new, upgrade.new) })
                || !upgrade.model.removedObjects.isEmpty
        else { return }
        for entity in upgrade.new.storedEntities where !entity.isLocal {
            try connection.execute("UPDATE \(entity.sql.table) SET \"_pc\" = 0 WHERE \"_pc\" = 4")
        }
        try upgrade.transaction.updateAllMarks()
    }

    private func ownership(_ entity: EntityMetadata, _ package: PackageMetadata) -> [String] {
        entity.owners.map { "\(entity.relationships[$0].name)>\(package.storedEntities[entity.relationships[$0].targetIndex].name)" }.sorted()
    }

    // MARK: Groups

    /// Notes the attributes that the server has not sent yet, also those of earlier upgrades. It is done before operations are compared with them.
    func noteUnseenAttributes() throws {
        let settings = PackageSettings(connection)
        for entity in upgrade.entities where !entity.new.isLocal {
            let before = try settings.unseenAttributes(of: entity.old.name)
            let unseen = entity.object.attributes.enumerated().filter { $0.element.old.map { before.contains($0.name) } ?? true }
            try settings.setUnseenAttributes([], of: entity.old.name)
            try settings.setUnseenAttributes(Set(unseen.map { entity.new.attributes[$0.offset].name }), of: entity.new.name)
        }
    }

    /// Makes the next synchronization bring everything of the groups in which this device lacks values.
    private func forgetGroups() throws {
        let groups = Set(upgrade.new.synchronizationGroups)
        for name in try connection.storedRows([GroupColumn.name]).map({ try $0.text(.name) }) {
            if upgrade.model.incompleteGroups.contains(name) {
                try connection.execute("UPDATE \"_group\" SET \"token\" = NULL WHERE \"name\" = ?1", [.text(name)])
            } else if !groups.contains(name), upgrade.old.synchronizationGroups.contains(name) {
                // Its rows may be in any other group now.
                let seen = try SeenRecords(ofGroup: name, connection)
                try connection.execute("DELETE FROM \"_group\" WHERE \"name\" = ?1", [.text(name)])
                for group in upgrade.new.synchronizationGroups { try seen.add(toGroup: group, connection) }
            }
        }
    }
}
