import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import Testing

/// Uploads of long values into tables of other systems: in pieces where no constraint or trigger reads the value, otherwise as a whole.
@Suite struct UploadedValueTests {
    /// A value above the size up to which values are always written as a whole.
    static let long = (0..<1_500_000).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 1) }

    /// Creates one picture on a device, in a table with additional SQL of its owner.
    private func create(
        also sql: String, content: [UInt8], adjust: @escaping (inout ServerConfiguration) -> Void = { _ in }
    ) throws -> (TestServer, TestDevice.Result) {
        let server = try Folders.server(also: sql, adjust: adjust), device = try TestDevice(server)
        try device.synchronize(groups: [])
        let operation = device.create("Picture", ["title": "x"])
        let result = try device.synchronize([operation], large: [operation.id: ["content": content]])
        return (server, result)
    }

    @Test(
        "whatever looks at the value while it is written sees the value", .backEndInFile,
        arguments: [
            "",
            "ALTER TABLE picture ADD COLUMN size INTEGER AS (length(content) + unicode(substr(hex(content), 2, 1))) VIRTUAL",
            "CREATE TRIGGER t AFTER INSERT ON picture BEGIN INSERT INTO folder (name) VALUES (hex(substr(new.content, 1, 2))); END",
            "CREATE INDEX i ON picture (content)", "CREATE INDEX i ON picture (hex(substr(content, 1, 2)))",
            "CREATE UNIQUE INDEX i ON picture (title) WHERE substr(content, 1, 1) = x'01'",
            "ALTER TABLE picture ADD COLUMN more INTEGER CHECK (substr(content, 1, 2) = x'0108')",
            "DROP TABLE picture; CREATE TABLE picture (id INTEGER PRIMARY KEY AUTOINCREMENT, content BLOB UNIQUE, title TEXT)",
            "DROP TABLE picture; CREATE TABLE picture (id INTEGER PRIMARY KEY AUTOINCREMENT, content TEXT, title TEXT, \"the content\")",
            "DROP TABLE picture; CREATE TABLE picture (id INTEGER PRIMARY KEY, content ANY, title TEXT NOT NULL, other INT NOT NULL DEFAULT 5) STRICT",
        ])
    func tables(sql: String) throws {
        let (server, result) = try create(also: sql, content: Self.long)
        #expect(result.results.map(\.outcome) == [.accepted], "\(result.results)")
        try server.backEnd { (connection) throws in
            #expect(try connection.first("SELECT content FROM picture") == [.blob(Self.long)])
            #expect(try connection.first("PRAGMA integrity_check") == ["ok"])
            if sql.contains("TRIGGER") { #expect(try connection.first("SELECT name FROM folder WHERE id > 1") == ["0108"]) }
        }
    }

    @Test func `a constraint refuses a long value for what it is`() throws {
        let (server, result) = try create(
            also: "ALTER TABLE picture ADD COLUMN more INTEGER CHECK (substr(content, 1, 2) <> x'0108')", content: Self.long)
        #expect(result.results.map(\.code) == [ResultCode.constraint])
        #expect(try server.backEndValue("SELECT count(*) FROM picture") == 0)
    }

    @Test(.backEndInFile) func `a value that the back end takes as a whole only is refused beyond the limit, another one is not`() throws {
        let limit = { (configuration: inout ServerConfiguration) in configuration.maximumWholeValue = 1_400_000 }
        let (_, refused) = try create(also: "CREATE INDEX i ON picture (content)", content: Self.long, adjust: limit)
        #expect(refused.results.map(\.code) == [ResultCode.tooLarge])
        #expect(
            refused.results.first?.message
                == "\"Picture\", \"content\": 1500000 bytes; the back end takes this value as a whole only, up to 1400000 bytes")
        let (_, accepted) = try create(also: "", content: Self.long, adjust: limit)
        #expect(accepted.results.map(\.outcome) == [.accepted])
    }

    @Test func `a batch that fails behind a long value leaves nothing, and the next batch is done`() throws {
        let server = try Folders.server(), device = try TestDevice(server)
        try device.synchronize(groups: [])
        let first = device.create("Picture", ["title": "x"])
        let second = device.create("Folder", ["name": ""], batch: first.id)
        let third = device.create("Picture", ["title": "y"], batch: first.id)
        let fourth = device.create("Picture", ["title": "z"])
        let result = try device.synchronize(
            [first, second, third, fourth],
            large: [first.id: ["content": Self.long], third.id: ["content": Self.long], fourth.id: ["content": Array(Self.long.reversed())]])
        #expect(result.results.map(\.code) == [412, 412, 412, 200])
        #expect(result.results[2].message.hasPrefix("not done, because another operation of its batch was rejected"))
        try server.backEnd { (connection) throws in
            #expect(try connection.rows("SELECT title, content FROM picture") == [["z", .blob(Self.long.reversed())]])
        }
    }

    @Test func `the operations of a batch on several back ends are rejected together`() throws {
        let json = Folders.json.replacing("IDEMPOTENT", with: "false")
            .replacing(#""backEnds": ["#, with: #""backEnds": [{"name": "other", "kind": "sqlite"}, "#)
            .replacing(#""backEnd": "enterprise", "table": "label""#, with: #""backEnd": "other", "table": "label""#)
        let server = try TestServer(model: PackageModel(json: json), tables: Folders.tables), device = try TestDevice(server)
        try device.synchronize(groups: [])
        let folder = device.create("Folder", ["name": "x"]), label = device.create("Label", ["code": "b"], batch: folder.id)
        let result = try device.synchronize([folder, label, device.create("Label", ["code": "c"])])
        #expect(result.results.map(\.code) == [500, 500, 200])
        #expect(result.results[1].message == "the operations of one batch are on several back ends")
        #expect(try server.backEndValue("SELECT (SELECT count(*) FROM folder) || (SELECT group_concat(code) FROM label)") == "1a,c")
    }
}
