/// The tables of an object, as SQL.
extension EntityMetadata {
    /// The statements for indexes that find the children of an owner that were deleted here: their original states alone know the owner. They hold no
    /// other rows, so they cost the others nothing. Without them a submit of n changes reads n squared rows.
    var deletedChildIndexes: [String] {
        guard !isLocal else { return [] }
        return owners.compactMap { index in
            guard let reference = relationships[index].referenceIndex else { return nil }
            let name = EntitySQL.quote(self.name + "_os_ref_" + relationships[index].name)
            return "CREATE INDEX \(name) ON \(sql.originalTable) (\(sql.referenceColumns[reference])) WHERE \"_pc\" = 3"
        }
    }

    /// The statements for indexes that find rows which have left others: those whose reference led to a row that is deleted now, or is another row's
    /// partner, those that were changed again before their answer, and those whose key another row may have now. They hold the rows that are to be submitted,
    /// and no others: an edit of other values writes nothing there. Without them a submit of one deleted row reads all pending rows.
    var leavingRowIndexes: [String] {
        guard !isLocal else { return [] }
        var keys: [String] = []
        if let givesUp = mayGiveUpKey {
            let columns = primaryKey.map { sql.attributeColumns[$0] }, list = columns.joined(separator: ", ")
            // The original state of a new row has no key.
            keys.append(
                "CREATE INDEX \(EntitySQL.quote(name + "_os_key")) ON \(sql.originalTable) (\(list)) WHERE \(columns[0]) IS NOT NULL AND \(givesUp)")
        }
        guard referenceCount > 0 else { return keys }
        let left = references.compactMap { index -> String? in
            let relationship = relationships[index]
            guard let reference = relationship.referenceIndex, let leaves = mayLeave(relationship) else { return nil }
            let name = EntitySQL.quote(self.name + "_os_left_" + relationship.name), column = sql.referenceColumns[reference]
            return "CREATE INDEX \(name) ON \(sql.originalTable) (\(column)) WHERE \(column) IS NOT NULL AND \(leaves)"
        }
        return left + keys + ["CREATE INDEX \(EntitySQL.quote(name + "_os_again")) ON \(sql.originalTable) (\"_rp\") WHERE \(isChangedAgain)"]
    }

    /// The condition for original states of rows that have something to submit, and may have left the row that a reference leads to in the server's version.
    /// The parts of an index's condition must be written the same in a query, so that it is used.
    func mayLeave(_ relationship: RelationshipMetadata) -> String? {
        guard let reference = relationship.referenceIndex else { return nil }
        let isChanged = "\"_ch\" = '*' OR instr(',' || \"_ch\" || ',', ',\(attributes.count + reference),') > 0"
        return "\"_rc\" <> \"_rp\" AND (\"_pc\" = 3 OR \(isChanged))"
    }

    /// The condition for original states of rows that have something to submit, and may have given up the modelled key of the server's version; nil for an
    /// object whose keys the back end makes.
    var mayGiveUpKey: String? {
        guard sql.hasKey, !hasGeneratedKey else { return nil }
        let isChanged = ["\"_ch\" = '*'"] + primaryKey.map { "instr(',' || \"_ch\" || ',', ',\($0),') > 0" }
        return "\"_rc\" <> \"_rp\" AND (\"_pc\" = 3 OR \(isChanged.joined(separator: " OR ")))"
    }

    /// The condition for original states of rows that were changed again while the answer to their submission is awaited.
    var isChangedAgain: String { "\"_rp\" <> 0 AND \"_rc\" <> \"_rp\"" }

    /// Returns the statements that make the table of the object, its indexes and the table of original states.
    /// - Parameter format: the format version of the tables; default: the newest.
    func tableStatements(format: Int64 = FrameworkTables.formatVersion) -> [String] {
        let marks = ["_pc", "_rc", "_rp", "_rf"] + (format < 4 ? [] : ["_ra"])
        let state = marks.map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" }
        let content =
            zip(sql.attributeColumns, attributes).map { "\($0) \($1.storage.columnType)" } + sql.referenceColumns.map { "\($0) INTEGER" }
        let key = #""_sk" INTEGER PRIMARY KEY"#
        var statements = ["CREATE TABLE \(sql.table) (\(([key] + content + state).joined(separator: ", ")))"]
        if !primaryKey.isEmpty {
            // Not unique, except in local objects: a key may come before the row that had it goes, in one import. `create` itself checks the key, and
            // `RowIdentity` unites rows before the commit.
            let columns = primaryKey.map { sql.attributeColumns[$0] }.joined(separator: ", ")
            let unique = isLocal ? "UNIQUE " : ""
            statements.append("CREATE \(unique)INDEX \(EntitySQL.quote(name + "_key")) ON \(sql.table) (\(columns))")
        }
        for (column, relationship) in zip(sql.referenceColumns, references) {
            let index = EntitySQL.quote(name + "_ref_" + relationships[relationship].name)
            statements.append("CREATE INDEX \(index) ON \(sql.table) (\(column))")
        }
        guard !isLocal else { return statements }
        let texts = format == 1 ? ["_ch"] : ["_ch", "_on", "_pa"]
        let server =
            (["_sv", "_im", "_sc"] + (format < 4 ? [] : ["_fc"])).map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" }
            + texts.map { "\"\($0)\" TEXT NOT NULL DEFAULT ''" }
        statements.append("CREATE TABLE \(sql.originalTable) (\(([key] + content + state + server).joined(separator: ", ")))")
        return statements + (format < 9 ? [] : deletedChildIndexes) + (format < 10 ? [] : leavingRowIndexes)
    }
}
