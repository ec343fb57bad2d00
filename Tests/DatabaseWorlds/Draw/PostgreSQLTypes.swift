extension ColumnType {
    /// Types of PostgreSQL.
    static let postgreSQL: [DatabaseFeature: ColumnType] = numbersOfPostgreSQL.merging(timesOfPostgreSQL) { first, _ in first }
        .merging(textsOfPostgreSQL) { first, _ in first }.merging(othersOfPostgreSQL) { first, _ in first }

    private static let numbersOfPostgreSQL: [DatabaseFeature: ColumnType] = [
        .smallIntegers: ColumnType(
            sql: "smallint", values: ["0", "7", "-32768", "13"], specials: [.manyDigits: ["32767"]], distinct: numbers, refused: "40000"),
        .integers: ColumnType(
            sql: "integer", values: ["0", "1", "-1", "42", "13"], specials: [.manyDigits: ["2147483647", "-2147483648"]], distinct: numbers,
            refused: "3000000000"),
        .bigIntegers: ColumnType(
            sql: "bigint", values: ["0", "9007199254740993", "-42", "13"], specials: [.manyDigits: ["9223372036854775807", "-9223372036854775808"]],
            distinct: numbers),
        .reals: ColumnType(
            sql: "real", values: ["0", "0.1", "-1.5", "13.25"],
            specials: [.notANumber: ["'NaN'"], .infiniteNumber: ["'Infinity'", "'-Infinity'"], .manyDigits: ["16777217", "3.4028235e38"]],
            distinct: { "\($0).5" }),
        .doubles: ColumnType(
            sql: "double precision", values: ["0", "0.1", "-1e300", "13.25"],
            specials: [.notANumber: ["'NaN'"], .infiniteNumber: ["'Infinity'", "'-Infinity'"], .manyDigits: ["0.1234567890123456789"]],
            distinct: { "\($0).5" }),
        .numerics: ColumnType(
            sql: "numeric", values: ["0", "12.5", "-1.10", "0.001", "13.25"],
            specials: [
                .notANumber: ["'NaN'"], .infiniteNumber: ["'Infinity'"],
                .manyDigits: ["123456789012345678901234567890", "0.1234567890123456789", "1e50", "1e-30"],
            ], distinct: { "\($0).5" }),
        .decimals: ColumnType(
            sql: "numeric(10,2)", values: ["0", "9.99", "-12345678.90", "0.01", "13.25"],
            specials: [.notANumber: ["'NaN'"], .manyDigits: ["99999999.99"]], distinct: { "\($0).25" }, refused: "12345678901.5"),
        .fineNumbers: ColumnType(sql: "numeric(3,5)", values: ["0", "0.00123", "-0.00999", "0.00013"]),
        .roundNumbers: ColumnType(
            sql: "numeric(5,-2)", values: ["0", "100", "-1200", "1300"], specials: [.manyDigits: ["9999900"]], distinct: { "\($0 + 1)00" }),
        .currency: ColumnType(sql: "money", values: ["0", "9.99", "-5", "13.25"], isComparable: false),
        .objectIDs: ColumnType(sql: "oid", values: ["0", "42", "7", "13"], specials: [.manyDigits: ["4294967295"]], distinct: numbers),
        .booleans: ColumnType(sql: "boolean", values: ["true", "false", "true", "false"]),
    ]

    private static let ages: [DatabaseFeature: [String]] = [.infiniteTime: ["'infinity'", "'-infinity'"]]

    private static let timesOfPostgreSQL: [DatabaseFeature: ColumnType] = [
        .dates: ColumnType(
            sql: "date", values: ["'2024-02-29'", "'1970-01-01'", "'9999-12-31'", "'0001-01-01'", "'2000-01-01'"],
            specials: ages.merging([.beforeChrist: ["'0001-01-01 BC'", "'4713-01-01 BC'"], .farFuture: ["'12024-01-01'", "'5874897-12-31'"]]) { $1 },
            distinct: dates, function: "now()"),
        .times: ColumnType(
            sql: "time", values: ["'23:59:59'", "'00:00:00'", "'07:05:01'", "'12:00:00'"],
            specials: [.endOfDay: ["'24:00:00'"], .microseconds: ["'23:59:59.999999'"]], distinct: clocks, function: "localtime(0)"),
        .zonedTimes: ColumnType(
            sql: "time with time zone", values: ["'23:59:59+00'", "'07:05:01+02'", "'00:00:00-05:30'", "'12:00:00+00'"],
            specials: [.endOfDay: ["'24:00:00+00'"], .microseconds: ["'12:00:00.5+01'"]], distinct: { "'\($0 % 10 + 10):\($0 / 10 % 50 + 10):00+00'" }
        ),
        .timestamps: ColumnType(
            sql: "timestamp", values: ["'2024-02-29 23:59:59'", "'1970-01-01 00:00:00'", "'2038-01-19 03:14:08.123'", "'2000-01-01 00:00:00'"],
            specials: ages.merging([
                .microseconds: ["'2024-02-29 12:00:00.123456'", "'2024-02-29 12:00:00.9999995'"], .beforeChrist: ["'0044-03-15 12:00:00 BC'"],
                .farFuture: ["'294276-12-31 23:59:59'"],
            ]) { $1 }, distinct: moments, function: "now()"),
        .zonedTimestamps: ColumnType(
            sql: "timestamp with time zone",
            values: ["'2024-02-29 23:59:59+00'", "'2024-10-27 02:30:00+02'", "'1970-01-01 00:00:00+00'", "'2000-01-01 00:00:00+00'"],
            specials: ages.merging([
                .microseconds: ["'2024-02-29 12:00:00.123456+00'"], .beforeChrist: ["'0044-03-15 12:00:00+00 BC'"],
                .farFuture: ["'12024-01-01 00:00:00+00'"],
            ]) { $1 },
            distinct: moments, function: "clock_timestamp()"),
        .intervals: ColumnType(
            sql: "interval", values: ["'1 day'", "'2 years 3 mons'", "'-00:00:01'", "'13 hours'"], specials: [.microseconds: ["'0.000001 seconds'"]]),
    ]

    private static let textsOfPostgreSQL: [DatabaseFeature: ColumnType] = [
        .texts: ColumnType(
            sql: "text", values: textValues, specials: textSpecials.merging([.longText: ["repeat('é ', 5000)"]]) { $1 }, distinct: texts,
            function: "upper('made')"),
        .varchars: ColumnType(
            sql: "varchar(20)", values: textValues, specials: textSpecials, distinct: texts, refused: "'much longer than twenty characters'"),
        .characters: ColumnType(
            sql: "char(9)", values: ["'ab'", "'abcde'", "'abc '", "'no'"], specials: [.emptyText: ["''"]], distinct: { "'k\($0)'" }),
        .singleCharacters: ColumnType(sql: "\"char\"", values: ["'a'", "'b'", "'Z'", "'n'"], specials: [.emptyText: ["''"]]),
        .names: ColumnType(sql: "name", values: ["'pg_class'", "'a b'", "'x'", "'no'"], distinct: texts),
        .foldedTexts: ColumnType(
            sql: "citext", values: ["'Abc'", "'ABCD'", "'x'", "'no'"], specials: textSpecials, distinct: texts,
            prelude: ["CREATE EXTENSION IF NOT EXISTS citext"]),
        .uuids: ColumnType(sql: "uuid", values: identifierValues, distinct: identifiers, function: "gen_random_uuid()", refused: "'not a uuid'"),
        .json: ColumnType(
            sql: "json", values: ["'{\"a\":1}'", "'[]'", "'{\"b\":  [1, 2]}'", "'5'"], specials: [.longText: ["to_json(repeat('é ', 5000))"]],
            isComparable: false, refused: "'{'"),
        .binaryJSON: ColumnType(sql: "jsonb", values: ["'{\"a\": 1}'", "'[]'", "'\"text\"'", "'null'"], refused: "'{'"),
        .xml: ColumnType(sql: "xml", values: ["'<a/>'", "'<a>b</a>'", "'text'", "'<no/>'"], isComparable: false),
        .enums: ColumnType(
            sql: "mood", values: ["'ok'", "'sad'", "'very happy'", "'excluded'"],
            prelude: ["CREATE TYPE mood AS ENUM ('sad', 'ok', 'very happy', 'excluded')"],
            refused: "'angry'"),
        .numberedEnums: ColumnType(
            sql: "order_status_v2", values: ["'open'", "'shipped'", "'closed'", "'cancelled'"],
            prelude: ["CREATE TYPE order_status_v2 AS ENUM ('open', 'shipped', 'closed', 'cancelled')"], refused: "'lost'"),
        .domains: ColumnType(
            sql: "label", values: textValues, specials: [.emptyText: ["''"]], distinct: texts,
            prelude: ["CREATE DOMAIN word AS varchar(40)", "CREATE DOMAIN label AS word"]),
        .checkedDomains: ColumnType(
            sql: "percentage", values: ["0", "100", "50", "13"],
            prelude: [
                "CREATE DOMAIN share AS integer CHECK (VALUE >= 0)", "CREATE DOMAIN percentage AS share CHECK (VALUE <= 100)",
            ],
            refused: "101"),
    ]

    private static let othersOfPostgreSQL: [DatabaseFeature: ColumnType] = [
        .blobs: ColumnType(
            sql: "bytea", values: ["'\\x00ff'", "'\\x41'", "'\\xffd8ffe0'", "'\\x0000'"], specials: [.emptyBytes: ["'\\x'"]],
            distinct: { "'\\x4b\(1000 + $0)'" }),
        .arrays: ColumnType(sql: "text[]", values: ["'{a,b}'", "'{}'", "'{\"x y\",NULL}'", "'{no}'"], specials: [.manyDigits: ["'{{a,b},{c,d}}'"]]),
        .sizedArrays: ColumnType(sql: "varchar(5)[]", values: ["'{abc,de,fgh}'", "'{}'", "'{a}'", "'{no}'"]),
        .numberArrays: ColumnType(sql: "numeric(10,2)[]", values: ["'{1.10,2.20,3.30}'", "'{}'", "'{0.00}'", "'{13.00}'"]),
        .ranges: ColumnType(sql: "int4range", values: ["'[1,5)'", "'empty'", "'[7,)'", "'[13,14)'"], refused: "'[5,1)'"),
        .multiranges: ColumnType(sql: "datemultirange", values: ["'{[2024-01-01,2024-02-01)}'", "'{}'", "'{(,2024-01-01)}'", "'{[2013-01-01,)}'"]),
        .networks: ColumnType(
            sql: "inet", values: ["'10.0.0.1'", "'::1'", "'192.168.0.0/24'", "'1.1.1.1'"], distinct: { "'10.0.0.\($0 % 250)'" }, refused: "'nowhere'"),
        .bits: ColumnType(sql: "bit varying(8)", values: ["'101'", "''", "'11111111'", "'0'"]),
        .composites: ColumnType(
            sql: "address_v1", values: ["'(\"High Street\",12)'", "'(,)'", "'(a,1)'", "'(no,0)'"],
            prelude: ["CREATE TYPE address_v1 AS (street text, number integer)"]),
        .searchTexts: ColumnType(sql: "tsvector", values: ["'''cat'':1 ''dog'':2'", "''", "'''x'':3'", "'''no'':1'"]),
        .shapes: ColumnType(sql: "point", values: ["'(1,2)'", "'(-0.5,1e10)'", "'(0,0)'", "'(13,13)'"], isComparable: false),
    ]
}
