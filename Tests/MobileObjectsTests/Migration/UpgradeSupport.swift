import Foundation
import MobileModel
@_spi(GeneratedCode) import MobileObjects
import MobileStore
import TestSupport

/// Returns a copy of the shop's model with changes.
func shopModel(_ edit: (inout PackageModel) -> Void) -> PackageModel {
    var model = ShopModel.model
    edit(&model)
    return model
}

extension PackageModel {
    /// Changes one object.
    mutating func object(_ name: String, _ edit: (inout ObjectModel) -> Void) {
        edit(&objects[objects.firstIndex { $0.name == name }!])
    }

    /// Changes one attribute.
    mutating func attribute(_ object: String, _ name: String, _ edit: (inout AttributeModel) -> Void) {
        self.object(object) { edit(&$0.attributes[$0.attributes.firstIndex { $0.name == name }!]) }
    }
}

extension Shop {
    /// Closes the database and opens its file with another model, as an application does after its update.
    func upgraded(to model: PackageModel, layers: [StorageLayer] = []) throws -> PackageDatabase {
        try database.close()
        let clock = clock
        var profile = database.connectionProfile
        profile.storageLayers = layers
        return try PackageDatabase(
            model: model, profile: profile, environment: Environment(now: { clock.date }))
    }

    /// Returns the error of an upgrade to an impossible model, after a check that the file is unchanged and still opens with its own model.
    func refusal(of model: PackageModel) throws -> ObjectError? {
        try database.close()
        let before = try DatabaseContents(database.connectionProfile)
        defer { try? database.openConnection() }
        do { try upgraded(to: model).close() } catch let error as ObjectError {
            guard try DatabaseContents(database.connectionProfile) == before else { return nil }
            try database.openConnection()
            return error
        }
        return nil
    }
}

/// All contents of a database, and its schema.
struct DatabaseContents: Equatable {
    /// The statements of tables and indexes.
    var schema: Set<String>
    /// The rows of each table, each value after its column's name.
    var tables: [String: [String]]

    init(_ profile: ConnectionProfile) throws {
        var profile = profile
        profile.storageLayers = []
        let store = try Database(profile)
        defer { try? store.close() }
        self = try store.read { try DatabaseContents($0) }
    }

    init(_ connection: Connection) throws {
        // The planner's statistics come and go when a database is closed.
        let own = "\"name\" NOT LIKE 'sqlite%'"
        schema = Set(try connection.rows("SELECT \"sql\" FROM sqlite_schema WHERE \"sql\" IS NOT NULL AND \(own)").compactMap { $0[0].text })
        tables = [:]
        // The tables of an index of words depend on the order of the changes: see `checkSearchIndexes`.
        let readable = "\(own) AND \"name\" NOT LIKE '\\_search:%' ESCAPE '\\'"
        for table in try connection.rows("SELECT \"name\" FROM sqlite_schema WHERE \"type\" = 'table' AND \(readable)") {
            let name = table[0].text ?? ""
            let columns = try connection.rows("SELECT \"name\" FROM pragma_table_info(?1)", [table[0]]).compactMap { $0[0].text }
            // The space of removed values is freed in separate transactions, sooner or later.
            // The mark is written by each open.
            let complete = [
                "_settings": " WHERE name NOT IN ('mark', 'opened')", "_mc_value": " WHERE state = 1",
                "_mc_chunk": " WHERE id >> 24 IN (SELECT id FROM _mc_value WHERE state = 1)",
            ]
            let list = columns.map { "\"\($0)\"" }.joined(separator: ", ")
            let rows = try connection.rows("SELECT \(list) FROM \"\(name)\"\(complete[name] ?? "")")
            tables[name] = rows.map { row in zip(columns, row).map { "\($0)=\($1)" }.joined(separator: " ") }.sorted()
        }
    }
}

extension PackageDatabase {
    /// Returns the first column of the first row of a query.
    func value(_ sql: String) throws -> Value? { try read { try $0.first(sql)?.first } }

    func load(_ name: String, _ key: Int64) throws -> GenericEntity { try entity(name).load(key) }

    func accept(_ id: Int64) throws { _ = try write("settle") { try $0.settle([ReplayAnswer(id: id, isAccepted: true)]) } }

    func reject(_ id: Int64) throws { _ = try write("settle") { try $0.settle([ReplayAnswer(id: id, isAccepted: false)]) } }

    /// Imports rows as the server sends them.
    func importRows(_ name: String, _ columns: [String], _ json: String) throws {
        try write("import") { transaction in
            let rows = try transaction.importSession(for: name).rows(["_sk"] + columns)
            try rows.push([UInt8](json.utf8))
            try rows.finish()
        }
    }

    /// Returns the text of a large attribute; nil for NULL.
    func text(_ name: String, _ key: Int64, _ attribute: String) throws -> String? {
        let object = try load(name, key), index = try object.metadata.attribute(named: attribute).index
        let stream = object.bigString(index)
        guard try stream.length != nil else { return nil }
        try stream.openForRead()
        defer { try? stream.close() }
        return try stream.read(1_000_000) ?? ""
    }
}

extension GenericEntity {
    /// Writes a large text.
    func write(_ text: String, _ attribute: String) throws {
        let stream = bigString(try metadata.attribute(named: attribute).index)
        try stream.openForWrite(0)
        try stream.write(text)
        try stream.close()
    }

    /// Writes a large binary.
    func write(_ bytes: [UInt8], _ attribute: String) throws {
        let stream = bigBinary(try metadata.attribute(named: attribute).index)
        try stream.openForWrite(0)
        try stream.write(bytes)
        try stream.close()
    }
}
