/// The observed objects that one page changed. RhoConnect: `RhoConnectObjectNotify`.
public struct RhoConnectObjectNotify: Sendable, Hashable {
    /// One object of one model.
    public struct Object: Sendable, Hashable {
        /// The object's id. RhoConnect: `object`.
        public let object: String
        /// The local id of its model. RhoConnect: `source_id`.
        public let sourceID: Int

        /// Makes the name of an object.
        public init(object: String, sourceID: Int) {
            self.object = object
            self.sourceID = sourceID
        }
    }

    /// The objects that no longer exist. RhoConnect: `deleted_objects`.
    public internal(set) var deletedObjects: [Object] = []
    /// The objects with new values. RhoConnect: `updated_objects`.
    public internal(set) var updatedObjects: [Object] = []
    /// The objects that the server confirmed, under their temporary ids: observe the new id from now on. RhoConnect: `created_objects`.
    public internal(set) var createdObjects: [Object] = []

    /// The models of ``deletedObjects``, in the same order. RhoConnect: `deleted_source_ids`.
    public var deletedSourceIDs: [Int] { deletedObjects.map(\.sourceID) }
    /// The models of ``updatedObjects``, in the same order. RhoConnect: `updated_source_ids`.
    public var updatedSourceIDs: [Int] { updatedObjects.map(\.sourceID) }
    /// The models of ``createdObjects``, in the same order. RhoConnect: `created_source_ids`.
    public var createdSourceIDs: [Int] { createdObjects.map(\.sourceID) }

    /// Whether no observed object changed.
    var isEmpty: Bool { deletedObjects.isEmpty && updatedObjects.isEmpty && createdObjects.isEmpty }
}
