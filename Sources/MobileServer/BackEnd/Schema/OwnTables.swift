/// The tables of a back end that belong to this server and to the trigger log.
enum OwnTables {
    static let names =
        [SQLOperationRecords.table, SQLOperationRecords.guardTable, SQLOperationRecords.eraTable, RecordEnds.table] + [
            "mobile_operation_number", TriggerLogName.captures, "mobile_change",
        ]

    /// The names as a list of SQL literals.
    static let list = names.map { "'\($0)'" }.joined(separator: ", ")
}
