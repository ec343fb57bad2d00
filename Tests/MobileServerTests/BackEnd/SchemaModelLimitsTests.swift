import MobileModel
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Tables and columns that a model cannot have as they are: they are left out, each with its reason, and the others are in the model.
@Suite struct SchemaModelLimitsTests {
    /// The model of tables in SQLite, which a server takes.
    private func model(_ tables: String) throws -> SchemaModel {
        let folder = try TemporaryDirectory(), path = folder.file("any.db")
        let database = try Database(ConnectionProfile(path: path, journal: .unchanged))
        try database.write { _ = try $0.execute(tables) }
        try database.close()
        let schema = try SchemaModel(of: path, name: "Field")
        #expect(try PackageModel(json: schema.model.json) == schema.model)
        try PackageDeployment(schema.model, backEnds: ["enterprise": path]).verify()
        return schema
    }

    @Test func `SQLite compares names of tables and columns in any letters of case`() throws {
        let schema = try model(
            """
            CREATE TABLE Artist (ArtistId INTEGER PRIMARY KEY, Name TEXT); CREATE TABLE Album (AlbumId INTEGER PRIMARY KEY, ArtistId INT REFERENCES artist(ARTISTID));
            """)
        #expect(schema.omissions == [] && schema.model.object(named: "Album")?.relationships.map(\.target) == ["Artist"])
    }

    @Test(.needsPostgreSQL) func `a reference of PostgreSQL leads to the table of exactly its name`() throws {
        let database = try PostgreSQLTestDatabase(
            tables: """
                CREATE TABLE "Artist" (id int PRIMARY KEY); CREATE TABLE artist (id int PRIMARY KEY);
                CREATE TABLE album (id int PRIMARY KEY, artist int REFERENCES artist);
                """)
        let schema = try SchemaModel(of: database.address, name: "Field"), album = try #require(schema.model.object(named: "Album"))
        #expect(album.relationships.compactMap { schema.model.object(named: $0.target)?.binding?.table } == ["artist"])
    }
}
