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
        return statements + (format < 9 ? [] : deletedChildIndexes)
    }
}
