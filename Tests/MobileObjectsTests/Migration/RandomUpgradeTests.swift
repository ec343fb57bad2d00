import Foundation
import MobileModel
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport
import Testing

/// Random changes of a model over databases with random work that is pending. The same work is done in a database of the old model, which is then
/// upgraded, and in a new database of the new model: afterwards they are equal, and stay so when the work continues.
@Suite struct RandomUpgradeTests {
    @Test(
        "an upgraded database equals a new one with the same content; nothing that is pending is lost",
        arguments: RandomSequences.seeds(40, found: [1710, 2995, 3127]))
    func equalsNewDatabase(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let change = RandomModelChange(&random)
        let work = (0..<60).map { _ in RandomStep(&random) }, rest = (0..<25).map { _ in RandomStep(&random) }
        let old = try Shop(change.old), fresh = try Shop(change.new)
        let oldFace = ModelFace(old.database, change, isNew: false), freshFace = ModelFace(fresh.database, change, isNew: true)
        for step in work { #expect(try oldFace.run(step) == freshFace.run(step)) }
        try old.database.checkSearchIndexes()
        let upgraded = try old.upgraded(to: change.new), upgradedFace = ModelFace(upgraded, change, isNew: true)
        try expectEqual(upgraded, fresh.database)
        try upgraded.checkSearchIndexes()
        for step in rest { #expect(try upgradedFace.run(step) == freshFace.run(step)) }
        try expectEqual(upgraded, fresh.database)
        for record in try upgraded.outbox {
            try upgraded.accept(record.id)
            try fresh.database.accept(record.id)
        }
        try expectEqual(upgraded, fresh.database)
        try upgraded.submitPendingOperations()
        try fresh.database.submitPendingOperations()
        try expectEqual(upgraded, fresh.database)
        try upgraded.checkSearchIndexes()
        try upgraded.close()
    }

    private func expectEqual(_ upgraded: PackageDatabase, _ fresh: PackageDatabase, at location: SourceLocation = #_sourceLocation) throws {
        let left = try comparable(upgraded), right = try comparable(fresh)
        #expect(left.schema == right.schema, sourceLocation: location)
        for table in Set(left.tables.keys).union(right.tables.keys).sorted() {
            #expect(left.tables[table] == right.tables[table], "table \(table)", sourceLocation: location)
        }
    }

    /// The attributes that the new model adds. If the answer to an update overtakes that to a create, the create's attributes count as changed again:
    /// in the upgraded database without the added ones. No step changes the added ones.
    private static let added = ["grade", "phone"]

    private func withoutAdded(_ row: String, _ entity: EntityMetadata) -> String {
        let positions = Set(Self.added.compactMap { name in entity.attributes.first { $0.name == name }?.index })
        return row.replacing(/_ch=text\("([0-9,]*)"\)/) { match in
            "_ch=" + match.output.1.split(separator: ",").filter { !positions.contains(Int($0) ?? -1) }.joined(separator: ",")
        }
    }

    /// Returns contents without differences that two databases always have: ids of large values are replaced by the values.
    private func comparable(_ database: PackageDatabase) throws -> DatabaseContents {
        let large = database.metadata.entities.flatMap { entity in
            entity.attributes.filter(\.isLarge).flatMap { attribute in
                (entity.isLocal ? [entity.name] : [entity.name, entity.name + "_os"]).map { (table: $0, column: attribute.name) }
            }
        }
        func text(_ id: Value) throws -> String? {
            try id.integer.flatMap { $0 == 0 ? nil : try LargeValueReader($0, in: database.store).text(upTo: 1000) }
        }
        /// Drops values that the server has: an update that sends everything need not send such a large value, nor the same value as a part of the
        /// row.
        func withoutWhatIsKnown(_ row: [Value], _ entity: EntityMetadata, _ connection: Connection) throws -> String {
            var attributes = try JSONValue(parsing: row[6].text ?? "").object ?? [:]
            for attribute in entity.attributes where attribute.type == .string && attribute.name.hasPrefix("manual") {
                let known = try connection.first("SELECT \"\(attribute.name)\" FROM \"\(entity.name)_os\" WHERE _sk = ?1", [row[2]])?[0]
                if let value = attributes[attribute.name], value.string == known?.text { attributes[attribute.name] = nil }
            }
            for added in Self.added { attributes[added] = nil }
            return JSONValue.object(attributes).description
        }
        return try database.read { connection in
            var contents = try DatabaseContents(connection)
            for table in ["_settings", "_mc_value", "_mc_chunk", "_outbox", "_outbox_large", "_group"] { contents.tables[table] = nil }
            for (table, column) in large {
                contents.tables["\(table).\(column)"] = try connection.rows("SELECT \"\(column)\", _sk FROM \"\(table)\" ORDER BY _sk").map { row in
                    "\(row[1]): \(try text(row[0]) ?? "NULL")"
                }
                contents.tables[table] = contents.tables[table]?.map { line in
                    line.split(separator: " ").filter { !$0.hasPrefix("\(column)=") }.joined(separator: " ")
                }.sorted()
            }
            for entity in database.metadata.entities where !entity.isLocal {
                contents.tables[entity.name + "_os"] = contents.tables[entity.name + "_os"]?.map { withoutAdded($0, entity) }.sorted()
            }
            // A value that the server has already may travel again, as another one with the same content; it need not.
            contents.tables["_outbox_large"] = try connection.rows(
                "SELECT operation, attribute, value, original FROM _outbox_large ORDER BY operation, attribute"
            ).compactMap { row in
                // Values that an import has replaced since do not exist any more.
                let value = try text(row[2]), original = (try? text(row[3])) ?? nil
                return value == original ? nil : "\(row[0]) \(row[1]) \(value ?? "NULL")"
            }
            contents.tables["_outbox"] = try connection.rows(
                "SELECT id, entity, sk, change, operation, batch, attributes, primary_key, refs, submitted FROM _outbox ORDER BY id"
            ).map { found in
                var row = found
                let entity = try database.metadata.entity(named: row[1].text ?? "")
                if row[3] == .text("U") { row[6] = .text(try withoutWhatIsKnown(row, entity, connection)) }
                var submitted = row[9].text.flatMap { try? JSONValue(parsing: $0).array } ?? []
                for attribute in entity.attributes where attribute.isLarge && !submitted.isEmpty { submitted[attribute.index] = .null }
                return "\(row.dropLast()) \(JSONValue.array(submitted))"
            }
            return contents
        }
    }
}

/// A model and its successor, with the names that differ between them.
struct RandomModelChange {
    private(set) var old: PackageModel
    private(set) var new: PackageModel
    private(set) var attributeNames: [String: String] = [:]
    private(set) var objectNames: [String: String] = [:]
    /// Attributes that the new model does not have; the steps do not change them.
    private(set) var removed: Set<String> = []
    /// Whether values leave their rows or come into them. An import treats such values differently while their row is pending.
    private(set) var movesValues = false

    init(_ random: inout SeededGenerator) {
        let owner = ObjectModel(
            name: "Owner",
            attributes: [
                AttributeModel(name: "id", type: .string),
                AttributeModel(name: "name", type: .string, isNullable: true, length: 80, isSearchable: Bool.random(using: &random)),
                AttributeModel(name: "rank", type: .int), AttributeModel(name: "credit", type: .decimal, isNullable: true, precision: 10, scale: 2),
                AttributeModel(name: "notes", type: .string, isNullable: true), AttributeModel(name: "manual", type: .bigString, isNullable: true),
                AttributeModel(name: "extra", type: .string, isNullable: true),
            ],
            primaryKey: ["id"],
            relationships: [
                RelationshipModel(
                    name: "parts", target: "Part", cardinality: .oneToMany, isComposite: true, inverse: "owner",
                    mapping: [.init(source: "id", target: "ownerId")])
            ], operations: OperationModel.plain)
        let part = ObjectModel(
            name: "Part",
            attributes: [
                AttributeModel(name: "number", type: .long, isGenerated: true), AttributeModel(name: "ownerId", type: .string),
                AttributeModel(name: "price", type: .decimal, isNullable: true, precision: 8, scale: 2),
                AttributeModel(name: "extra", type: .int, isNullable: true),
            ],
            primaryKey: ["number"], relationships: [RelationshipModel(name: "owner", target: "Owner", cardinality: .manyToOne, inverse: "parts")],
            operations: OperationModel.plain)
        let other = ObjectModel(name: "Other", attributes: [AttributeModel(name: "id", type: .long)], primaryKey: ["id"])
        old = PackageModel(name: "Random", objects: [owner, part, other])
        new = old
        func one(in count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
        if one(in: 2) { new.attribute("Owner", "rank") { $0.type = .long } }
        if one(in: 3) { new.attribute("Owner", "name") { $0.isSearchable.toggle() } }
        for (object, attribute) in [("Owner", "credit"), ("Part", "price")] where one(in: 2) {
            let wide = one(in: 2) ? (14, 4) : (30, 5)
            new.attribute(object, attribute) { ($0.precision, $0.scale) = wide }
        }
        if one(in: 3) {
            new.attribute("Owner", "notes") { $0.type = .bigString }
            movesValues = true
        }
        if one(in: 3) {
            new.attribute("Owner", "manual") { $0.type = .string }
            movesValues = true
        }
        for object in ["Owner", "Part"] where one(in: 3) {
            new.object(object) { $0.attributes.removeAll { $0.name == "extra" } }
            removed.insert(object + ".extra")
        }
        if one(in: 3) { new.objects.removeAll { $0.name == "Other" } }
        for object in ["Owner", "Part"] {
            if one(in: 2) {
                new.object(object) { $0.attributes.append(AttributeModel(name: "grade", type: .int, defaultValue: "7")) }
            }
            if one(in: 2) {
                new.object(object) {
                    $0.attributes.append(AttributeModel(name: "phone", type: .string, isNullable: true, defaultValue: one(in: 2) ? "\"none\"" : nil))
                }
            }
        }
        for name in ["name", "credit", "notes", "manual", "rank"] where one(in: 4) {
            new.attribute("Owner", name) { ($0.name, $0.was) = (name + "Now", name) }
            attributeNames["Owner." + name] = name + "Now"
        }
        if one(in: 3) {
            new.attribute("Part", "number") { ($0.name, $0.was) = ("partNumber", "number") }
            new.object("Part") { $0.primaryKey = ["partNumber"] }
            attributeNames["Part.number"] = "partNumber"
        }
        for name in ["notes", "extra", "phone"] where one(in: 3) {
            new.object("Owner") { owner in
                for index in owner.attributes.indices where owner.attributes[index].name == name && owner.attributes[index].type == .string {
                    owner.attributes[index].isSearchable = true
                }
            }
        }
        for object in ["Owner", "Part"] where one(in: 3) { new.object(object) { $0.attributes.shuffle(using: &random) } }
        for object in ["Owner", "Part"] where one(in: 4) {
            new.object(object) { ($0.name, $0.was) = (object + "Now", object) }
            objectNames[object] = object + "Now"
            for index in new.objects.indices {
                for relationship in new.objects[index].relationships.indices where new.objects[index].relationships[relationship].target == object {
                    new.objects[index].relationships[relationship].target = object + "Now"
                }
            }
        }
        if one(in: 3) { new.objects.append(ObjectModel(name: "Added", attributes: [AttributeModel(name: "id", type: .long)], primaryKey: ["id"])) }
        if one(in: 3) { new.objects.shuffle(using: &random) }
    }
}

/// One event in a database. The rows that exist decide which row it affects.
struct RandomStep: Sendable {
    enum Kind: CaseIterable {
        case importRow, importRow2, importDeletion, create, update, update2, update3, delete, submit, submit2, cancel, accept, reject
    }
    let kind: Kind
    let isPart: Bool
    let choice: Int
    let numbers: [Int]

    init(_ random: inout SeededGenerator) {
        kind = Kind.allCases.randomElement(using: &random)!
        isPart = Bool.random(using: &random)
        choice = Int.random(in: 0..<10_000, using: &random)
        numbers = (0..<8).map { _ in Int.random(in: 0..<1000, using: &random) }
    }
}

/// A database under the names of the old model.
struct ModelFace {
    private let database: PackageDatabase
    private let change: RandomModelChange
    private let isNew: Bool

    init(_ database: PackageDatabase, _ change: RandomModelChange, isNew: Bool) {
        (self.database, self.change, self.isNew) = (database, change, isNew)
    }

    private func object(_ name: String) -> String { isNew ? change.objectNames[name] ?? name : name }
    private func attribute(_ object: String, _ name: String) -> String { isNew ? change.attributeNames["\(object).\(name)"] ?? name : name }

    /// - Returns: a description of the step; both sides must agree on it.
    func run(_ step: RandomStep) throws -> String {
        let name = step.isPart ? "Part" : "Owner"
        switch step.kind {
        case .importRow, .importRow2: return try importRow(name, step)
        case .importDeletion:
            let key = Int64(1 + step.choice % 8) + (step.isPart ? 100 : 0)
            try database.write("import") { transaction in
                let rows = try transaction.importSession(for: object(name)).deletions()
                try rows.push([UInt8]("[[\(key)]]".utf8))
                try rows.finish()
            }
            return "deleted \(name) \(key)"
        case .create: return try create(step)
        case .update, .update2, .update3:
            guard let row = try row(name, step) else { return "no row" }
            try update(row, name, step)
            return "updated \(row.surrogateKey) to \(row.replayCounter)"
        case .delete:
            guard step.choice % 3 == 0, let row = try row(name, step) else { return "no row" }
            try row.delete()
            return "deleted \(row.surrogateKey)"
        case .submit, .submit2:
            guard let row = try row(name, step), try !change.movesValues || database.outbox.isEmpty else { return "no row" }
            try row.submitPending()
            return "submitted \(row.surrogateKey) as \(row.replayPending)"
        case .cancel:
            guard step.choice % 3 == 0, let row = try row(name, step) else { return "no row" }
            try row.cancelPending()
            return "cancelled"
        case .accept, .reject:
            let records = try database.outbox
            guard !records.isEmpty else { return "nothing submitted" }
            let id = records[step.choice % records.count].id
            if step.kind == .accept { try database.accept(id) } else { try database.reject(id) }
            return "\(step.kind) \(id)"
        }
    }

    private func row(_ name: String, _ step: RandomStep) throws -> GenericEntity? {
        let keys = try database.read { try $0.rows("SELECT _sk FROM \"\(object(name))\" ORDER BY _sk") }.compactMap { $0[0].integer }
        return keys.isEmpty ? nil : try database.load(object(name), keys[step.choice % keys.count])
    }

    private func create(_ step: RandomStep) throws -> String {
        let owner = try GenericEntity(object("Owner"), in: database)
        try owner.setValue(.string("o\(step.choice)-\(try database.lastReplay)"), attribute("Owner", "id"))
        try owner.setValue(.string("new\(step.numbers[0])"), attribute("Owner", "name"))
        if step.isPart {
            let part = try GenericEntity(object("Part"), in: database)
            try part.setValue(.decimal(Decimal(step.numbers[1]) / 100), attribute("Part", "price"))
            owner.children(try owner.metadata.relationship(named: "parts").index).append(part)
        }
        try owner.save()
        return "created \(owner.surrogateKey)"
    }

    private func update(_ row: GenericEntity, _ name: String, _ step: RandomStep) throws {
        func set(_ index: Int, _ attributeName: String, _ value: AttributeValue) throws {
            guard step.numbers[index] % 2 == 0, !change.removed.contains("\(name).\(attributeName)") else { return }
            let metadata = try row.metadata.attribute(named: attribute(name, attributeName))
            if metadata.isLarge {
                guard case .string(let text) = value else { return }
                try row.write(text, metadata.name)
            } else {
                try row.setValue(value, metadata.name)
            }
        }
        let number = step.numbers[7]
        if name == "Part" {
            try set(0, "price", number % 5 == 0 ? .null : .decimal(Decimal(number) / 100))
            try set(1, "extra", .integer(Int64(number)))
        } else {
            try set(0, "name", number % 5 == 0 ? .null : .string("name\(number)"))
            try set(1, "rank", .integer(Int64(number)))
            try set(2, "credit", .decimal(Decimal(number) / 10))
            try set(3, "notes", .string("notes\(number)"))
            try set(4, "manual", .string("manual\(number)"))
            try set(5, "extra", .string("extra\(number)"))
        }
        if row.isDirty { try row.update() }
    }

    private func importRow(_ name: String, _ step: RandomStep) throws -> String {
        let key = Int64(1 + step.choice % 8), numbers = step.numbers, rowKey = name == "Part" ? key + 100 : key
        let table = object(name)
        let isKnown = try database.read {
            try $0.first("SELECT 1 FROM \"\(table)\" WHERE _sk = ?1 UNION SELECT 1 FROM \"\(table)_os\" WHERE _sk = ?1", [.integer(rowKey)]) != nil
        }
        if change.movesValues && isKnown { return "no import" }
        var values: [(String, String)]
        var large: [(String, String)] = []
        if name == "Part" {
            values = [
                ("number", "\(rowKey)"), ("ownerId", "\"o\(key)\""), ("price", "\(numbers[0]).25"), ("extra", "\(numbers[1])"),
                ("_ref_owner", "\(key)"),
            ]
        } else {
            values = [
                ("id", "\"o\(key)\""), ("name", "\"n\(numbers[0])\""), ("rank", "\(numbers[1])"), ("credit", "\(numbers[2]).5"),
                ("notes", "\"notes\(numbers[3])\""), ("manual", "\"manual\(numbers[4])\""), ("extra", "\"e\(numbers[5])\""),
            ]
        }
        let metadata = try database.entity(table).metadata
        if isNew {
            values.removeAll { change.removed.contains("\(name).\($0.0)") }
            for added in metadata.model.attributes where added.name == "grade" || added.name == "phone" {
                values.append((added.name, added.defaultValue ?? "null"))
            }
        }
        values = values.compactMap { column, value in
            guard let own = try? metadata.attribute(named: attribute(name, column)) else { return (column, value) }
            guard own.isLarge else { return (own.name, value) }
            // A value that is large in both models stays as it was first.
            if !isKnown { large.append((own.name, String(value.dropFirst().dropLast()))) }
            return nil
        }
        try database.importRows(table, values.map(\.0), "[[\(rowKey),\(values.map(\.1).joined(separator: ","))]]")
        for (column, text) in large {
            let writer = try LargeValueWriter(in: database.store, unit: .scalars)
            try writer.write(text)
            let value = try writer.finish()
            try database.write("import") { try $0.importSession(for: table).setLargeValue(value, of: column, key: rowKey) }
        }
        return "imported \(rowKey)"
    }
}

extension PackageDatabase {
    /// The number grows with each change.
    fileprivate var lastReplay: Int64 { get throws { try settledBelow + Int64(try outbox.count) } }
}
