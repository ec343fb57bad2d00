import MobileModel
import MobileServer
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

/// Models that are made from the tables of back ends.
@Suite struct SchemaModelTests {
    private func place(_ kind: BackEndKind, _ folder: TemporaryDirectory) throws -> (place: String, database: PostgreSQLTestDatabase?) {
        if kind == .postgreSQL {
            let database = try PostgreSQLTestDatabase(tables: FieldSales.postgreSQLTables + "CREATE TABLE loose (text text)")
            return (database.address, database)
        }
        let database = try Database(ConnectionProfile(path: folder.file("field.db"), journal: .unchanged))
        try database.write { _ = try $0.execute(FieldSales.tables + "CREATE TABLE loose (text TEXT)") }
        try database.close()
        return (folder.file("field.db"), nil)
    }

    private func check(_ kind: BackEndKind) throws {
        let folder = try TemporaryDirectory()
        let (place, database) = try place(kind, folder)
        let schema = try SchemaModel(of: place, name: "Field")
        try schema.model.validate()
        #expect(schema.omissions == ["table \"loose\": it has no primary key"])
        #expect(try PackageModel(json: schema.model.json) == schema.model)
        #expect(schema.model.objects.map(\.name).sorted() == ["Order", "OrderLine", "TheCustomers"])
        let customers = try #require(schema.model.object(named: "TheCustomers")), lines = try #require(schema.model.object(named: "OrderLine"))
        #expect(customers.primaryKey == ["customerNo"] && customers.binding?.column(of: "customerNo") == "customer no")
        let types = Dictionary(uniqueKeysWithValues: customers.attributes.map { ($0.name, $0.type) })
        #expect(types["customerNo"] == .long && types["credit"] == .decimal && types["since"] == .dateTime && types["rate"] == .double)
        #expect(types["photo"] == .bigBinary && types["notes"] == .bigString)
        #expect(customers.attribute(named: "customerNo")?.isGenerated == true && customers.attribute(named: "name")?.isNullable == false)
        #expect(lines.primaryKey == ["order", "line"] && lines.relationships.map(\.target) == ["Order"])
        #expect(lines.relationships.first?.mapping == [.init(source: "order", target: "id")])
        // A server serves it as it is.
        try PackageDeployment(schema.model, backEnds: ["enterprise": place]).verify()
        _ = database
    }

    @Test func `an SQLite file gives a model that fits it`() throws { try check(.sqlite) }

    @Test(.needsPostgreSQL) func `a PostgreSQL database gives a model that fits it`() throws { try check(.postgreSQL) }
}
