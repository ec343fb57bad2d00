import MobileModel
import MobileStore

/// Upgrades a database of an older model, or of an older format of the framework's tables, to this one, inside of one transaction: either all of it
/// is done or nothing.
///
///     framework tables -> checks -> objects' tables (renamed, made anew, filled) -> outbox -> what refers to names -> settings
///
/// **The old tables are kept aside until the outbox has been rewritten.** Why: the values of a submitted operation are compared with the row as it
/// was, so that a large value is not stored twice.
struct DatabaseUpgrade {
    /// The prefix of the names of the old tables while the new ones are filled. No modelled name begins so.
    static let aside = "_was:"

    let store: Database
    /// The format version that the database has.
    private let format: Int64
    let transaction: Transaction
    let model: ModelUpgrade
    /// The objects that both models have.
    let entities: [EntityUpgrade]
    let old: PackageMetadata
    let new: PackageMetadata

    var connection: Connection { transaction.connection }

    /// - Parameters:
    ///   - oldModel: the model that the database was made from.
    ///   - format: the format version that it has.
    init(from oldModel: PackageModel, format: Int64, in transaction: Transaction, _ store: Database) throws {
        let old = try PackageMetadata(oldModel), new = transaction.metadata
        let model = ModelUpgrade(from: oldModel, to: new.model)
        (self.store, self.format, self.transaction, self.model, self.old, self.new) = (store, format, transaction, model, old, new)
        // A database of an older format may lack tables of its model.
        let tables = Set(try transaction.connection.texts("SELECT \"name\" FROM sqlite_schema WHERE \"type\" = 'table'"))
        entities = try model.objects.compactMap { object in
            guard let former = object.old, tables.contains(former.name) else { return nil }
            return try EntityUpgrade(object, from: old.entity(named: former.name), to: new.entity(named: object.new.name))
        }
    }

    /// - Throws: ``ObjectError/Code/version`` with all obstacles, before a row was changed.
    func run() throws {
        try FrameworkTables.bringUpToDate(connection)
        if format < 5 { try takeOverOutbox() }
        if format < 4 { for entity in entities where !entity.old.isLocal { try ChangedValuesUpgrade(entity.old, connection).run() } }
        try UpgradeCheck(self).run()
        if format < 10 { try makeMissingIndexes() }
        let present = try presentStatements()
        let changed = entities.filter {
            $0.changesContent || $0.old.search?.tableStatements != $0.new.search?.tableStatements || !present.isSuperset(of: $0.new.tableStatements())
        }
        var tables = changed.map { TableUpgrade($0, connection) }
        for index in tables.indices { try tables[index].putAside() }
        for object in model.removedObjects { try drop(try old.entity(named: object.name)) }
        for entity in new.storedEntities where !entities.contains(where: { $0.new === entity }) || changed.contains(where: { $0.new === entity }) {
            for statement in entity.tableStatements() { try connection.execute(statement) }
        }
        for table in tables { try table.fill() }
        if format < 4 { try noteFirstChanges() }
        for entity in changed { try ValueUpgrade(entity, connection, store).run() }
        try BookkeepingUpgrade(self).noteUnseenAttributes()
        try OutboxUpgrade(entities.filter { $0.changesContent || $0.old.refusesConflicts != $0.new.refusesConflicts }, connection, store).run()
        for table in tables { try table.dropAside() }
        for entity in new.storedEntities where !entities.contains(where: { $0.new === entity }) || changed.contains(where: { $0.new === entity }) {
            try connection.makeSearchIndex(of: entity)
        }
        try transaction.updateSearchIndexes()
        try BookkeepingUpgrade(self).run()
        try connection.removeUnreferencedValues(referencedBy: new.largeValueReferences)
        let settings = PackageSettings(connection)
        try settings.set(.version, .text(new.version))
        try settings.set(.model, .text(new.model.json))
    }

    /// Gives the operations of an earlier release their digests, before they are rewritten. That release may have sent them without an answer.
    private func takeOverOutbox() throws {
        try connection.makeMissingDigests(in: store)
        guard let last = try connection.optionalNumber("SELECT max(\"id\") FROM \"_outbox\"") else { return }
        try PackageSettings(connection).set(.inDoubt, .integer(last))
    }

    /// Notes the first unsubmitted change of each row. Formats up to 3 did not know it: the last change is taken for it.
    private func noteFirstChanges() throws {
        for entity in new.storedEntities where !entity.isLocal {
            try connection.execute("UPDATE \(entity.sql.originalTable) SET \"_fc\" = \"_rc\"")
        }
    }

    /// Formats up to 8 had no indexes of the children that were deleted, formats up to 9 none of rows that leave others. Tables that change otherwise get theirs
    /// when they are made again.
    private func makeMissingIndexes() throws {
        let present = try presentStatements()
        for entity in entities where !entity.changesContent {
            let statements = entity.new.tableStatements(), indexes = Set(entity.new.deletedChildIndexes + entity.new.leavingRowIndexes)
            guard present.isSuperset(of: statements.filter { !indexes.contains($0) }) else { continue }
            for statement in statements where indexes.contains(statement) && !present.contains(statement) { try connection.execute(statement) }
        }
    }

    private func presentStatements() throws -> Set<String> {
        Set(try connection.texts("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL"))
    }

    private func drop(_ entity: EntityMetadata) throws {
        try connection.dropSearchIndex(of: entity)
        try connection.execute("DROP TABLE \(entity.sql.table)")
        if !entity.isLocal { try connection.execute("DROP TABLE \(entity.sql.originalTable)") }
    }
}

/// One object that both models have, with the positions of its values (attributes, then references) in both.
struct EntityUpgrade: Sendable {
    let old: EntityMetadata
    let new: EntityMetadata
    let object: ObjectUpgrade
    /// The former position by current position; nil where the value is new.
    let formerPositions: [Int?]
    /// The current position by former position; nil where the value is gone.
    let positions: [Int?]

    init(_ object: ObjectUpgrade, from old: EntityMetadata, to new: EntityMetadata) throws {
        (self.object, self.old, self.new) = (object, old, new)
        let attributes = try object.attributes.map { try $0.old.map { try old.attribute(named: $0.name).index } }
        let references = try object.references.map { reference in
            try reference.old.map { old.attributes.count + (try old.relationship(named: $0).referenceIndex ?? 0) }
        }
        let former = attributes + references
        formerPositions = former
        positions = (0..<old.attributes.count + old.referenceCount).map { former.firstIndex(of: $0) }
    }

    /// Whether rows, or references to them elsewhere, differ from before.
    var changesContent: Bool {
        old.name != new.name || formerPositions != old.sql.content.indices.map { $0 } || old.sql.content != new.sql.content
            || object.attributes.contains { $0.conversion != .none }
    }

    /// Returns the positions of changed values in the new model.
    func moved(_ changed: ChangedValues) -> ChangedValues {
        guard case .only(let former) = changed else { return .all }
        return .only(Set(former.compactMap { $0 < positions.count ? positions[$0] : nil }))
    }

    /// The attributes that both models have.
    var keptAttributes: [(old: AttributeMetadata, new: AttributeMetadata, conversion: ValueConversion)] {
        object.attributes.enumerated().compactMap { index, attribute in
            formerPositions[index].map { (old.attributes[$0], new.attributes[index], attribute.conversion) }
        }
    }

    /// Both old tables, which are kept aside, with the tables that replace them, unquoted.
    var tables: [(aside: String, table: String)] {
        let pairs = [(DatabaseUpgrade.aside + old.name, new.name)]
        return new.isLocal ? pairs : pairs + [(DatabaseUpgrade.aside + old.name + "_os", new.name + "_os")]
    }
}

extension AttributeMetadata {
    /// The value of existing rows where the attribute is new.
    var storedDefault: Value { storage.stored(defaultValue) ?? .null }
}
