internal import MobileExecution
internal import MobileStore

/// The attributes of one object by their names; objects that were read also have `object` (the id) and `source_id` (the model's local id).
public typealias RhomObject = [String: String]

/// A model: one data set on the server, and its objects on this device. RhoConnect: `RhomModel`.
///
///     let product = RhomModel("Product")
///     try client.addModels([product])
///     for item in try product.findAll(["brand": "Apple"]) { print(item["name"] ?? "") }
///
/// Every value is a text, as in the protocol; ``find(_:as:)`` and its twins convert to types of your own. A model belongs to one client.
public final class RhomModel: Sendable {
    /// The way in which a model is synchronized. RhoConnect: `sync_type`.
    public struct SyncType: RawRepresentable, Hashable, Sendable {
        /// The documented text.
        public let rawValue: String
        /// Makes a type; `bulk_sync_only`, as servers write it, is the same as `bulk_only`.
        public init(rawValue: String) { self.rawValue = rawValue == "bulk_sync_only" ? "bulk_only" : rawValue }

        /// Changes go up and come down page by page. RhoConnect: `RST_INCREMENTAL`.
        public static let incremental = SyncType(rawValue: "incremental")
        /// Data comes with a bulk synchronization only. RhoConnect: `RST_BULK_ONLY`.
        public static let bulkOnly = SyncType(rawValue: "bulk_only")
        /// The model exists on this device only.
        public static let none = SyncType(rawValue: "none")
    }

    /// The storage of a model. RhoConnect: `model_type`.
    public enum ModelType: Hashable, Sendable {
        /// Any attributes: one row per value. RhoConnect: `RMT_PROPERTY_BAG`.
        case propertyBag
        /// A table with the columns of a schema. RhoConnect: `RMT_PROPERTY_FIXEDSCHEMA`.
        case fixedSchema(RhomSchema)
    }

    /// The data that a model shares. RhoConnect: database partitions.
    public enum Partition: String, Sendable, CaseIterable {
        /// The data of one user.
        case user
        /// The data that all users of the application share.
        case app
        /// Data that is never synchronized.
        case local
    }

    /// The rules of a model that seldom differ from their defaults.
    public struct Options: Sendable, Hashable {
        /// The order of models in a synchronization, ascending; default 1000, so that the order of their declaration counts.
        public var priority = 1000
        /// The only attributes that are taken from the server; empty (default): all. RhoConnect: `freezed`.
        public var allowedAttributes: Set<String> = []
        /// The attributes of a property bag that are files, each with whether a new version replaces a local one. Default: none; attributes that arrive
        /// with the suffix `-rhoblob` are files without an entry here.
        public var blobAttributes: [String: BlobRule] = [:]
        /// Whether an update sends all attributes instead of the changed ones; default `false`. RhoConnect: `full_update`.
        public var sendsFullUpdates = false
        /// Whether the server keeps no copy of the data: every synchronization brings all of it; default `false`. RhoConnect: `pass_through`.
        public var isPassThrough = false

        /// Makes the default rules.
        public init() {}
    }

    /// The treatment of a file that the server sends again.
    public enum BlobRule: Sendable, Hashable {
        /// A local file is kept.
        case keeps
        /// It is downloaded in any case. RhoConnect: `overwrite`.
        case overwrites
    }

    /// The name of the source on the server. RhoConnect: `name`.
    public var name: String { definition.name }
    /// The way of synchronization. RhoConnect: `sync_type`.
    public var syncType: SyncType { definition.syncType }
    /// The storage. RhoConnect: `model_type`.
    public var modelType: ModelType { definition.modelType }
    /// Attributes that hold ids of objects of another model: attribute name to model name. The other model is synchronized first, and its new ids are
    /// written to the attribute. RhoConnect: `associations`.
    public var associations: [String: String] { definition.associations }
    /// The data that the model shares.
    public var partition: Partition { definition.partition }
    /// Further rules.
    public var options: Options { definition.options }

    /// The part of a model that its client keeps. The model keeps its client: a client that kept the model would never end, and its database would stay open.
    struct Definition: Sendable {
        let name: String
        let syncType: SyncType
        let modelType: ModelType
        let associations: [String: String]
        let partition: Partition
        let options: Options
    }

    let definition: Definition
    private let attachment = SystemLock<Attachment?>(nil)

    /// The client of a model, and its number there.
    struct Attachment: Sendable {
        let client: ClientCore
        let source: Source
    }

    /// Makes a model, which can be used after ``RhoConnectClient/addModels(_:)``.
    /// - Parameters:
    ///   - name: the name of the source on the server.
    ///   - syncType: the way of synchronization.
    ///   - modelType: the storage.
    ///   - associations: attribute names with the names of the models that they refer to.
    ///   - partition: the data that the model shares.
    ///   - options: further rules.
    public init(
        _ name: String, syncType: SyncType = .incremental, modelType: ModelType = .propertyBag, associations: [String: String] = [:],
        partition: Partition = .user, options: Options = Options()
    ) {
        definition = Definition(
            name: name, syncType: partition == .local ? .none : syncType, modelType: modelType, associations: associations, partition: partition,
            options: options)
    }

    /// The local id of the model; nil before ``RhoConnectClient/addModels(_:)``. RhoConnect: `source_id`.
    public var sourceID: Int? { attachment.withLock { $0?.source.id } }

    /// Binds the model to a client.
    /// - Throws: ``RhoConnectErrorCode/runtime`` for a model of another client.
    func attach(_ new: Attachment) throws(RhoConnectError) {
        let isFree = attachment.withLock { attachment in
            if let client = attachment?.client, client !== new.client { return false }
            attachment = new
            return true
        }
        if !isFree { throw RhoConnectError(.runtime, "model \"\(name)\" belongs to another client") }
    }

    /// The client and the number.
    /// - Throws: ``RhoConnectErrorCode/runtime`` before ``RhoConnectClient/addModels(_:)``.
    func attached() throws(RhoConnectError) -> Attachment {
        guard let attachment = attachment.withLock({ $0 }) else {
            throw RhoConnectError(.runtime, "model \"\(name)\" has no client: call addModels first")
        }
        return attachment
    }
}
