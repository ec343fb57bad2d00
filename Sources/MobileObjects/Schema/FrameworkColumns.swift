import MobileStore

// The codecs of the framework's own tables, one per table: see ``FrameworkTables`` for their content.

enum SettingColumn: String, StoredColumn {
    static let table = "_settings"
    case value
}

enum PersonalizationColumn: String, StoredColumn {
    static let table = "_personalization"
    case value
}

enum OutboxColumn: String, StoredColumn {
    static let table = "_outbox"
    case id
    case entity
    case key = "sk"
    case change
    case operation
    case batch
    case attributes
    case primaryKey = "primary_key"
    case references = "refs"
    case parameters
    case submitted
    case changed
    case isImported = "imported"
    case digest
    case original
    case follows
    case deferrals
    case deferredCode = "deferred_code"
    case deferredMessage = "deferred_message"
    case nextTry = "next_try"
    case client
}

/// The contents of accepted operations.
enum AcceptedColumn: String, StoredColumn {
    static let table = "_accepted"
    case id
    case client
    case entity
    case key = "sk"
    case change
    case operation
    case attributes
    case primaryKey = "primary_key"
    case references = "refs"
    case parameters
    case accepted
}

enum OutboxLargeValueColumn: String, StoredColumn {
    static let table = "_outbox_large"
    case attribute
    case value
    case original
}

enum BasisColumn: String, StoredColumn {
    static let table = "_basis"
    case entity
    case key = "sk"
    case original
    case follows
    case row
}

enum LogRecordColumn: String, StoredColumn, CaseIterable {
    static let table = FrameworkTables.logRecords
    case messageID = "message_id"
    case level
    case code
    case eisCode = "eis_code"
    case message
    case component
    case entityKey = "entity_key"
    case operation
    case requestID = "request_id"
    case timestamp
    case origin
    /// Computed from `origin` and `state`.
    case isSettled = "is_settled"
}

enum ChangeLogColumn: String, StoredColumn, CaseIterable {
    static let table = "_change_log"
    case entityType = "number of the entity"
    case entity
    case key = "sk"
    case change
    case rootEntityType = "number of the root"
    case rootEntity = "root_entity"
    case rootKey = "root_sk"
}

enum SubscriptionColumn: String, StoredColumn {
    static let table = "_subscription"
    case id
    case entity
    case parameters
}

enum GroupColumn: String, StoredColumn {
    static let table = "_group"
    case name
    case token
    case synchronized
    case records
}

enum KeyRangeColumn: String, StoredColumn {
    static let table = "_key_range"
    case first
    case last
}

/// The columns of an object's table in addition to its content, and those of its original-state table.
enum StateColumn: String, StoredColumn {
    static let table = "of an object"
    case key = "_sk"
    case change = "_pc"
    case counter = "_rc"
    case submitted = "_rp"
    case failed = "_rf"
    case accepted = "_ra"
    case server = "_sv"
    case isImported = "_im"
    case serverCounter = "_sc"
    case operation = "_on"
    case parameters = "_pa"
    case firstChange = "_fc"
    case changed = "_ch"

    static let marks: [StateColumn] = [.change, .counter, .submitted, .failed, .accepted]
    /// The columns in the order of ``EntitySQL/selectOriginal``.
    static let original = marks + [.server, .isImported, .serverCounter, .operation, .parameters, .firstChange]
}

extension StoredRow {
    /// Returns the JSON object in a column.
    func object(_ column: Column) throws -> JSONObject {
        let text = try text(column)
        guard let object = try? JSONValue(parsing: text).object else { throw damaged(column, .text(text), "a JSON object") }
        return object
    }
}
