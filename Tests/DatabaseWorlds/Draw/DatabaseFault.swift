/// Faults that are known and not repaired yet. A database that avoids one leaves out what leads to it, or is not judged by the rule that it breaks;
/// `Found` has a database of each. A repair removes its case here, and with it what the draw leaves out.
package enum DatabaseFault: String, CaseIterable, Codable, Sendable {
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
    /// Rows of SQLite with a key of bytes cannot be changed; new ones are there twice; their large values do not arrive.
    case bytesInKeys
    /// A column of SQLite without a type is one of bytes: texts that a device writes become bytes, and keys are not found.
    case untypedColumns
    /// A time that a device writes to SQLite has another text than those of other applications: keys, references, checks, triggers and computed columns see that.
    case textOfTimes
    /// The name of a relationship that is made of two long names is longer than the model's own check allows, which ends the whole command.
    case longNames
    /// A change of an identity that the database allows is accepted and lost.
    case madeValuesNotWritten

    /// The features that the draw leaves out.
    package func features(_ engine: DatabaseEngine) -> Set<DatabaseFeature> {
        switch self {
        case .digitsInTypeNames: [.numberedEnums, .sizedArrays, .numberArrays, .ranges, .composites]
        case .defaultsDropped: [.constantDefault, .functionDefault, .functionKey]
        case .keysCountAsGenerated: [.descendingKey, .withoutRowID]
        case .ownTablesVanish: [.tableMobile]
        case .uncompilableNames: [.tablePackages]
        case .hidingNames: [.tableAny]
        case .oneTableEndsAll: [.hiddenTable, .hiddenColumn, .foreignCollation, .caseOnlyColumns, .columnTrue]
        case .untypedColumns: [.untyped]
        // Rules of the draw and of the judgement.
        case .vagueRefusals, .enumsUndocumented, .bytesInKeys, .textOfTimes, .madeValuesNotWritten, .longNames: []
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
