import MobileModel
import MobileProtocol
import MobileStore
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import MobileServer

/// Values of PostgreSQL that an attribute can hold, as they travel, and those that it cannot.
@Suite(.needsPostgreSQL) struct PostgreSQLValueTests {
    struct Column: CustomTestStringConvertible, Sendable {
        /// The type of the column, and the members of the attribute.
        let type: String, attribute: String
        /// Values as SQL with their JSON, and values that are held back.
        let held: [(sql: String, json: String)], unfit: [String]

        var testDescription: String { "\(attribute) of \(type)" }

        init(_ type: String, _ attribute: String, held: [(sql: String, json: String)], unfit: [String]) {
            (self.type, self.attribute, self.held, self.unfit) = (type, attribute, held, unfit)
        }
    }

    private static let columns = [
        Column("bigint", #""byte""#, held: [("-128", "-128"), ("127", "127")], unfit: ["-129", "128"]),
        Column("bigint", #""int""#, held: [("-2147483648", "-2147483648")], unfit: ["2147483648"]),
        Column("bigint", #""long""#, held: [("9223372036854775807", "9223372036854775807")], unfit: []),
        Column(
            "numeric", #""long""#, held: [("-9223372036854775808", "-9223372036854775808"), ("5.00", "5")],
            unfit: ["1e30", "1.5", "'NaN'", "9223372036854775808"]),
        Column(
            "double precision", #""long""#, held: [("-9.007199254740992e15", "-9007199254740992")],
            unfit: ["9223372036854775807", "'Infinity'", "'NaN'", "0.5"]),
        Column("text", #""int""#, held: [("' 42 '", "42"), ("'7.0'", "7")], unfit: ["'many'", "''", "'1e10'", "'1.5'"]),
        Column("text", #""boolean""#, held: [("'On'", "true"), ("''", "false")], unfit: ["'perhaps'"]),
        Column("double precision", #""double""#, held: [("1e300", "1e+300"), ("-0.1", "-0.1")], unfit: ["'NaN'", "'Infinity'", "'-Infinity'"]),
        Column("double precision", #""float""#, held: [("3.4e38", "3.4e+38")], unfit: ["3.5e38", "'NaN'", "'-Infinity'"]),
        Column("real", #""float""#, held: [("0.1", "0.1")], unfit: ["'NaN'", "'Infinity'"]),
        Column("numeric", #""double""#, held: [("0.5", "0.5")], unfit: ["1e400", "'NaN'", "1e-400"]),
        Column("text", #""double""#, held: [("'1e-3'", "0.001")], unfit: ["'fast'", "'NaN'", "'1e999'"]),
        Column(
            "numeric", #""decimal", "precision": 12, "scale": 3"#, held: [("12.500", "12.5"), ("-999999999.999", "-999999999.999"), ("0", "0")],
            unfit: ["12.3456", "1000000000", "'NaN'", "12345678901234.5"]),
        Column("numeric(3,5)", #""decimal", "precision": 5, "scale": 5"#, held: [("0.00123", "0.00123")], unfit: []),
        Column("numeric(3,5)", #""decimal", "precision": 5, "scale": 2"#, held: [("0", "0")], unfit: ["0.00123"]),
        Column("double precision", #""decimal", "precision": 5, "scale": 2"#, held: [("0.1", "0.1")], unfit: ["'Infinity'", "'NaN'", "0.125"]),
        Column("text", #""decimal", "precision": 5, "scale": 2"#, held: [("' 1.50 '", "1.5")], unfit: ["'cheap'", "'1,5'", "'NaN'"]),
        Column(
            "date", #""date""#, held: [("'0001-01-01'", #""0001-01-01""#), ("'9999-12-31'", #""9999-12-31""#)],
            unfit: ["'infinity'", "'-infinity'", "'0001-01-01 BC'", "'10000-01-01'"]),
        Column("timestamp", #""date""#, held: [("'2024-02-29 10:00'", #""2024-02-29""#)], unfit: ["'infinity'"]),
        Column(
            "text", #""date""#, held: [("'2024-02-29'", #""2024-02-29""#)], unfit: ["'2023-02-29'", "'31.12.2020'", "'2024-04-31'", "'2024-13-01'"]),
        Column("time", #""time""#, held: [("'23:59:59.75'", #""23:59:59""#)], unfit: ["'24:00'"]),
        Column("timetz", #""time""#, held: [], unfit: ["'10:00:00+02'"]),
        Column("text", #""time""#, held: [("'10:11:12'", #""10:11:12""#)], unfit: ["'25:00'", "'10:11'"]),
        Column(
            "timestamp", #""dateTime""#, held: [("'2024-02-29 10:00:00.1239'", #""2024-02-29T10:00:00.123Z""#)],
            unfit: ["'infinity'", "'-infinity'", "'0001-01-01 BC'", "'10000-01-01'"]),
        Column(
            "timestamptz", #""dateTime""#, held: [("'2024-03-01 00:30:00+02'", #""2024-02-29T22:30:00.000Z""#)],
            unfit: ["'infinity'", "'0044-03-15 BC'"]),
        Column("bigint", #""dateTime""#, held: [("1700000000", #""2023-11-14T22:13:20.000Z""#)], unfit: ["9223372036854775807", "253402300800"]),
        Column(
            "text", #""dateTime""#,
            held: [("'2024-02-29 10:00:00'", #""2024-02-29T10:00:00.000Z""#), ("'2024-02-29T10:00:00.5Z'", #""2024-02-29T10:00:00.500Z""#)],
            unfit: ["'soon'", "'2023-02-29 10:00:00'"]),
        Column("text", #""string", "length": 3"#, held: [("'äöü'", #""äöü""#), ("''", #""""#)], unfit: ["'äöüß'"]),
        Column("text", #""char""#, held: [("'🍎'", #""🍎""#)], unfit: ["''", "'ab'"]),
        Column("bytea", #""binary", "length": 2"#, held: [("'\\x0102'", #""AQI=""#)], unfit: ["'\\x010203'"]),
        Column(
            "text[]", #""string?[]""#,
            held: [(#"'{a,"b c",NULL}'"#, #""[\"a\",\"b c\",null]""#), ("'{}'", #""[]""#), ("'{{a,b},{c,d}}'", #""[[\"a\",\"b\"],[\"c\",\"d\"]]""#)],
            unfit: ["'[0:1]={a,b}'"]),
        Column("int[]", #""int[]""#, held: [("'{1,2}'", #""[1,2]""#)], unfit: []),
        Column("text[]", #""string""#, held: [("'{a,b}'", #""{a,b}""#)], unfit: []),
    ]

    private func load(_ table: String, _ attributes: String, key: String = #"{"name": "id", "type": "int"}"#) throws -> [HeldRow] {
        let database = try PostgreSQLTestDatabase(tables: table)
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Stock", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "postgresql"}],
                 "objects": [{"name": "T", "attributes": [\(key)\(attributes)], "primaryKey": ["id"], "binding": {"backEnd": "enterprise", "table": "t"}}]}
                """)
        let engine = try PostgreSQLEngine(name: "enterprise", address: database.address, timeout: .seconds(30))
        let backEnd = SQLBackEnd(name: "enterprise", engine: engine, isIdempotent: true, wholeValueLimit: 1 << 20)
        try backEnd.check(model.objects, of: model)
        defer { try? backEnd.close() }
        let plan = ObjectPlan(model.objects[0], binding: try #require(model.objects[0].binding), in: model)
        var rows: [HeldRow] = []
        try backEnd.read { try $0.load(model.objects[0], parameters: [:], keys: nil) { rows.append($0.held(by: plan)) } }
        return rows
    }

    @Test("a value travels as it is, or holds back its row, whether NULL is allowed or not", arguments: columns, [false, true])
    func values(column: Column, isNullable: Bool) throws {
        let values = column.held.map(\.sql) + column.unfit + ["NULL"]
        let table =
            "CREATE TABLE t (id integer PRIMARY KEY, v \(column.type)); "
            + values.enumerated().map { "INSERT INTO t VALUES (\($0.offset), \($0.element))" }.joined(separator: "; ")
        let rows = try load(table, #", {"name": "v", "nullable": \#(isNullable), "type": \#(column.attribute)}"#)
        let found = rows.map { row in
            switch row {
            case .fit(let row): row.attributes
            case .unfit(let row): "\(row.key?.text ?? "") held back"
            }
        }
        let count = column.held.count
        let expected =
            column.held.enumerated().map { "\($0.offset),\($0.element.json)" } + column.unfit.indices.map { "\(count + $0) held back" }
            + [isNullable ? "\(values.count - 1),null" : "\(values.count - 1) held back"]
        #expect(found == expected)
        for case .unfit(let row) in rows { #expect(row.column == "v" && row.attribute == "v" && row.table == "t") }
    }

    @Test(
        "a column none of whose values an attribute can hold is refused at deployment",
        arguments: [
            ("date", #""long""#, "dates, none of which is an integer"), ("timestamptz", #""boolean""#, "moments, none of which is true or false"),
            ("time", #""dateTime""#, "times of day, none of which is a moment of the years 1 to 9999"),
            ("int[]", #""int""#, "arrays, none of which is an integer from -2147483648 to 2147483647"),
            ("bytea", #""double""#, "bytes, none of which is a finite number"),
            ("boolean", #""date""#, "booleans, none of which is a date of the years 1 to 9999"),
        ])
    func misfits(type: String, attribute: String, found: String) throws {
        let error = #expect(throws: ServerError.self) {
            try load("CREATE TABLE t (id integer PRIMARY KEY, v \(type))", #", {"name": "v", "nullable": true, "type": \#(attribute)}"#)
        }
        #expect(error?.code == .package && error?.message == "object \"T\", attribute \"v\": the column \"v\" of the table \"t\" has \(found)")
    }

    @Test func `arrays are lists of JSON on the device, and arrays again in the back end`() throws {
        let model = try PackageModel(
            json: """
                {"format": 1, "name": "Tags", "version": "1.0", "backEnds": [{"name": "enterprise", "kind": "postgresql"}],
                 "objects": [{"name": "T", "primaryKey": ["id"], "operations": ["create", "update"], "binding": {"backEnd": "enterprise", "table": "t"},
                    "attributes": [{"name": "id", "type": "int"}, {"name": "tags", "type": "string?[]", "nullable": true}]}]}
                """)
        let server = try TestServer(
            model: model, tables: "",
            postgreSQL: "CREATE TABLE t (id integer PRIMARY KEY, tags text[]); INSERT INTO t VALUES (1, '{a,\"b \\\"c\\\"\"}')",
            on: .postgreSQL)
        let device = try TestDevice(server)
        try device.synchronize()
        #expect(device.rows("T", by: "id")[1]?["tags"] == #"["a","b \"c\""]"#)
        let texts = [#"["x",null,"NULL","","a,b","{}","\\"]"#, "[]", #"[["a","b"],["c","d"]]"#]
        for (index, text) in texts.enumerated() {
            let create = device.create("T", ["id": .integer(Int64(index + 2)), "tags": .string(text)])
            #expect(try device.synchronize([create]).results.map(\.message) == [""])
            #expect(device.rows("T", by: "id")[.integer(Int64(index + 2))]?["tags"] == .string(text))
        }
        #expect(try server.backEndValue("SELECT CAST(array_length(tags, 1) AS BIGINT) FROM t WHERE id = 2") == 7)
        let refused = try device.synchronize([device.create("T", ["id": 9, "tags": "no list"])])
        #expect(refused.results.map(\.code) == [400])
    }

    @Test(
        "a key that its attribute cannot hold exactly is held back under its text; two of them never become one",
        arguments: [
            (
                #""dateTime""#, "timestamptz", "'2024-02-29 10:00:00.123Z'",
                ["'2024-02-29 10:00:00.123001Z'", "'2024-02-29 10:00:00.123002Z'", "'infinity'"]
            ),
            (#""decimal", "precision": 12, "scale": 2"#, "numeric", "1.25", ["1.250001", "1.250002", "'NaN'"]),
            (#""date""#, "timestamp", "'2024-02-29'", ["'2024-02-29 00:00:01'", "'2024-02-29 10:00'"]),
            (#""time""#, "time", "'10:00'", ["'10:00:00.5'", "'24:00'"]), (#""string", "length": 3"#, "text", "'abc'", ["'abcd'", "'abce'"]),
            (#""int""#, "bigint", "5", ["3000000000"]),
        ])
    func keys(attribute: String, type: String, held: String, unfit: [String]) throws {
        let table = "CREATE TABLE t (id \(type) PRIMARY KEY); " + ([held] + unfit).map { "INSERT INTO t VALUES (\($0))" }.joined(separator: "; ")
        let rows = try load(table, "", key: #"{"name": "id", "type": \#(attribute)}"#)
        var names: Set<String> = [], fitting = 0
        for row in rows {
            switch row {
            case .fit: fitting += 1
            case .unfit(let row):
                #expect(row.key == nil && row.column == "id")
                names.insert(row.name)
            }
        }
        #expect(fitting == 1 && names.count == unfit.count)
    }
}
