import MobileModel
import MobileStore

/// Makes the tables of a package in its database, and tells whether those of an existing file are the ones that the model asks for.
struct LocalSchema {
    /// Version of the framework's own tables, in `user_version`. A file with a greater one was made by a newer release.
    static let formatVersion: Int64 = 1

    private let metadata: PackageMetadata

    init(_ metadata: PackageMetadata) { self.metadata = metadata }

    /// Creates what is missing; one transaction, so a process killed in between leaves an empty database or a whole one.
    /// - Throws: ``ObjectError/Code/version`` when the file is of another package, another model, or a newer release.
    func prepare(_ store: Database, environment: Environment) throws {
        let version = try store.read { try $0.first("PRAGMA user_version")?.first?.integer ?? 0 }
        guard version <= Self.formatVersion else {
            throw ObjectError(
                .version,
                "\"\(store.path)\": the database has format \(version), this release knows formats up to \(Self.formatVersion); use a newer release")
        }
        if version == 0 {
            try store.write(label: "create the tables of \(metadata.name)") { try create($0, path: store.path, environment: environment) }
        } else {
            try store.read { try check($0, path: store.path) }
            // What a process left behind that ended in the middle of writing a large value.
            try store.write(label: "clean up large values") { connection in
                try connection.prepareLargeValues()
                try connection.removeUnreferencedValues(referencedBy: metadata.largeValueReferences)
            }
        }
    }

    private func create(_ connection: Connection, path: String, environment: Environment) throws {
        let foreign = try connection.first("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' LIMIT 1")?.first?.text
        if let foreign {
            throw ObjectError(.version, "\"\(path)\": the file has a table \"\(foreign)\" that is not ours; choose another file")
        }
        for statement in FrameworkTables.statements + statements { try connection.execute(statement) }
        try connection.prepareLargeValues()
        let settings = PackageSettings(connection)
        try settings.set(.package, .text(metadata.name))
        try settings.set(.version, .text(metadata.version))
        try settings.set(.schema, .text(statements.joined(separator: ";\n")))
        try settings.set(.model, .text(metadata.model.json))
        try settings.set(.clientID, .text(Self.guid(environment)))
        try connection.execute("PRAGMA user_version = \(Self.formatVersion)")
    }

    private func check(_ connection: Connection, path: String) throws {
        let settings = PackageSettings(connection)
        let package = try settings.text(.package) ?? "", version = try settings.text(.version) ?? ""
        guard package == metadata.name, version == metadata.version else {
            throw ObjectError(
                .version, "\"\(path)\": the database belongs to package \(package):\(version), not to \(metadata.name):\(metadata.version)")
        }
        guard try settings.text(.schema) == statements.joined(separator: ";\n") else {
            throw ObjectError(
                .version, "\"\(path)\": the database was made from another model of \(package):\(version); delete it, or use that model")
        }
    }

    /// The statements that make the tables of the model's objects, in its order.
    var statements: [String] { metadata.storedEntities.flatMap(Self.statements) }

    private static func statements(_ entity: EntityMetadata) -> [String] {
        let sql = entity.sql
        let state = ["_pc", "_rc", "_rp", "_rf"].map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" }
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
        let server =
            ["_sv", "_im", "_sc"].map { "\"\($0)\" INTEGER NOT NULL DEFAULT 0" } + ["_ch", "_on", "_pa"].map { "\"\($0)\" TEXT NOT NULL DEFAULT ''" }
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
