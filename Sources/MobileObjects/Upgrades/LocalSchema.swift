import MobileModel
import MobileStore

/// Makes the tables of a package in its database, and brings those of an older model or an older release up to date.
struct LocalSchema {
    /// Version of the framework's own tables and settings, in `user_version`. A file with a greater one was made by a newer release.
    /// 1: the model was not kept, and operations had no names and parameters. 2: some of the framework's
    /// tables were WITHOUT ROWID, and SQLite names no changed rows of those to observers. 3: a submitted
    /// operation did not know which values it had. 4: as it is now.
    static let formatVersion: Int64 = 4

    private let database: PackageDatabase
    private var metadata: PackageMetadata { database.metadata }

    init(_ database: PackageDatabase) { self.database = database }

    /// Creates what is missing, or upgrades what is there; one transaction, so a process killed in between leaves what was there before.
    /// - Throws: ``ObjectError/Code/version`` when the file is of another package or a newer release, or cannot become one of this model.
    func prepare(_ store: Database) throws {
        let version = try store.read { try $0.number("PRAGMA user_version") }
        guard version <= Self.formatVersion else {
            throw ObjectError(
                .version,
                "\"\(store.path)\": the database has format \(version), this release knows formats up to \(Self.formatVersion); use a newer release")
        }
        guard version > 0 else { return try store.write(label: "create the tables of \(metadata.name)") { try create($0, path: store.path) } }
        if try store.read({ try version < Self.formatVersion || PackageSettings($0).text(.model) != metadata.model.json }) {
            try store.write(label: "upgrade to \(metadata.name):\(metadata.version)") { try upgrade($0, store) }
        }
        // What a process left behind that ended in the middle of writing a large value.
        try store.write(label: "clean up large values") { connection in
            try connection.prepareLargeValues()
            try connection.removeUnreferencedValues(referencedBy: metadata.largeValueReferences)
        }
    }

    private func create(_ connection: Connection, path: String) throws {
        let foreign = try connection.first("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' LIMIT 1")?.first?.text
        if let foreign {
            throw ObjectError(.version, "\"\(path)\": the file has a table \"\(foreign)\" that is not ours; choose another file")
        }
        for statement in FrameworkTables.statements + metadata.storedEntities.flatMap(Self.statements) { try connection.execute(statement) }
        try connection.prepareLargeValues()
        let settings = PackageSettings(connection)
        try settings.set(.package, .text(metadata.name))
        try settings.set(.version, .text(metadata.version))
        try settings.set(.model, .text(metadata.model.json))
        try settings.set(.clientID, .text(Self.guid(database.environment)))
        try connection.execute("PRAGMA user_version = \(Self.formatVersion)")
    }

    // MARK: Upgrades

    private func upgrade(_ connection: Connection, _ store: Database) throws {
        // Another process may have done it meanwhile.
        let version = try connection.number("PRAGMA user_version")
        let settings = PackageSettings(connection)
        let package = try settings.text(.package) ?? "", packageVersion = try settings.text(.version) ?? ""
        guard package == metadata.name else {
            throw ObjectError(
                .version,
                "\"\(store.path)\": the database belongs to package \(package):\(packageVersion), not to \(metadata.name):\(metadata.version)")
        }
        let model = version == 1 ? try modelOfFormat1(connection, store.path) : try Self.storedModel(connection, store.path)
        try DatabaseUpgrade(from: model, format: version, in: Transaction(connection, of: database), store).run()
        try connection.execute("DELETE FROM \"_settings\" WHERE \"name\" = ?1", [.text(PackageSettings.Name.schema.rawValue)])
        try connection.execute("PRAGMA user_version = \(Self.formatVersion)")
    }

    /// The model that a database of format 2 and later was made from.
    static func storedModel(_ connection: Connection, _ path: String) throws -> PackageModel {
        guard let json = try PackageSettings(connection).text(.model) else {
            throw ObjectError(.version, "\"\(path)\": the database was made by a release that did not keep its model")
        }
        do { return try PackageModel(storedJSON: json) } catch {
            throw ObjectError(.version, "\"\(path)\": its model cannot be read by this release", cause: error)
        }
    }

    /// Format 1 kept the statements of the objects' tables, but not the model: it must be this one. Operations had no tables then.
    private func modelOfFormat1(_ connection: Connection, _ path: String) throws -> PackageModel {
        let settings = PackageSettings(connection)
        let statements = metadata.entities.flatMap { Self.statements($0, format: 1) }.joined(separator: ";\n")
        guard try settings.text(.version) == metadata.version, try settings.text(.schema) == statements else {
            throw ObjectError(
                .version,
                "\"\(path)\": the database was made from another model than this of \(metadata.name):\(metadata.version), "
                    + "by a release that did not keep it; open it once with the model that it was made from, then with this one")
        }
        return metadata.model
    }

    // MARK: Statements

    /// The statements that make the tables of an object.
    /// - Parameter format: the version whose tables are meant.
    static func statements(_ entity: EntityMetadata) -> [String] { statements(entity, format: formatVersion) }

    private static func statements(_ entity: EntityMetadata, format: Int64) -> [String] {
        let sql = entity.sql
        let marks = ["_pc", "_rc", "_rp", "_rf"] + (format < 4 ? [] : ["_ra"])
        let state = marks.map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" }
        let content =
            zip(sql.attributeColumns, entity.attributes).map { "\($0) \($1.storage.columnType)" } + sql.referenceColumns.map { "\($0) INTEGER" }
        let key = #""_sk" INTEGER PRIMARY KEY"#
        var statements = ["CREATE TABLE \(sql.table) (\(([key] + content + state).joined(separator: ", ")))"]
        if !entity.primaryKey.isEmpty {
            // Not unique, except in local objects: an import may bring the same key while a create waits. `create` itself looks.
            let columns = entity.primaryKey.map { sql.attributeColumns[$0] }.joined(separator: ", ")
            let unique = entity.isLocal ? "UNIQUE " : ""
            statements.append("CREATE \(unique)INDEX \(EntitySQL.quote(entity.name + "_key")) ON \(sql.table) (\(columns))")
        }
        for (column, relationship) in zip(sql.referenceColumns, entity.references) {
            let name = EntitySQL.quote(entity.name + "_ref_" + entity.relationships[relationship].name)
            statements.append("CREATE INDEX \(name) ON \(sql.table) (\(column))")
        }
        guard !entity.isLocal else { return statements }
        let texts = format == 1 ? ["_ch"] : ["_ch", "_on", "_pa"]
        let server =
            (["_sv", "_im", "_sc"] + (format < 4 ? [] : ["_fc"])).map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" }
            + texts.map { "\"\($0)\" TEXT NOT NULL DEFAULT ''" }
        statements.append("CREATE TABLE \(sql.originalTable) (\(([key] + content + state + server).joined(separator: ", ")))")
        return statements
    }

    /// A random GUID, version 4.
    static func guid(_ environment: Environment) -> String {
        var words = (environment.random(), environment.random())
        words.0 = words.0 & ~0xF000 | 0x4000
        words.1 = words.1 & ~(0xC0 << 56) | (0x80 << 56)
        let hex = [words.0, words.1].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
        var parts: [Substring] = [], rest = Substring(hex)
        for count in [8, 4, 4, 4, 12] {
            parts.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        return parts.joined(separator: "-")
    }
}
