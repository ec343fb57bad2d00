public import MobileStore

/// One message about a synchronization, a login or a search. RhoConnect: `RhoConnectNotify`.
public struct RhoConnectNotify: Sendable, Hashable {
    /// The state that a notification reports. RhoConnect: `status`.
    public struct Status: RawRepresentable, Hashable, Sendable {
        /// The documented text.
        public let rawValue: String
        /// Makes a status; `schema-changed`, as the documents write it, is the same as `schema_changed`.
        public init(rawValue: String) { self.rawValue = rawValue == "schema-changed" ? "schema_changed" : rawValue }

        /// A page was applied, or a step of the work was reached.
        public static let inProgress = Status(rawValue: "in_progress")
        /// One model is complete.
        public static let ok = Status(rawValue: "ok")
        /// All models are complete, also when some of them ended with an error.
        public static let complete = Status(rawValue: "complete")
        /// The work failed, or the server's application reported errors.
        public static let error = Status(rawValue: "error")
        /// The server's schema of a model has changed: rebuild and load again.
        public static let schemaChanged = Status(rawValue: "schema_changed")
    }

    /// The kind of synchronization. RhoConnect: `sync_type`.
    public enum SyncType: String, Sendable {
        /// Page by page.
        case incremental
        /// By a database file of the server.
        case bulk
    }

    /// The stage of a bulk synchronization. RhoConnect: `bulk_status`.
    public enum BulkStatus: String, Sendable {
        /// It begins; for a partition, the file is requested.
        case start
        /// The file is being downloaded.
        case download
        /// Its rows are being taken over.
        case changeDatabase = "change_db"
        /// The partition is done.
        case ok
        /// BLOB attributes are being downloaded.
        case blobs
        /// All partitions and BLOBs are done.
        case complete
        /// BLOBs could not be downloaded.
        case error
    }

    /// The state. Nil in the notification of a login, which has only a code and a message. RhoConnect: `status`.
    public var status: Status?
    /// The kind of synchronization. RhoConnect: `sync_type`.
    public var syncType = SyncType.incremental
    /// The local id of the model; nil where no single model is concerned. RhoConnect: `source_id`.
    public var sourceID: Int?
    /// The name of the model, such as `Product`. RhoConnect: `source_name`.
    public var sourceName: String?
    /// The number of objects that the server has for this model. RhoConnect: `total_count`.
    public var totalCount = 0
    /// The number of objects on the page that was just applied. RhoConnect: `processed_count`.
    public var processedCount = 0
    /// The number of objects processed so far in this synchronization of the model. RhoConnect: `cumulative_count`.
    public var cumulativeCount = 0
    /// The code of a failure; ``RhoConnectErrorCode/none`` otherwise. RhoConnect: `error_code`.
    public var errorCode = RhoConnectErrorCode.none
    /// The server's text, or a description of the failure; empty without one. RhoConnect: `error_message`.
    public var errorMessage = ""
    /// The errors of the server's application. In the result of a blocking call: all those of the run. RhoConnect: `server_errors`.
    public var serverErrors = RhoConnectServerErrors()
    /// The partition of a bulk synchronization; nil outside of one, and for all partitions. RhoConnect: `partition`.
    public var partition: RhomModel.Partition?
    /// The stage of a bulk synchronization. RhoConnect: `bulk_status`.
    public var bulkStatus: BulkStatus?
    /// The text that was given with the callback; empty without one. RhoConnect: `callback_params`.
    public var callbackParameters = ""

    /// Makes a notification; for tests of applications.
    public init(status: Status? = nil) { self.status = status }

    /// Whether the server refused new objects: the application must call ``RhoConnectClient/onCreateError(_:action:)``.
    /// RhoConnect: `hasCreateErrors`.
    public var hasCreateErrors: Bool { !serverErrors.create.isEmpty }
    /// Whether the server refused changes. RhoConnect: `hasUpdateErrors`.
    public var hasUpdateErrors: Bool { !serverErrors.update.isEmpty }
    /// Whether the server refused deletions. RhoConnect: `hasDeleteErrors`.
    public var hasDeleteErrors: Bool { !serverErrors.delete.isEmpty }
    /// Whether the server does not know this client: call ``RhoConnectClient/databaseClientReset()``, then synchronize again.
    /// RhoConnect: `isUnknownClientError`.
    public var isUnknownClientError: Bool { RhoConnectError(errorCode, errorMessage).isUnknownClient }
}

/// The errors that a page of the server brought, by kind and object.
public struct RhoConnectServerErrors: Sendable, Hashable {
    /// The refusal of one object.
    public struct Refusal: Sendable, Hashable {
        /// The model of the object.
        public var sourceName: String
        /// The object's id; that of a refused create is temporary.
        public var object: String
        /// The text of the server's application.
        public var message: String
        /// The attributes that were sent; empty if the server did not echo them.
        public var attributes: [String: String]

        /// Makes a refusal; for tests of applications.
        public init(sourceName: String, object: String, message: String, attributes: [String: String]) {
            (self.sourceName, self.object, self.message, self.attributes) = (sourceName, object, message, attributes)
        }

        /// The object and its model.
        fileprivate struct Place: Hashable { let sourceName: String, object: String }
        fileprivate var place: Place { Place(sourceName: sourceName, object: object) }
    }

    /// Refused creates. RhoConnect: `create-error`.
    public var create: [Refusal] = []
    /// Refused updates. RhoConnect: `update-error`.
    public var update: [Refusal] = []
    /// Refused deletions. RhoConnect: `delete-error`.
    public var delete: [Refusal] = []
    /// The server's values of objects whose update it refused. RhoConnect: `update-rollback`.
    public var rollback: [Refusal] = []
    /// Failures of the whole source by their names: `query-error`, `login-error`, `logoff-error`, `search-error`.
    public var source: [String: String] = [:]

    /// Makes an empty list.
    public init() {}

    /// Whether there is no error.
    public var isEmpty: Bool { create.isEmpty && update.isEmpty && delete.isEmpty && source.isEmpty }

    /// Adds the errors of a later page. An object has one refusal of each kind, the newer one; that of an update names the attributes of both, because neither
    /// update is on the server. The server's values come from the newer refusal alone.
    mutating func add(_ later: RhoConnectServerErrors) {
        let older = Dictionary(update.map { ($0.place, $0.attributes) }) { $1 }
        let lists = [
            (\RhoConnectServerErrors.create, later.create), (\.update, later.update), (\.delete, later.delete),
            (\.rollback, later.update + later.rollback),
        ]
        for (list, newer) in lists where !newer.isEmpty {
            let places = Set(newer.map(\.place))
            self[keyPath: list].removeAll { places.contains($0.place) }
        }
        create += later.create
        update += later.update.map { refusal in
            var refusal = refusal
            refusal.attributes.merge(older[refusal.place] ?? [:]) { new, _ in new }
            return refusal
        }
        delete += later.delete
        rollback += later.rollback
        source.merge(later.source) { $1 }
    }
}

extension RhoConnectServerErrors {
    /// The errors in the documented form: `{"create-error":{"tmp1":{"message":"no title","attributes":{"price":"1"}}}}`.
    public var json: JSONValue {
        var members: [(key: String, value: JSONValue)] = []
        func refusals(_ key: String, _ list: [Refusal], withMessage: Bool = true) {
            guard !list.isEmpty else { return }
            let objects = Dictionary(list.map { ($0.object, $0) }) { $1 }.sorted { $0.key < $1.key }
            members.append((key, .object(JSONObject(uniqueKeys: objects.map { ($0.key, $0.value.json(withMessage: withMessage)) }))))
        }
        refusals("create-error", create)
        refusals("update-error", update)
        refusals("update-rollback", rollback, withMessage: false)
        refusals("delete-error", delete)
        for (key, message) in source.sorted(by: { $0.key < $1.key }) { members.append((key, ["message": .string(message)])) }
        return .object(JSONObject(uniqueKeys: members))
    }
}

extension RhoConnectServerErrors.Refusal {
    fileprivate func json(withMessage: Bool) -> JSONValue {
        let attributes = JSONObject(uniqueKeys: attributes.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
        var members: [(key: String, value: JSONValue)] = withMessage ? [("message", .string(message))] : []
        if !attributes.isEmpty { members.append(("attributes", .object(attributes))) }
        return .object(JSONObject(uniqueKeys: members))
    }
}
