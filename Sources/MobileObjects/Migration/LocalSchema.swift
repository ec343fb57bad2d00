import MobileModel
import MobileStore

/// Makes the tables of a package in its database, and upgrades those of an older model or an older release.
struct LocalSchema {
    private let database: PackageDatabase
    private var metadata: PackageMetadata { database.metadata }

    init(_ database: PackageDatabase) { self.database = database }

    /// Creates missing tables, or upgrades existing ones; in one transaction, so a process killed in between leaves the former state.
    /// - Parameter file: the database file; nil for a database in memory, which has no copies.
    /// - Throws: ``ObjectError/Code/version`` when the file is of another package or a newer release, or cannot become one of this model.
    func prepare(_ store: Database, _ file: String?) throws {
        try prepareTables(store)
        if let file { try CopyNotice(database: database, path: file).check(store) }
    }

    private func prepareTables(_ store: Database) throws {
        let version = try store.read { try $0.number("PRAGMA user_version") }
        guard version <= FrameworkTables.formatVersion else {
            throw ObjectError(
                .version,
                "\"\(store.path)\": the database has format \(version), this release knows formats up to \(FrameworkTables.formatVersion); use a newer release"
            )
        }
        guard version > 0 else { return try store.write(label: "create the tables of \(metadata.name)") { try create($0, path: store.path) } }
        if try store.read({ try version < FrameworkTables.formatVersion || PackageSettings($0).text(.model) != metadata.model.json }) {
            try store.write(label: "upgrade to \(metadata.name):\(metadata.version)") { try upgrade($0, store) }
        }
        // Remains of a process that ended while it wrote a large value.
        try store.write(label: "clean up large values") { connection in
            try connection.prepareLargeValues()
            try connection.removeUnreferencedValues(referencedBy: metadata.largeValueReferences)
            try PackageSettings(connection).takeOver(database.environment)
        }
    }

    private func create(_ connection: Connection, path: String) throws {
        let foreign = try connection.first("SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' LIMIT 1")?.first?.text
        if let foreign {
            throw ObjectError(.version, "\"\(path)\": the file has a table \"\(foreign)\" that is not ours; choose another file")
        }
        let statements = FrameworkTables.statements + metadata.storedEntities.flatMap { $0.tableStatements() }
        for statement in statements { try connection.execute(statement) }
        for entity in metadata.storedEntities { try connection.makeSearchIndex(of: entity) }
        try connection.prepareLargeValues()
        let settings = PackageSettings(connection)
        try settings.set(.package, .text(metadata.name))
        try settings.set(.version, .text(metadata.version))
        try settings.set(.model, .text(metadata.model.json))
        try settings.set(.clientID, .text(database.environment.randomGUID()))
        try connection.execute("PRAGMA user_version = \(FrameworkTables.formatVersion)")
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
        try connection.execute("PRAGMA user_version = \(FrameworkTables.formatVersion)")
    }

    /// Returns the model that a database of format 2 and later was made from.
    static func storedModel(_ connection: Connection, _ path: String) throws -> PackageModel {
        guard let json = try PackageSettings(connection).text(.model) else {
            throw ObjectError(.version, "\"\(path)\": the database was made by a release that did not keep its model")
        }
        do { return try PackageModel(storedJSON: json) } catch {
            throw ObjectError(.version, "\"\(path)\": its model cannot be read by this release", cause: error)
        }
    }

    /// Returns the model of a database of format 1, which kept the statements of the objects' tables, but not the model: it must be this one.
    /// Operations had no tables then.
    private func modelOfFormat1(_ connection: Connection, _ path: String) throws -> PackageModel {
        let settings = PackageSettings(connection)
        let statements = metadata.entities.flatMap { $0.tableStatements(format: 1) }.joined(separator: ";\n")
        guard try settings.text(.version) == metadata.version, try settings.text(.schema) == statements else {
            throw ObjectError(
                .version,
                "\"\(path)\": the database was made from another model than this of \(metadata.name):\(metadata.version), "
                    + "by a release that did not keep it; open it once with the model that it was made from, then with this one")
        }
        return metadata.model
    }
}
