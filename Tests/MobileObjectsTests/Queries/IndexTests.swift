import MobileObjects
import MobileStore
import Testing

/// Indexes in addition to those of the model.
@Suite struct IndexTests {
    let samples: QueryDatabase
    init() throws { samples = try QueryDatabase() }

    private func entity(_ name: String = "Customer") throws -> EntityMetadata { try samples.database.metadata.entity(named: name) }

    private func index(_ name: String, unique: Bool = false, _ attributes: String..., of object: String = "Customer") throws -> IndexMetadata {
        IndexMetadata(name: name, unique: unique, attributes: try attributes.map { try entity(object).attribute(named: $0) })
    }

    private func names() throws -> [String] { try samples.database.indexes(of: entity()).filter { !$0.isModelled }.map(\.name) }

    private func code(_ body: () throws -> Void) -> ObjectError.Code? { #expect(throws: ObjectError.self) { try body() }?.code }

    @Test("IDX-01 IDX-03 IDX-04: an index is made, and read back from the database with name, uniqueness and attributes")
    func create() throws {
        try samples.database.createIndex(index("fnameIndex", "fname"), on: entity())
        try samples.database.createIndex(index("both", unique: true, "lname", "fname"), on: entity())
        let found = try samples.database.indexes(of: entity())
        #expect(found.map(\.name) == ["Customer_key", "both", "fnameIndex"])
        #expect(found.map(\.isUnique) == [false, true, false])
        #expect(found.map { $0.attributes.map(\.name) } == [["id"], ["lname", "fname"], ["fname"]])
        #expect(found.map(\.isModelled) == [true, false, false])
        #expect(try samples.database.indexes(of: entity("SalesOrder")).map(\.name) == ["SalesOrder_key"])
    }

    @Test("IDX-01: an index that cannot be is an error and changes nothing")
    func wrongIndexes() throws {
        let database = samples.database
        let customer = try entity()
        try database.createIndex(index("one", "fname"), on: customer)
        #expect(code { try database.createIndex(index("one", "lname"), on: customer) } == .invalidIndex)
        #expect(code { try database.createIndex(index("", "lname"), on: customer) } == .invalidIndex)
        #expect(code { try database.createIndex(index("a\0b", "lname"), on: customer) } == .invalidIndex)
        #expect(code { try database.createIndex(index("none"), on: customer) } == .invalidIndex)
        #expect(code { try database.createIndex(index("twice", "lname", "lname"), on: customer) } == .invalidIndex)
        #expect(code { try database.createIndex(index("unique", unique: true, "lname"), on: customer) } == .invalidIndex, "two of one name")
        #expect(code { try database.createIndex(index("other", "region", of: "SalesOrder"), on: customer) } == .noSuchAttribute)
        #expect(code { try database.createIndex(index("large", "picture", of: "AllType"), on: entity("AllType")) } == .unsupportedType)
        let foreign = try PackageMetadata(ShopModel.model).entity(named: "Customer")
        #expect(code { try database.createIndex(IndexMetadata(name: "x", attributes: [foreign.attributes[0]]), on: foreign) } == .noSuchClass)
        #expect(try names() == ["one"])
    }

    @Test("IDX-01 IDX-02: names are the caller's own, each object has its set of them, and no name becomes SQL")
    func anyName() throws {
        let database = samples.database
        for name in ["x\"; DROP TABLE \"Customer\"; --", "Customer_key2", "sqlite_x", "a:b", "ä 🐟"] {
            try database.createIndex(index(name, "fname"), on: entity())
            try database.createIndex(index(name, "region", of: "SalesOrder"), on: entity("SalesOrder"))
            #expect(try names() == [name])
            try database.dropIndex(name, on: entity())
            #expect(try names() == [] && database.indexes(of: entity("SalesOrder")).map(\.name).contains(name))
            try database.dropIndex(name, on: entity("SalesOrder"))
        }
        #expect(try samples.customers(.notNull("id")).count == 6)
    }

    @Test("IDX-02: an index is dropped by name; one that is not there, or the model's, is an error")
    func drop() throws {
        let database = samples.database
        try database.createIndex(index("fnameIndex", "fname"), on: entity())
        try database.dropIndex("fnameIndex", on: entity())
        #expect(try names() == [])
        #expect(code { try database.dropIndex("fnameIndex", on: entity()) } == .invalidIndex)
        #expect(code { try database.dropIndex("Customer_key", on: entity()) } == .invalidIndex)
        #expect(try database.indexes(of: entity()).map(\.name) == ["Customer_key"])
    }

    @Test("IDX-05: an index serves queries at once, is kept by the database, and leaves the model as it is")
    func purpose() throws {
        let database = samples.database
        var asked = 0
        // A different text each time, because a plan that is kept with its statement does not change. The query itself runs first, because an
        // explained statement is not run and so does not notice the new schema.
        func plan() throws -> String {
            asked += 1
            let sql = "SELECT \"fname\" FROM \"Customer\" WHERE \"fname\" = 'Erin' AND \(asked) = \(asked)"
            return try database.store.read { connection in
                _ = try connection.rows(sql)
                return try connection.rows("EXPLAIN QUERY PLAN \(sql)").compactMap { $0.last?.text }.joined()
            }
        }
        #expect(try plan().contains("SCAN"))
        try database.createIndex(index("fnameIndex", "fname"), on: entity())
        #expect(try plan().contains("SEARCH") && plan().contains("fnameIndex"))
        #expect(try samples.customers(.equal("fname", "Erin")) == [1])
        try database.closeConnection()
        #expect(try names() == ["fnameIndex"])
        #expect(try plan().contains("fnameIndex"))
        try database.dropIndex("fnameIndex", on: entity())
        #expect(try plan().contains("SCAN"))
    }

    @Test("IDX-01 IDX-02: in a transaction that is rolled back nothing was made or dropped")
    func rollback() throws {
        let database = samples.database
        try database.createIndex(index("kept", "fname"), on: entity())
        #expect(throws: CancellationError.self) {
            try database.transaction {
                try database.createIndex(index("lost", "lname"), on: entity())
                try database.dropIndex("kept", on: entity())
                #expect(try names() == ["lost"])
                throw CancellationError()
            }
        }
        #expect(try names() == ["kept"])
    }

    @Test("IDX-01 IDX-02 IDX-03: the asynchronous forms do the same")
    func asynchronous() async throws {
        let entity = try entity(), index = try index("async", "fname")
        try await samples.database.createIndex(index, on: entity)
        #expect(try await samples.database.indexes(of: entity).map(\.name) == ["Customer_key", "async"])
        try await samples.database.dropIndex("async", on: entity)
        await #expect(throws: ObjectError.self) { try await samples.database.dropIndex("async", on: entity) }
    }
}
