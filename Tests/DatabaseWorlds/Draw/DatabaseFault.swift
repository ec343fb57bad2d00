/// Faults that are known and not repaired yet. A database that avoids one leaves out what leads to it, or is not judged by the rule that it breaks;
/// `Found` has a database of each. A repair removes its case here, and with it what the draw leaves out.
package enum DatabaseFault: String, CaseIterable, Codable, Sendable {
    /// The importer does not look for bytes: a `GEOMETRY` is a string, a `POINT` a long, and a text column with bytes a string. No row of any table arrives.
    case bytesUnseen
    /// Digits in the name of a type are a length: `order_status_v2` is a string of 2 characters.
    case digitsInTypeNames
    /// Defaults of the database are not in the model, and new rows have nothing or an empty value in their place.
    case defaultsDropped
    /// An integer key of a table without a row number, or with a descending key, counts as generated.
    case keysCountAsGenerated
    /// A user's table whose name begins like those of the server is not in the model, and nothing says so.
    case ownTablesVanish
    /// A table `packages` gives classes that do not compile.
    case uncompilableNames
    /// A table `any` becomes a class whose name the model's own check refuses, which ends the whole command.
    case hidingNames
    /// One table that cannot be read, or two columns with one name in two cases of letters, end the whole command.
    case oneTableEndsAll
    /// A refusal names neither constraint nor column nor the rule of the trigger.
    case vagueRefusals
    /// The values that an enumeration allows are not in the model.
    case enumsUndocumented
    /// Infinity and NaN end the synchronization, or arrive as other values.
    case infiniteValues
    /// Dates before our era lose that, and dates beyond the year 9999 do not arrive.
    case datesBeyond
    /// The end of a day, 24:00, arrives as nothing.
    case endOfDay
    /// A `numeric(3,5)` loses digits.
    case fineNumbers
    /// The scale of a `numeric(5,-2)` is read without its sign, and its larger values end the synchronization.
    case roundNumbers
    /// Digits beyond the scale of a decimal are rounded away, although the importer has seen them.
    case digitsRounded
    /// A time with a zone arrives without the zone.
    case zonesLost
    /// A column of dates or times with other texts shows nothing in their place.
    case textsInTimes
    /// A row that is added later, and that its attributes cannot hold, ends each synchronization.
    case unfitRows
    /// Rows of SQLite with a key of bytes cannot be changed; new ones are there twice; their large values do not arrive.
    case bytesInKeys
    /// A column of SQLite without a type is one of bytes: texts that a device writes become bytes, and keys are not found.
    case untypedColumns
    /// A time that a device writes to SQLite has another text than those of other applications: keys, references, checks, triggers and computed columns see that.
    case textOfTimes
    /// The name of a relationship that is made of two long names is longer than the model's own check allows, which ends the whole command.
    case longNames
    /// A key with more digits than its attribute is rounded.
    case roundedKeys
    /// A change of an identity that the database allows is accepted and lost.
    case madeValuesNotWritten

    /// The features that the draw leaves out.
    package func features(_ engine: DatabaseEngine) -> Set<DatabaseFeature> {
        switch self {
        case .bytesUnseen: [.geometries, .points, .bytesInText]
        case .digitsInTypeNames: [.numberedEnums, .sizedArrays, .numberArrays, .ranges, .composites]
        case .defaultsDropped: [.constantDefault, .functionDefault, .functionKey]
        case .keysCountAsGenerated: [.descendingKey, .withoutRowID]
        case .ownTablesVanish: [.tableMobile]
        case .uncompilableNames: [.tablePackages]
        case .hidingNames: [.tableAny]
        case .oneTableEndsAll: [.hiddenTable, .hiddenColumn, .foreignCollation, .caseOnlyColumns, .columnTrue]
        case .infiniteValues: [.infiniteNumber, .infiniteTime, .notANumber]
        case .datesBeyond: [.beforeChrist, .farFuture]
        case .endOfDay: [.endOfDay]
        case .fineNumbers: [.fineNumbers]
        case .roundNumbers: [.roundNumbers]
        case .digitsRounded: [.manyDigits]
        case .zonesLost: [.zonedTimes]
        case .textsInTimes: [.textInTime]
        case .untypedColumns: [.untyped]
        // Rules of the draw and of the judgement.
        case .vagueRefusals, .enumsUndocumented, .unfitRows, .bytesInKeys, .textOfTimes, .roundedKeys, .madeValuesNotWritten, .longNames: []
        }
    }

    /// The types that keys do not have.
    func keys(_ engine: DatabaseEngine) -> Set<DatabaseFeature> {
        switch self {
        case .bytesInKeys: engine == .sqlite ? [.blobs, .smallBlobs] : []
        case .textOfTimes: engine == .sqlite ? [.timestamps, .dateTimes] : []
        default: []
        }
    }
}
