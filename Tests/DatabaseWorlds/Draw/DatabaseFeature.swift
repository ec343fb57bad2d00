/// A part that a database may have, for the draw and for the table of pairs.
package enum DatabaseFeature: String, CaseIterable, Codable, Sendable, Comparable {
    // Types of both engines.
    case integers, bigIntegers, texts, varchars, characters, reals, doubles, numerics, decimals, booleans, dates, times, timestamps, blobs, json,
        uuids
    // Types of SQLite's files, which are names to it.
    case dateTimes, untyped, anyValues, geometries, points, money, unsigned, strings, smallBlobs
    // Types of PostgreSQL.
    case smallIntegers, enums, numberedEnums, domains, checkedDomains, arrays, sizedArrays, numberArrays, ranges, multiranges, binaryJSON,
        foldedTexts,
        intervals, zonedTimes, zonedTimestamps, networks, bits, names, xml, composites, singleCharacters, objectIDs, searchTexts, roundNumbers,
        fineNumbers,
        currency, shapes
    // Values.
    case nullValue, emptyText, longText, unicodeText, zeroByteText, bytesInText, textInNumber, fractionInInteger, textInTime, numberInTime,
        infiniteTime,
        infiniteNumber, notANumber, beforeChrist, farFuture, endOfDay, manyDigits, microseconds, emptyBytes
    // Columns.
    case nullableColumn, constantDefault, functionDefault, check, unique, storedColumn, virtualColumn, identityAlways, identityByDefault
    // Keys.
    case generatedKey, plainKey, typedKey, functionKey, compositeKey, noKey, nullKey, withoutRowID, strict, descendingKey, autoincrement
    // Tables.
    case emptyTable, laterRow, view, requiredReference, nullableReference, selfReference, forwardReference, compositeReference, uniqueReference,
        cascade,
        setNull, refusingTrigger, computingTrigger, partitions, inheritance, otherSchema, hiddenTable, hiddenColumn, foreignCollation
    // Names.
    case swiftWord, sqlWord, spaces, quotes, foreignLetters, caseOnlyTables, caseOnlyColumns, dots, marks, digitName, longName, memberName, stateName,
        tablePackages, tableAny, tableMobile, columnTrue

    package static func < (left: DatabaseFeature, right: DatabaseFeature) -> Bool { left.rawValue < right.rawValue }
}

extension DatabaseFeature {
    /// The features that databases of an engine may have.
    static func all(_ engine: DatabaseEngine) -> [DatabaseFeature] { allCases.filter { $0.isPossible(engine) } }

    private static let onlySQLite: Set<DatabaseFeature> = [
        .dateTimes, .untyped, .anyValues, .geometries, .points, .money, .unsigned, .strings, .smallBlobs, .zeroByteText, .bytesInText, .textInNumber,
        .fractionInInteger, .textInTime, .numberInTime, .nullKey, .withoutRowID, .strict, .descendingKey, .autoincrement, .virtualColumn,
        .foreignCollation,
    ]

    private static let onlyPostgreSQL: Set<DatabaseFeature> = [
        .smallIntegers, .enums, .numberedEnums, .domains, .checkedDomains, .arrays, .sizedArrays, .numberArrays, .ranges, .multiranges, .binaryJSON,
        .foldedTexts, .intervals, .zonedTimes, .zonedTimestamps, .networks, .bits, .names, .xml, .composites, .singleCharacters, .objectIDs,
        .searchTexts,
        .roundNumbers, .fineNumbers, .currency, .shapes, .infiniteTime, .notANumber, .beforeChrist, .farFuture, .identityAlways,
        .identityByDefault, .functionKey, .partitions, .inheritance, .otherSchema, .hiddenTable, .hiddenColumn, .caseOnlyColumns, .caseOnlyTables,
    ]

    func isPossible(_ engine: DatabaseEngine) -> Bool {
        !(engine == .sqlite ? Self.onlyPostgreSQL : Self.onlySQLite).contains(self)
    }
}
