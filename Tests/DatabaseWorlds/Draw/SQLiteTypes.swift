extension ColumnType {
    /// Types of SQLite's files. SQLite keeps any value in any of them.
    static let sqlite: [DatabaseFeature: ColumnType] = numbersOfSQLite.merging(othersOfSQLite) { first, _ in first }

    private static let words: [DatabaseFeature: [String]] = [.textInNumber: ["'n/a'", "''", "'12 pieces'"], .bytesInText: ["x'00ff'"]]

    private static let numbersOfSQLite: [DatabaseFeature: ColumnType] = [
        .integers: ColumnType(
            sql: "INTEGER", values: ["0", "1", "-1", "2147483648", "42"],
            specials: words.merging([
                .fractionInInteger: ["1.5", "1e19"], .manyDigits: ["9223372036854775807", "-9223372036854775808", "9007199254740993"],
            ]) { $1 }, distinct: numbers),
        .bigIntegers: ColumnType(
            sql: "BIGINT", values: ["0", "7", "9007199254740993", "-42", "13"],
            specials: words.merging([.fractionInInteger: ["0.25"], .manyDigits: ["9223372036854775807"]]) { $1 }, distinct: numbers),
        .unsigned: ColumnType(
            sql: "UNSIGNED BIG INT", values: ["0", "4294967295", "18", "13"],
            specials: words.merging([.manyDigits: ["18446744073709551615", "18446744073709551615.0"]]) { $1 }, distinct: numbers),
        .reals: ColumnType(
            sql: "REAL", values: ["0.0", "1.5", "-1e300", "0.1", "13.25"],
            specials: words.merging([.infiniteNumber: ["9e999", "-9e999"], .manyDigits: ["0.1234567890123456789", "9007199254740993"]]) { $1 },
            distinct: { "\($0).5" }),
        .doubles: ColumnType(
            sql: "DOUBLE PRECISION", values: ["0.0", "2.25", "-0.0", "1e-7", "13.25"],
            specials: words.merging([.infiniteNumber: ["9e999"]]) { $1 }, distinct: { "\($0).25" }),
        .numerics: ColumnType(
            sql: "NUMERIC", values: ["0", "12.5", "-1", "0.001", "13.25"],
            specials: words.merging([.manyDigits: ["1234567890123456789", "0.1234567890123", "123456789012345.67"], .infiniteNumber: ["9e999"]]) {
                $1
            },
            distinct: { "\($0).5" }),
        .decimals: ColumnType(
            sql: "DECIMAL(10,2)", values: ["0", "9.99", "-12345678.9", "0.01", "13.25"],
            specials: words.merging([.manyDigits: ["12345678901234.5", "12.345", "0.123456789012345"]]) { $1 }, distinct: { "\($0).25" }),
        .money: ColumnType(
            sql: "MONEY", values: ["0", "9.99", "100", "13.25"], specials: words.merging([.textInNumber: ["'$1'"]]) { $1 }, distinct: numbers),
        .booleans: ColumnType(
            sql: "BOOLEAN", values: ["0", "1", "'true'", "'no'"], specials: words.merging([.textInNumber: ["'perhaps'"]]) { $1 }, isComparable: false),
    ]

    private static let timeWords: [DatabaseFeature: [String]] = [
        .textInTime: ["'n/a'", "''", "'14.11.2023'", "'0000-00-00'"], .bytesInText: ["x'00ff'"],
    ]

    private static let othersOfSQLite: [DatabaseFeature: ColumnType] = [
        .texts: ColumnType(
            sql: "TEXT", values: textValues,
            specials: textSpecials.merging([
                .bytesInText: ["x'ffd8ffe000104a464946'", "CAST(x'61ff' AS TEXT)", "x''"], .zeroByteText: ["'a' || char(0) || 'b'"],
                .longText: ["replace(hex(zeroblob(5000)), '00', 'é ')"],
            ]) { $1 }, distinct: texts),
        .varchars: ColumnType(
            sql: "VARCHAR(20)", values: textValues,
            specials: textSpecials.merging([.longText: ["'much longer than twenty characters'"], .bytesInText: ["x'00ff'"]]) { $1 }, distinct: texts),
        .characters: ColumnType(sql: "CHAR(9)", values: ["'ab'", "'abcde'", "'ab  '", "'no'"], specials: textSpecials, distinct: { "'k\($0)'" }),
        .strings: ColumnType(
            sql: "STRING", values: ["'abc'", "'x-1'", "'one'", "'no'"], specials: [.numberInTime: ["'0123'", "'123'"], .emptyText: ["''"]],
            distinct: texts),
        .uuids: ColumnType(sql: "GUID", values: identifierValues, specials: [.emptyText: ["''"], .textInNumber: ["1"]], distinct: identifiers),
        .json: ColumnType(
            sql: "JSON", values: ["'{\"a\":1}'", "'[]'", "'{\"b\": [1, 2]}'", "'{\"no\":0}'"], specials: [.emptyText: ["''"], .textInNumber: ["5"]]),
        .dates: ColumnType(
            sql: "DATE", values: ["'2024-02-29'", "'1970-01-01'", "'9999-12-31'", "'0001-01-01'", "'2000-01-01'"],
            specials: timeWords.merging([.numberInTime: ["20240229", "1598313600", "2460263.25"]]) { $1 }, distinct: dates, function: "CURRENT_DATE"),
        .times: ColumnType(
            sql: "TIME", values: ["'23:59:59'", "'00:00:00'", "'07:05:01'", "'12:00:00'"],
            specials: timeWords.merging([.numberInTime: ["3600"], .endOfDay: ["'24:00:00'"], .textInTime: ["'7:05'", "'noon'"]]) { $1 },
            distinct: clocks,
            function: "CURRENT_TIME"),
        .timestamps: ColumnType(
            sql: "TIMESTAMP", values: ["'2024-02-29 23:59:59'", "'1970-01-01 00:00:00'", "'2038-01-19 03:14:08.123'", "'2000-01-01 00:00:00'"],
            specials: timeWords.merging([.numberInTime: ["1598313600", "1598313600123"], .microseconds: ["'2024-02-29 12:00:00.123456'"]]) { $1 },
            distinct: moments, function: "CURRENT_TIMESTAMP"),
        .dateTimes: ColumnType(
            sql: "DATETIME", values: ["'2024-02-29T23:59:59Z'", "'1970-01-01 00:00'", "'2020-08-25 00:00:00'", "'2000-01-01 00:00:00'"],
            specials: timeWords.merging([.numberInTime: ["0", "2460263.5"]]) { $1 }, distinct: moments, function: "CURRENT_TIMESTAMP"),
        .blobs: ColumnType(
            sql: "BLOB", values: ["x'00ff'", "x'41'", "x'ffd8ffe0'", "x'0000'"], specials: [.emptyBytes: ["x''"]],
            distinct: { "x'4b\(1000 + $0)'" }),
        .smallBlobs: ColumnType(
            sql: "VARBINARY(16)", values: ["x'00ff'", "x'41'", "x'ff'", "x'0000'"], specials: [.emptyBytes: ["x''"]],
            distinct: { "x'4c\(1000 + $0)'" }),
        .geometries: ColumnType(sql: "GEOMETRY", values: ["x'4750000300000000ff'", "x'47500001'", "x'4750ffff'", "x'00'"]),
        .points: ColumnType(sql: "POINT", values: ["x'4750000300000000ff'", "x'47500002'", "x'4750fffe'", "x'00'"]),
        .untyped: ColumnType(
            sql: "", values: ["'x'", "'text'", "'2'", "'no'"], specials: [.textInNumber: ["1", "2.5"], .bytesInText: ["x'00ff'"]], distinct: texts),
        .anyValues: ColumnType(
            sql: "ANY", values: ["'text'", "'12'", "'b'", "'no'"], specials: [.textInNumber: ["12"], .bytesInText: ["x'414243'"]], distinct: texts),
    ]

    /// The types that a STRICT table may have.
    static let strictTypes: Set<DatabaseFeature> = [.integers, .reals, .texts, .blobs, .anyValues]
}
