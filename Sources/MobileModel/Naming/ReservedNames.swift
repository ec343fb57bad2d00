/// Names that generated code, the runtime or the local database use for themselves.
package enum ReservedNames {
    /// Words of the language: each use as a name, in the application as well, needs backticks, so that a model cannot have a member of such a name.
    package static let keywords: Set<String> = [
        "Any", "as", "associatedtype", "await", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do", "else", "enum",
        "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let",
        "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat", "rethrows", "return", "self", "Self", "static", "struct",
        "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias", "var", "where", "while",
    ]

    /// Words with a meaning at some places of the language only: names as others, but generated code writes them in backticks, because it uses
    /// names at such places.
    static let contextualKeywords: Set<String> = [
        "actor", "any", "async", "borrowing", "consuming", "convenience", "dynamic", "package", "some", "unowned", "weak",
    ]

    /// Members of the runtime's entities, and words that cannot be a member's name even in backticks.
    static let members: Set<String> = [
        "addSubscription", "attributeChanged", "badValue", "bigBinary", "bigString", "call", "cancelPending", "cancelPendingOperations",
        "children", "Columns", "columns", "conflict", "context", "convert", "copyAll", "countWithQuery", "create", "cursor", "debugDescription",
        "decode", "decodeNullableObjects", "decodeObject", "decodeObjects", "deferredOperations", "delete", "description", "downloadState",
        "encode", "encoded", "encodedObject", "encodedObjects", "entity", "entityMetadata", "entityType", "find", "findAll", "findByPrimaryKey",
        "findWithQuery", "getInstance", "hash", "hashValue", "id", "isLoading", "isSavedForLargeValues", "json", "keyToString",
        "largeValue", "largeValueDatabase", "lastOperation", "list", "load", "logRecords", "metaData", "metadata", "newLogRecord",
        "object", "observe", "originalState", "package", "page", "pages", "parent", "parentObject", "perform", "Protocol", "query",
        "refresh", "registerCallbackHandler", "Relationships", "relationships", "removeSubscription", "save",
        "setAttribute", "setChildren", "setLargeValue", "setParent", "setValue", "state", "Stored", "stored", "submitPending",
        "submitPendingOperations", "subscriptions", "synchronizationParameters", "Type", "update", "value",
    ]

    /// Methods among ``members`` whose names attributes and relationships may have as well: the compiler knows a property from a method, and
    /// generated code calls none of these without naming the object.
    static let methods: Set<String> = [
        "call", "conflict", "copyAll", "cursor", "deferredOperations", "entity", "find", "findAll", "json", "keyToString", "largeValue", "list",
        "load",
        "logRecords", "object", "observe", "page", "pages", "parentObject", "refresh", "subscriptions", "synchronizationParameters", "value",
    ]

    /// Members of a package's database class.
    package static let packageMembers: Set<String> = [
        "addSubscription", "application", "asyncOnlineLogin", "beginOnlineLogin", "beginSynchronize", "cancelPendingObjects",
        "cancelPendingOperations", "changeLogs", "cleanAllData", "close", "closeConnection", "connectionProfile", "console", "countQuery",
        "createDatabase", "createIndex", "databaseExists", "databasePath", "debugSettings", "deferredOperations", "deleteChangeLogs",
        "deleteDatabase", "disableChangeLog", "disableSync", "dropIndex", "enableChangeLog", "enableSync", "enableTrace", "entity",
        "entityClasses", "environment", "events", "executeQuery", "forget", "hasPendingOperations", "indexes", "init", "isChangeLogEnabled",
        "isStorageSpaceLow", "isSubscribed", "isSynchronized", "keyGenerator", "keysWithLogRecords", "lastSynchronization", "localKeyGenerator",
        "logger", "loginToSync", "logRecords", "lostOperations", "lowStorageLimit", "message", "metadata", "modelJSON", "newLogRecord", "observe",
        "offlineLogin", "onlineLogin", "open", "openConnection", "personalization", "personalizationParameters", "Protocol", "recover",
        "registerCallbackHandler", "removeSubscription", "resumeSubscription", "save", "self", "Self", "staleRows",
        "startBackgroundSynchronization", "stopBackgroundSynchronization", "store", "submitAgain", "submitLogRecords", "submitPendingOperations",
        "subscribe", "subscriptions", "suspendSubscription", "synchronizationGroup", "synchronizationGroups", "synchronizationProfile",
        "synchronize", "syncProfile", "takeChangeLogs", "transaction", "Type", "unsubscribe", "vacuumDatabase",
    ]

    /// Attributes of the runtime that dynamic queries can use; a modelled attribute cannot have such a name.
    package static let queryAttributes: Set<String> = [
        "surrogateKey", "pending", "isPending", "isNew", "isDirty", "isCreated", "isUpdated", "isDeleted", "pendingChange", "replayCounter",
        "replayPending", "replayFailure", "disableSubmit", "hasLogRecords", "searchRelevance",
    ]

    /// Columns that every table of the local database has; object SQL may name them.
    static let stateColumns: Set<String> = ["_sk", "_pc", "_rc", "_rp", "_rf", "_ra"]

    /// Types that generated code refers to; a class of that name would hide them.
    package static let types: Set<String> = [
        "Any", "AnyObject", "Array", "AsyncSequence", "AttributeMetadata", "AttributeValue", "BigBinary", "BigString", "Bool",
        "ByteCount", "CallbackHandler", "Character", "Children", "Codable", "Column", "Columns", "ConnectionProfile", "Data", "Database",
        "Date", "Decimal", "Dictionary", "Double", "Entity", "EntityList", "EntityMetadata", "EntitySet", "EntityState", "Environment", "Error",
        "Float", "GenericEntity", "Hashable", "Int", "Int16", "Int32", "Int64", "Int8", "KeyGenerator", "LargeValue", "LocalDate",
        "LocalTime", "LogRecord", "MobileModel", "MobileObjects", "MobileStore", "MobileSync", "ModelledEntity", "Never", "ObjectError",
        "Operation", "Optional", "OutboxRecord", "PackageDatabase", "PackageMetadata", "PackageModel", "PendingChange",
        "PersonalizationParameters", "Protocol", "Query", "QueryableEntity", "Relationship", "Relationships", "Result", "Row", "RowPage",
        "SavableEntity", "Self", "Sendable", "Sequence", "Set",
        "String",
        "Structure", "SubscribableEntity", "Subscription", "SubscriptionParameters", "Swift", "Type", "UInt8", "UUID", "Value", "Void",
    ]

    /// Types that each generated class of an object has inside, so that another one of that name would not be found there.
    package static let nestedTypes: Set<String> = ["Package"]

    /// Names of generated parameters of finders; a query's parameter of that name would be a duplicate.
    static let finderParameters: Set<String> = ["package", "skip", "sortedBy", "take"]

    /// Personalization keys that every package has: the session's user.
    static let personalizationKeys: Set<String> = ["username", "password"]

    /// Members of a generated set of synchronization parameters in addition to the modelled ones, including those of the older interface, and
    /// words that cannot be a property's name even in backticks.
    static let parameterProperties: Set<String> = [
        "hash", "hashValue", "parameters", "Protocol", "save", "size", "Type", "user", "values",
    ]

    /// Functions that generated methods of operations call; an argument of that name would hide them.
    static let operationArguments: Set<String> = ["encoded", "encodedObject", "encodedObjects", "perform"]
}
