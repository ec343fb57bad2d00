internal import Worlds

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
    /// A name of a table gives classes that do not compile.
    case uncompilableNames
    /// One table that cannot be read or has names that the importer mixes up ends the whole command.
    case oneTableEndsAll
    /// A refusal names neither constraint nor column nor the rule of the trigger.
    case vagueRefusals
    /// Values beyond those of the type's attribute: they end the synchronization, or arrive as others.
    case infiniteValues, datesBeyond, endOfDay, fineNumbers
    /// The values that an enumeration allows are not in the model.
    case enumsUndocumented

    /// What the draw leaves out.
    func features(_ engine: Stores) -> Set<DatabaseFeature> {
        switch self {
        case .bytesUnseen: [.geometries, .points, .bytesInText]
        case .digitsInTypeNames: [.numberedEnums, .sizedArrays, .numberArrays, .ranges, .composites]
        case .defaultsDropped: [.constantDefault, .functionDefault, .functionKey]
        case .keysCountAsGenerated: [.descendingKey, .withoutRowID]
        case .ownTablesVanish: [.tableMobile]
        case .uncompilableNames: [.tablePackages, .tableAny]
        case .oneTableEndsAll: [.hiddenTable, .hiddenColumn, .foreignCollation, .caseOnlyColumns, .columnTrue]
        case .vagueRefusals, .enumsUndocumented: []
        case .infiniteValues: [.infiniteNumber, .infiniteTime, .notANumber]
        case .datesBeyond: [.beforeChrist, .farFuture]
        case .endOfDay: [.endOfDay]
        case .fineNumbers: [.fineNumbers]
        }
    }
}
