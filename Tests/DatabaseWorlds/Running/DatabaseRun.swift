internal import Foundation
internal import MobileModel
internal import MobileObjects
internal import MobileServer
internal import PostgreSQLTestSupport
internal import TestSupport
internal import Worlds

/// The result of a database.
package struct DatabaseRun: Sendable {
    /// Nil if everything was as it must be.
    package var failure: DatabaseFailure?
    /// A line for each change of the device.
    package var trace: [String] = []
    /// The number of changes that the device made.
    package var changes = 0

    /// Runs a database.
    /// - Parameter compiles: whether the generated classes are compiled as well.
    package init(_ world: DatabaseWorld, avoiding avoided: Set<DatabaseFault> = [], compiles: Bool = false) {
        do {
            let rig = try DatabaseRig(world, avoiding: avoided)
            do { try rig.run(compiles: compiles) } catch let found as DatabaseFailure { failure = found } catch {
                failure = DatabaseFailure(kind: .deviceStuck, text: "\(error)")
            }
            rig.close()
            (trace, changes) = (rig.trace, rig.changes)
        } catch { failure = DatabaseFailure(kind: .invalidDatabase, text: "\(error)") }
    }
}

/// Brings a database to a device, and judges what arrives.
final class DatabaseRig {
    let world: DatabaseWorld
    let avoided: Set<DatabaseFault>
    let truth: DatabaseTruth
    private let place: String
    private let database: PostgreSQLTestDatabase?
    private let folder: TemporaryDirectory
    private var opened: DatabaseDevice?
    private(set) var trace: [String] = []
    var changes = 0
    /// The objects of the model by the tables, where it has them.
    private(set) var objects: [Int: ObjectModel] = [:]

    /// Makes the database.
    init(_ world: DatabaseWorld, avoiding avoided: Set<DatabaseFault>) throws {
        (self.world, self.avoided) = (world, avoided)
        folder = try TemporaryDirectory()
        let enterprise: any EnterpriseDatabase
        switch world.engine {
        case .sqlite:
            database = nil
            place = folder.file("enterprise.db")
            enterprise = try SQLiteEnterprise(path: place)
        // No database is drawn for processes.
        case .postgreSQL:
            let made = try PostgreSQLTestDatabase()
            database = made
            func address(_ user: String) -> String { "postgresql://\(user)@/\(made.name)?host=\(made.server.folder)&port=\(made.server.port)" }
            place = address(world.hasClerk ? "clerk" : "postgres")
            enterprise = try PostgreSQLEnterprise(address: address("postgres"))
            if world.hasClerk {
                try enterprise.run("DO $$ BEGIN CREATE ROLE clerk LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$")
            }
        }
        truth = DatabaseTruth(world: world, database: enterprise)
        try truth.makeTables()
    }

    func close() { opened?.close() }

    var device: DatabaseDevice {
        get throws {
            guard let opened else { throw DatabaseFailure(kind: .deviceStuck, text: "there is no device") }
            return opened
        }
    }

    /// Does everything in its order.
    func run(compiles: Bool) throws {
        let model = try importedModel()
        if compiles, let messages = try GeneratedClasses.errors(of: model, in: folder) { throw DatabaseFailure(kind: .notCompiled, text: messages) }
        guard !model.objects.isEmpty else { return }
        let server: MobileServer
        do { server = try DatabaseDevice.server(model, place: place, folder: folder.path, seed: world.seed) } catch {
            throw DatabaseFailure(kind: .notDeployed, text: "\(error)")
        }
        do { opened = try DatabaseDevice(model, server, folder: folder.path, seed: world.seed) } catch {
            try? server.close()
            throw DatabaseFailure(kind: .deviceStuck, text: "at the registration: \(error)")
        }
        try synchronizeAndCompare("at first")
        for (index, table) in world.tables.enumerated() { for row in table.laterRows { try truth.insert(row, index) } }
        if world.tables.contains(where: { !$0.laterRows.isEmpty }) { try synchronizeAndCompare("after rows of another application") }
        for index in world.tables.indices { try changeRows(of: index) }
    }

    func note(_ line: String) { trace.append(line) }

    func synchronizeAndCompare(_ moment: String) throws {
        do { try device.synchronize() } catch { throw DatabaseFailure(kind: .deviceStuck, text: "\(moment): \(error)") }
        try compare(moment)
    }

    // MARK: The model

    private func importedModel() throws -> PackageModel {
        let schema: SchemaModel, model: PackageModel
        do {
            schema = try SchemaModel(
                of: place, name: "Stock", schemas: world.tables.contains { $0.options.contains(.otherSchema) } ? ["public", "sales"] : [])
            if !schema.model.objects.isEmpty { try schema.model.validate() }
            // As the command writes it and the server reads it.
            model = schema.model.objects.isEmpty ? schema.model : try PackageModel(json: schema.model.json)
        } catch { throw DatabaseFailure(kind: .noModel, text: "\(error)") }
        for (index, table) in world.tables.enumerated() {
            let binding = bindingName(index)
            objects[index] = model.objects.first { $0.binding?.table == binding }
            guard let object = objects[index] else {
                guard mayBeLeftOut(table), schema.omissions.contains(where: { $0.contains("\"\(binding)\"") }) else {
                    throw DatabaseFailure(kind: .leftOut, text: "table \(binding) is not in the model; left out are \(schema.omissions)")
                }
                continue
            }
            try checkColumns(of: table, object, schema)
        }
        return model
    }

    /// The name of a table in bindings.
    private func bindingName(_ index: Int) -> String {
        let table = world.tables[index]
        guard table.options.contains(.otherSchema) else { return table.name }
        return "sales." + table.name
    }

    private func mayBeLeftOut(_ table: DatabaseTable) -> Bool {
        table.key.isEmpty || !table.options.isDisjoint(with: [.hiddenTable, .foreignCollation, .nullKey])
    }

    private func checkColumns(of table: DatabaseTable, _ object: ObjectModel, _ schema: SchemaModel) throws {
        for (place, column) in table.columns.enumerated() {
            guard let attribute = attribute(place, of: table, object) else {
                let isHidden = table.options.contains(.hiddenColumn) && place == table.columns.count - 1
                let isNamed = (schema.omissions + schema.remarks).contains { $0.contains("\"\(column.name)\"") }
                guard isNamed,
                    isHidden || table.columns.contains(where: { $0.name != column.name && $0.name.lowercased() == column.name.lowercased() })
                else {
                    throw DatabaseFailure(kind: .leftOut, text: "\(table.name).\(column.name) is not in the model; left out are \(schema.omissions)")
                }
                continue
            }
            guard [.enums, .numberedEnums].contains(column.type) else { continue }
            for value in ColumnType.of(column.type, world.engine).values
            where !((attribute.documentation ?? "") + attribute.values.joined()).contains(value.dropFirst().dropLast()) {
                throw DatabaseFailure(
                    kind: .undocumented, text: "\(table.name).\(column.name): the documentation of the attribute does not have the value \(value)")
            }
        }
    }

    /// The attribute of a column.
    func attribute(_ place: Int, of table: DatabaseTable, _ object: ObjectModel) -> AttributeModel? {
        object.attributes.first { (object.binding?.column(of: $0.name) ?? $0.name) == table.columns[place].name }
    }

    // MARK: Comparing

    /// A row as the device shows it, by its key.
    func shownRows(_ object: ObjectModel) throws -> [(key: [String?], entity: GenericEntity)] {
        try device.package.entity(object.name).findAll().map { entity in
            (try object.primaryKey.map { name in try object.attribute(named: name).flatMap { try device.shown(entity, $0) } }, entity)
        }
    }

    /// The key of a row in the form of the device; nil if the attributes cannot hold it.
    func shownKey(_ key: [StoredValue], of table: DatabaseTable, _ object: ObjectModel) -> [String?]? {
        var parts: [String: String?] = [:]
        for (value, place) in zip(key, table.key) {
            guard let attribute = attribute(place, of: table, object),
                case .shown(let text) = Meaning(value, in: attribute, isKey: true, world.engine)
            else {
                return nil
            }
            parts[attribute.name] = text
        }
        return object.primaryKey.map { parts[$0] ?? nil }
    }

    /// Compares each row on the device with the database.
    func compare(_ moment: String) throws {
        let rows = try truth.rows()
        for (index, object) in objects.sorted(by: { $0.key < $1.key }) { try compare(index, object, rows, moment) }
        for (index, object) in objects.sorted(by: { $0.key < $1.key }) { try compareReferences(index, object, moment) }
    }

    private func compare(_ index: Int, _ object: ObjectModel, _ rows: DatabaseTruth.Rows, _ moment: String) throws {
        let table = world.tables[index]
        var shown: [[String?]: GenericEntity] = [:]
        for (key, entity) in try shownRows(object) {
            guard shown.updateValue(entity, forKey: key) == nil else {
                throw DatabaseFailure(kind: .doubleRow, text: "\(moment), \(table.name): the row \(text(key)) is there twice")
            }
        }
        for (key, row) in rows[index].sorted(by: { "\($0.key)" < "\($1.key)" }) {
            var unfit: [String] = [], expected: [(AttributeModel, String?)] = [], mayBeHeldBack = false
            for place in table.columns.indices {
                guard let attribute = attribute(place, of: table, object) else { continue }
                mayBeHeldBack = mayBeHeldBack || Meaning.isTooLong(row[place], for: attribute)
                switch Meaning(row[place], in: attribute, isKey: table.isKey(place), world.engine) {
                case .shown(let text): expected.append((attribute, text))
                case .unfit: unfit.append("\(table.columns[place].name) = \(row[place])")
                }
            }
            guard let shownKey = shownKey(key, of: table, object), let entity = shown.removeValue(forKey: shownKey) else {
                guard unfit.isEmpty, !mayBeHeldBack else { continue }
                throw DatabaseFailure(kind: .missingRow, text: "\(moment), \(table.name): the row \(key) is not on the device")
            }
            for (attribute, text) in expected {
                let found = try device.shown(entity, attribute)
                guard found != text else { continue }
                throw DatabaseFailure(
                    kind: .wrongValue,
                    text:
                        "\(moment), \(table.name), row \(key): \(attribute.name) of type \(attribute.type) is \(short(found)), expected \(short(text))"
                )
            }
            guard unfit.isEmpty else {
                throw DatabaseFailure(
                    kind: .wrongValue,
                    text: "\(moment), \(table.name), row \(key): its attributes cannot hold \(unfit.joined(separator: ", ")), and the device shows it"
                )
            }
        }
        if let (key, _) = shown.first {
            throw DatabaseFailure(kind: .ghostRow, text: "\(moment), \(table.name): the device shows a row \(text(key))")
        }
    }

    private func text(_ key: [String?]) -> String { "[" + key.map { short($0) }.joined(separator: ", ") + "]" }
    private func short(_ text: String?) -> String {
        text.map { $0.count > 80 ? "'\($0.prefix(30))...' of \($0.count) characters" : "'\($0)'" } ?? "NULL"
    }

    /// Each reference leads to the row that the attributes of its foreign key name.
    private func compareReferences(_ index: Int, _ object: ObjectModel, _ moment: String) throws {
        for relationship in object.relationships where relationship.cardinality == .manyToOne && !relationship.mapping.isEmpty {
            guard let target = objects.values.first(where: { $0.name == relationship.target }) else { continue }
            let keys = Set(try shownRows(target).map(\.key))
            for (key, entity) in try shownRows(object) {
                var wanted: [String: String?] = [:]
                for pair in relationship.mapping {
                    guard let source = object.attribute(named: pair.source) else { continue }
                    wanted[pair.target] = try device.shown(entity, source)
                }
                let wantedKey = target.primaryKey.map { wanted[$0] ?? nil }, isWhole = !wantedKey.contains(nil)
                let found: GenericEntity? = try entity.parent(relationship.name)
                let foundKey = try found.map { parent in
                    try target.primaryKey.map { name in try target.attribute(named: name).flatMap { try device.shown(parent, $0) } }
                }
                guard foundKey != (isWhole && keys.contains(wantedKey) ? wantedKey : nil) else { continue }
                throw DatabaseFailure(
                    kind: .wrongReference,
                    text:
                        "\(moment), \(world.tables[index].name), row \(text(key)): \(relationship.name) leads to \(foundKey.map { text($0) } ?? "nothing"), expected \(text(wantedKey))"
                )
            }
        }
    }
}
