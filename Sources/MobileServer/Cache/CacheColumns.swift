import MobileStore

// The codecs of the cache's own tables: see ``CacheSchema`` for what is in them.

enum PackageColumn: String, StoredColumn {
    static let table = "_package"
    case id
    case epoch
}

enum ObjectColumn: String, StoredColumn {
    static let table = "_object"
    case id
    case name
    case shape
}

enum PartitionColumn: String, StoredColumn {
    static let table = "_partition"
    case id
    /// The version of the last load; 0 before the first.
    case loaded
}

enum ClientColumn: String, StoredColumn {
    static let table = "_client"
    case user
    case state
}

/// Of the log tables, which all have the same columns.
enum LogTableColumn: String, StoredColumn, CaseIterable {
    static let table = "of log records"
    case messageID = "message_id"
    case level = "log_level"
    case code
    case eisCode = "eis_code"
    case message
    case component
    case entityKey = "entity_key"
    case operation
    case requestID = "request_id"
    case timestamp = "log_timestamp"
    case isDeleted = "LOGICAL_DEL"
    case client
    case user = "log_user"
    case origin
    case stored

    /// What travels.
    static let entry = Array(allCases.prefix(11))
}
