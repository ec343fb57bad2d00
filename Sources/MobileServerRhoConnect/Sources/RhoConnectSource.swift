public import Foundation

/// The application's side of one source: reads objects from a back end, and does the changes of clients on it. RhoConnect: a source adapter.
///
/// All values are texts. Errors that the methods throw are reported to clients; their text is that of ``RhoConnectAdapterError``, or a description of any
/// other error. Methods are called from several threads at a time, and may block. A change may come a second time when the process ended before its result
/// was stored: an adapter that must not do it twice implements ``change(_:)``, which has its identity.
public protocol RhoConnectAdapter: Sendable {
    /// Begins the work for a user. A thrown error is reported as `login-error`; queued changes of that user are dropped.
    func login(user: String) throws
    /// Ends the work for a user. A thrown error is reported as `logoff-error`.
    func logoff(user: String) throws
    /// Returns all objects: ids with their attributes. RhoConnect: `query`.
    /// - Parameters:
    ///   - user: the user of the session.
    ///   - parameters: those of the client's query, `query[name]=value`.
    func query(user: String, parameters: [String: String]) throws -> [String: [String: String]]
    /// Returns the objects that a search finds. RhoConnect: `search`.
    func search(user: String, parameters: [String: String]) throws -> [String: [String: String]]
    /// Does a change. The default calls ``create(user:attributes:)``, ``update(user:object:attributes:)`` or ``delete(user:object:attributes:)``.
    /// - Returns: the id of a created object; nil for other changes, and when the system does not give one.
    func change(_ change: RhoConnectChange) throws -> String?
    /// Creates an object. RhoConnect: `create`.
    /// - Returns: the id; nil when the system does not give one.
    func create(user: String, attributes: [String: String]) throws -> String?
    /// Changes attributes of an object. RhoConnect: `update`.
    func update(user: String, object: String, attributes: [String: String]) throws
    /// Deletes an object. RhoConnect: `delete`.
    func delete(user: String, object: String, attributes: [String: String]) throws
    /// Stores a file, and returns the value of its attribute, such as a URL. RhoConnect: `store_blob`.
    func storeBlob(user: String, attribute: String, object: String, content: [UInt8]) throws -> String
    /// Returns a text for the clients about this source; nil for none. RhoConnect: `metadata`.
    func metadata(user: String) throws -> String?
}

extension RhoConnectAdapter {
    /// Does nothing.
    public func login(user: String) throws {}
    /// Does nothing.
    public func logoff(user: String) throws {}
    /// Returns the objects of a query with the parameters.
    public func search(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        try query(user: user, parameters: parameters)
    }
    /// Calls the method of the change's kind.
    public func change(_ change: RhoConnectChange) throws -> String? {
        switch change.kind {
        case .create: return try create(user: change.user, attributes: change.attributes)
        case .update: try update(user: change.user, object: change.object, attributes: change.attributes)
        case .delete: try delete(user: change.user, object: change.object, attributes: change.attributes)
        }
        return nil
    }
    /// Refuses.
    public func create(user: String, attributes: [String: String]) throws -> String? { throw RhoConnectAdapterError("create is not supported") }
    /// Refuses.
    public func update(user: String, object: String, attributes: [String: String]) throws { throw RhoConnectAdapterError("update is not supported") }
    /// Refuses.
    public func delete(user: String, object: String, attributes: [String: String]) throws { throw RhoConnectAdapterError("delete is not supported") }
    /// Refuses.
    public func storeBlob(user: String, attribute: String, object: String, content: [UInt8]) throws -> String {
        throw RhoConnectAdapterError("files are not supported")
    }
    /// Returns nil.
    public func metadata(user: String) throws -> String? { nil }
}

/// A change that a client has uploaded.
public struct RhoConnectChange: Sendable, Hashable {
    /// The effect.
    public enum Kind: String, Sendable {
        /// A new object.
        case create
        /// Other values of some attributes.
        case update
        /// An object's end.
        case delete
    }

    /// The effect.
    public let kind: Kind
    /// The user of the client.
    public let user: String
    /// The object; of a new one the temporary id that its client gave.
    public let object: String
    /// The values: all of a new object, the changed ones, or those that the client had before it deleted the object.
    public let attributes: [String: String]
    /// The upload that the change came with: a random text.
    let upload: String
    /// The position in the upload from its end, from 1.
    let number: Int64

    /// A text that no other change has. A change that comes again has the same.
    public var id: String { "\(upload)-\(number)" }
}

/// An error whose text goes to the client.
public struct RhoConnectAdapterError: Error, Sendable, Hashable {
    /// The text.
    public let message: String
    /// Makes an error.
    public init(_ message: String) { self.message = message }
}

extension RhoConnectAdapterError: LocalizedError, CustomStringConvertible {
    public var description: String { message }
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy; only the adapter's author knows more.
    public var recoverySuggestion: String? { "Read the message, which is the adapter's; correct the object, or repeat later." }
}

/// A source: its adapter and its settings.
public struct RhoConnectSource: Sendable {
    /// The data that clients share.
    public enum Partition: String, Sendable {
        /// Each user has data of his own.
        case user
        /// All users see the same data.
        case app
    }

    /// The way of the data to clients. RhoConnect: `sync_type`.
    public enum SyncType: String, Sendable {
        /// By pages, and by bulk files when a client asks for one.
        case incremental
        /// By bulk files; a query of such a source sends everything.
        case bulkOnly = "bulk_sync_only"
    }

    /// The name in URLs and messages.
    public var name: String
    /// The application's side.
    public var adapter: any RhoConnectAdapter
    /// The number of seconds between two queries of the adapter; default 300, 0: at every query of a client, -1: never by itself.
    public var pollInterval = 300
    /// The data that clients share; default ``Partition/user``.
    public var partition = Partition.user
    /// Whether the server keeps no copy of the data; default `false`.
    public var isPassThrough = false
    /// The columns of a fixed schema; nil (default): a property bag.
    public var schema: RhoConnectSchema?
    /// The way of the data to clients; default ``SyncType/incremental``.
    public var syncType = SyncType.incremental
    /// The order of the sources in bulk files, low numbers first; default 3.
    public var priority = 3
    /// The attributes that hold ids of other sources' objects: attributes with the names of these sources. Default none. RhoConnect: `belongs_to`.
    public var belongsTo: [String: String] = [:]

    /// Makes a source.
    public init(_ name: String, adapter: any RhoConnectAdapter) {
        self.name = name
        self.adapter = adapter
    }
}

extension RhoConnectSource {
    /// The owner of the data in the state: the user, or the application.
    func owner(_ user: String) -> String { partition == .user ? "user:" + user : "app" }
}

/// The text of an error for clients.
func adapterText(_ error: any Error) -> String { (error as? RhoConnectAdapterError)?.message ?? "\(error)" }
