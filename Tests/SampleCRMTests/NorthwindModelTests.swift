import Foundation
import MobileModel
import MobileStore
import TestSupport
import Testing

/// The Northwind model against the real database, which is not part of the repository: `../shared/data/northwind.sql`.
@Suite(.enabled(if: Northwind.isThere, Comment(rawValue: Northwind.reason)))
struct NorthwindModelTests {
    /// Runs `body` with the model and the database loaded from the script.
    private func withNorthwind(_ body: (PackageModel, Connection) throws -> Void) throws {
        let directory = try TemporaryDirectory()
        var profile = ConnectionProfile(path: directory.file("northwind.db"))
        profile.synchronous = .off
        let database = try Database(profile)
        let model = try PackageModel(contentsOf: Northwind.model)
        try database.write { connection in
            _ = try connection.execute(String(contentsOf: Northwind.script, encoding: .utf8))
            try body(model, connection)
        }
        try database.close()
    }

    private func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    @Test func `every binding leads to a table and columns that are there, and every value fits its attribute`() throws {
        try withNorthwind { model, connection in
            for object in model.objects {
                let binding = try #require(object.binding)
                let columns = object.attributes.map { quoted(binding.column(of: $0.name)) }.joined(separator: ", ")
                let rows = try connection.rows("SELECT \(columns) FROM (\(binding.load ?? "SELECT * FROM \(quoted(binding.table))"))")
                #expect(!rows.isEmpty)
                for row in rows {
                    for (attribute, value) in zip(object.attributes, row) where !fits(value, attribute) {
                        Issue.record("\(object.name).\(attribute.name): \(value)")
                    }
                }
                let names = Set(try connection.rows("SELECT name FROM pragma_table_info(?1)", [.text(binding.table)]).flatMap { $0 })
                #expect(names.isSuperset(of: object.attributes.map { Value.text(binding.column(of: $0.name)) }))
                let key = object.primaryKey.map { quoted(binding.column(of: $0)) }.joined(separator: ", ")
                let distinct = try connection.first("SELECT count(*) FROM (SELECT DISTINCT \(key) FROM \(quoted(binding.table)))")
                #expect(distinct == [.integer(Int64(rows.count))])
            }
        }
    }

    private func fits(_ value: Value, _ attribute: AttributeModel) -> Bool {
        switch (attribute.type, value) {
        case (_, .null): attribute.isNullable
        case (.string, .text(let text)), (.char, .text(let text)):
            text.unicodeScalars.count <= attribute.length ?? (attribute.type == .char ? 1 : .max)
        case (.bigString, .text), (.bigBinary, .blob): true
        case (.date, .text(let text)): text.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil
        case (.long, .integer), (.decimal, .integer), (.decimal, .real), (.double, .real), (.double, .integer): true
        case (.short, .integer(let number)): Int16(exactly: number) != nil
        default: false
        }
    }

    @Test func `every reference leads to a row`() throws {
        try withNorthwind { model, connection in
            for object in model.objects {
                for relationship in model.references(of: object) {
                    let target = try #require(model.object(named: relationship.target))
                    let (binding, parent) = (try #require(object.binding), try #require(target.binding))
                    let join = relationship.mapping.map {
                        "p.\(quoted(parent.column(of: $0.target))) = c.\(quoted(binding.column(of: $0.source)))"
                    }.joined(separator: " AND ")
                    let isSet = relationship.mapping.map { "c.\(quoted(binding.column(of: $0.source))) IS NOT NULL" }.joined(separator: " AND ")
                    let orphans = try connection.first(
                        "SELECT count(*) FROM \(quoted(binding.table)) c WHERE \(isSet) AND NOT EXISTS (SELECT 1 FROM \(quoted(parent.table)) p WHERE \(join))"
                    )
                    #expect(orphans == [.integer(0)], "\(object.name).\(relationship.name)")
                }
            }
        }
    }
}
