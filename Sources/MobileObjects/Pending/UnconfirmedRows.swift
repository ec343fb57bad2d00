import MobileModel
import MobileStore

/// Rows that are here because an operation of this device was accepted, and not because the server has sent them: table `_unconfirmed`.
///
/// **After a download of its group, a row is here exactly if one of the device's partitions has it.** An accepted row may be in none of them: it was created for
/// another region, or is gone before the server reads it again, so that no deletion of it is ever reported. The device names these rows, and the server answers
/// with the deletions. So may the row of an accepted delete be in one of them, because the back end has kept it: the server sends it again. *If you break it*: the
/// row stays here forever, or never comes back.
package struct DecidedRows: Sendable {
    private let groups: Set<String>
    private let undecided: Set<String>

    /// - Parameters:
    ///   - groups: the groups of a download that answers the upload as well; default none.
    ///   - undecided: the objects about whose rows the server could not say yet whether they are the device's.
    package init(groups: Set<String> = [], undecided: Set<String> = []) { (self.groups, self.undecided) = (groups, undecided) }

    /// Whether the download has decided about the rows of an object.
    func contains(_ entity: EntityMetadata) -> Bool { groups.contains(entity.model.synchronizationGroup) && !undecided.contains(entity.name) }
}

extension PackageDatabase {
    /// Returns the rows of these groups to ask about, by object.
    /// - Parameters:
    ///   - areHere: whether the rows are on the device; otherwise a delete of them was accepted.
    ///   - limit: the maximum number of rows; others follow with later uploads.
    package final func unconfirmedRows(inGroups groups: [String], areHere: Bool = true, limit: Int) throws -> [String: [Int64]] {
        try read { connection in
            var rows: [String: [Int64]] = [:], left = Int64(limit)
            for entity in metadata.storedEntities where !entity.isLocal && groups.contains(entity.model.synchronizationGroup) && left > 0 {
                let isMeant = (areHere ? "" : "NOT ") + "(\(entity.isHere("\"sk\"")))"
                let keys = try connection.keys(
                    "SELECT \"sk\" FROM \"_unconfirmed\" WHERE \"entity\" = ?1 AND \(isMeant) ORDER BY 1 LIMIT ?2",
                    [.text(entity.name), .integer(left)])
                guard !keys.isEmpty else { continue }
                rows[entity.name] = keys
                left -= Int64(keys.count)
            }
            return rows
        }
    }
}

/// A large value of a row that is here because an operation of this device was accepted.
package struct UnconfirmedLargeValue: Sendable {
    package let object: String
    package let key: Int64
    package let attribute: String
    package let id: Int64
}

extension PackageDatabase {
    /// Returns the large values of rows, those of the server's version where a row has a pending change. The download need not bring them again.
    /// - Parameter rows: from ``unconfirmedRows(inGroups:limit:)``.
    package final func largeValues(ofUnconfirmed rows: [String: [Int64]], limit: Int) throws -> [UnconfirmedLargeValue] {
        try read { connection in
            var values: [UnconfirmedLargeValue] = []
            for (name, keys) in rows.sorted(by: { $0.key < $1.key }) {
                let entity = try metadata.entity(named: name), list = Value.text(JSONValue.array(keys.map { .integer($0) }).description)
                for index in entity.largeAttributes {
                    let column = entity.sql.attributeColumns[index],
                        isNamed = "\(column) IS NOT NULL AND \"_sk\" IN (SELECT \"value\" FROM json_each(?1))"
                    let found = try connection.rows(
                        """
                        SELECT "_sk", \(column) FROM \(entity.sql.originalTable) WHERE "_sv" = ?2 AND \(isNamed)
                        UNION ALL
                        SELECT "_sk", \(column) FROM \(entity.sql.table) AS r
                        WHERE NOT EXISTS (SELECT 1 FROM \(entity.sql.originalTable) AS o WHERE o."_sk" = r."_sk") AND \(isNamed)
                        ORDER BY 1
                        """, [list, .integer(ServerVersion.present.rawValue)])
                    for row in found {
                        guard let key = row[0].integer, let id = row[1].integer else { continue }
                        values.append(UnconfirmedLargeValue(object: name, key: key, attribute: entity.attributes[index].name, id: id))
                    }
                }
            }
            return Array(values.prefix(limit))
        }
    }
}

extension Transaction {
    /// Notes a row whose operation was accepted, until a download of its group.
    func noteUnconfirmed(_ entity: EntityMetadata, _ key: Int64) throws {
        guard entity.otherOperation == nil else { return }
        try connection.execute("INSERT OR IGNORE INTO \"_unconfirmed\" (\"sk\", \"entity\") VALUES (?1, ?2)", [.integer(key), .text(entity.name)])
    }

    /// Ends the questions about rows of a group that its download has answered.
    /// - Parameter asked: the rows that the upload named, by object, those that are here and the others.
    package func confirmRows(ofGroup group: String, _ asked: [String: [Int64]], _ decided: DecidedRows) throws {
        guard try connection.first("SELECT 1 FROM \"_unconfirmed\" LIMIT 1") != nil else { return }
        for entity in metadata.storedEntities where !entity.isLocal && entity.model.synchronizationGroup == group && decided.contains(entity) {
            let keys = JSONValue.array((asked[entity.name] ?? []).map { .integer($0) }).description
            try connection.execute(
                "DELETE FROM \"_unconfirmed\" WHERE \"entity\" = ?1 AND \"sk\" IN (SELECT \"value\" FROM json_each(?2))",
                [.text(entity.name), .text(keys)])
        }
    }
}

extension EntityMetadata {
    /// Returns the condition that there is a row with this key, or a pending change of it.
    fileprivate func isHere(_ key: String) -> String {
        "\(key) IN (SELECT \"_sk\" FROM \(sql.table)) OR \(key) IN (SELECT \"_sk\" FROM \(sql.originalTable))"
    }
}
