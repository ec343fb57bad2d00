import MobileStore

// The codecs of the tables of the server's state; see ``StateTables`` for their contents.

enum PackageColumn: String, StoredColumn {
    static let table = "_package"
    case id
    case name
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
    /// The version of the last change.
    case version
    case isLoaded = "is_loaded"
    /// The era of the version.
    case era
    /// The name of the partition in tokens.
    case digest
    /// The time of the last request, to a day.
    case used
    /// See ``RefreshMark``.
    case mark
    /// The time of the last comparison of all rows.
    case compared
}

enum QuarantineColumn: String, StoredColumn, CaseIterable {
    static let table = "_quarantine"
    case name
    case rowKey = "row_key"
    /// The table of the back end.
    case source
    /// The column of the back end.
    case place
    case attribute, value, expected, noted
}

enum ClientColumn: String, StoredColumn {
    static let table = "_client"
    case client
    case user = "user_name"
    case state
    /// The name of the package, from a join.
    case package = "name"
}

enum UserColumn: String, StoredColumn {
    static let table = "_user"
    case name
    case verifier
    case isLocked = "locked"
    /// Computed by the query that lists users.
    case devices
    case sessions
}

enum DeviceColumn: String, StoredColumn {
    static let table = "_device"
    case application
    case device
    case user = "user_name"
    case registered
    case isLocked = "locked"
}

enum SessionColumn: String, StoredColumn {
    static let table = "_session"
    case token
    case user = "user_name"
    case application
    case device
    case began
    case used
}

enum InquiryColumn: String, StoredColumn {
    static let table = "_inquiry"
    case inquiry
}

enum DomainLogColumn: String, StoredColumn, CaseIterable {
    static let table = "_domain_log"
    case application
    case device
    case user = "user_name"
    case package
    case name
    case text
    case received
}

enum TraceColumn: String, StoredColumn, CaseIterable {
    static let table = "_trace"
    case passport
    case application
    case device
    case user = "user_name"
    case document
    case received
}

/// The list of the log tables.
enum LogTableListColumn: String, StoredColumn {
    static let table = "_log_table"
    case name
    case package
    /// The name of the package, from a join.
    case packageName
    case rows = "row_count"
    case retention
}

/// The columns of the log tables, which are the same for all of them.
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

    /// The columns that a client receives.
    static let entry = Array(allCases.prefix(11))
}
