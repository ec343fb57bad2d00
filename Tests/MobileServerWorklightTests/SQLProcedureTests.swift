import MobileServer
import MobileServerWorklight
import MobileStore
import PostgreSQLClient
import PostgreSQLTestSupport
import TestSupport
import Testing

/// Procedures that run SQL, on both engines.
@Suite struct SQLProcedureTests {
    enum Engine: String, CaseIterable {
        case sqlite, postgreSQL
    }

    /// The engines of this machine.
    static var engines: [Engine] { PostgreSQLInstallation.runsTests ? Engine.allCases : [.sqlite] }

    private static let tables = [
        "CREATE TABLE quote (id BIGINT PRIMARY KEY, name TEXT NOT NULL UNIQUE, price DOUBLE PRECISION)",
        "INSERT INTO quote VALUES (1, 'IBM', 65.5), (2, 'X', NULL)",
    ]

    /// A back end with two quotes, and what keeps it alive.
    private final class BackEnd {
        let place: String
        private let directory: TemporaryDirectory?
        private let database: PostgreSQLTestDatabase?

        init(_ engine: Engine) throws {
            switch engine {
            case .sqlite:
                let directory = try TemporaryDirectory()
                place = directory.file("erp.db")
                let file = try Database(ConnectionProfile(path: place))
                try file.write { connection in for statement in SQLProcedureTests.tables { try connection.execute(statement) } }
                try file.close()
                (self.directory, database) = (directory, nil)
            case .postgreSQL:
                let database = try PostgreSQLTestDatabase()
                try database.connect().run(script: SQLProcedureTests.tables.joined(separator: "; "))
                place = "postgresql://postgres@/\(database.name)?host=\(database.server.folder)&port=\(database.server.port)"
                (directory, self.database) = (nil, database)
            }
        }
    }

    private func client(_ backEnd: WorklightBackEnd, _ procedures: [String: String]) throws -> StrictClient {
        let face = try Face {
            $0.adapters.append(WorklightAdapter("ERP", procedures: procedures.mapValues { .sql($0, on: backEnd) }))
        }
        let client = try face.connectedClient()
        kept = face
        return client
    }

    private var kept: Face? {
        get { storage.face }
        nonmutating set { storage.face = newValue }
    }
    private final class Storage { var face: Face? }
    private let storage = Storage()

    @Test("queries, changes, wrong parameters and failures", arguments: engines)
    func statements(engine: Engine) throws {
        let place = try BackEnd(engine), backEnd = try WorklightBackEnd(place: place.place)
        let client = try client(
            backEnd,
            [
                "quotes": "SELECT id, name, price FROM quote WHERE id >= ?1 ORDER BY id", "rename": "UPDATE quote SET name = ?1 WHERE id = ?2",
                "add": "INSERT INTO quote (id, name, price) VALUES (?1, ?2, ?3)", "broken": "SELECT nothing FROM quote",
                "count": "SELECT count(*) AS n FROM quote",
            ])
        func call(_ name: String, _ parameters: String = "[]") throws -> StrictResponse { try client.call(name, parameters, adapter: "ERP") }
        #expect(
            try call("quotes", "[1]").object == [
                "isSuccessful": true,
                "resultSet": [["id": 1, "name": "IBM", "price": .number("65.5")], ["id": 2, "name": "X", "price": .null]],
            ])
        #expect(try call("quotes", "[3]")["resultSet"] == [])
        #expect(try call("rename", "[\"Y'; DROP TABLE quote\",2]")["updateStatementResult"] == ["updateCount": 1])
        #expect(try call("rename", "[\"Z\",99]")["updateStatementResult"] == ["updateCount": 0])
        #expect(try call("quotes", "[2]")["resultSet"]?[0]?["name"] == "Y'; DROP TABLE quote")
        #expect(try call("add", "[3,\"Grüße €😀\",1.5]")["updateStatementResult"] == ["updateCount": 1])
        #expect(try call("quotes", "[3]")["resultSet"] == [["id": 3, "name": "Grüße €😀", "price": .number("1.5")]])
        // A taken name, too many and too few parameters, parameters that SQL does not have, and a statement that is wrong.
        for (name, parameters) in [
            ("add", "[4,\"IBM\",1]"), ("quotes", "[]"), ("quotes", "[1,2]"), ("quotes", "[[1]]"), ("quotes", "[{}]"), ("broken", "[]"),
        ] {
            let response = try call(name, parameters)
            #expect(response.status == 200)
            #expect(response["isSuccessful"] == false)
            #expect(response["errors"]?[0]?.string?.isEmpty == false, "\(name)\(parameters)")
        }
        #expect(try call("count")["resultSet"] == [["n": 3]])
        try backEnd.close()
        #expect(try call("count")["isSuccessful"] == false)
    }

    @Test(.enabled(if: PostgreSQLInstallation.runsTests, Comment(rawValue: PostgreSQLInstallation.isMissing)))
    func `values of PostgreSQL keep their kind, and rows of a change are returned`() throws {
        let place = try BackEnd(.postgreSQL), backEnd = try WorklightBackEnd(place: place.place)
        let client = try client(
            backEnd,
            [
                "kinds": """
                SELECT true AS flag, 12345678901234567.25::numeric AS exact, '{"a":[1]}'::jsonb AS tree, 7::smallint AS small, '\\x00ff'::bytea AS bytes,
                    'NaN'::numeric AS nan, DATE '2026-11-24' AS day, NULL::text AS nothing
                """,
                "add": "INSERT INTO quote (id, name) VALUES ($1, $2) RETURNING id, name",
                "typed": "SELECT ?1::numeric + 1 AS sum, ?2::date AS day, ?3::boolean AS flag",
            ])
        #expect(
            try client.call("kinds", adapter: "ERP")["resultSet"] == [
                [
                    "flag": true, "exact": .number("12345678901234567.25"), "tree": ["a": [1]], "small": 7, "bytes": "00ff", "nan": "NaN",
                    "day": "2026-11-24", "nothing": .null,
                ]
            ])
        #expect(try client.call("add", "[3,\"new\"]", adapter: "ERP")["resultSet"] == [["id": 3, "name": "new"]])
        #expect(
            try client.call("typed", "[1.5,\"2026-11-24\",true]", adapter: "ERP")["resultSet"] == [
                ["sum": .number("2.5"), "day": "2026-11-24", "flag": true]
            ])
    }

    @Test("a back end that cannot be reached, and one with its password in the address, are refused at the start")
    func places() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: StoreError.self) { try WorklightBackEnd(place: directory.file("none.db")) }
        let nobody = #expect(throws: ServerError.self) { try WorklightBackEnd(place: "postgresql://app@127.0.0.1:1/none") }
        #expect(nobody?.code == .missingBackEnd)
        let secret = #expect(throws: ServerError.self) { try WorklightBackEnd(place: "postgresql://app:pass-word@127.0.0.1/none") }
        #expect(secret?.code == .configuration)
        #expect(secret?.message.contains("pass-word") == false)
    }
}
