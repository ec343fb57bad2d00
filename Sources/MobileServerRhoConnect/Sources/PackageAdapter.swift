public import MobileServer

/// Gets an object: its id and attributes.
typealias ObjectVisit = (_ id: String, _ attributes: [String: String]) throws -> Void

/// An adapter whose objects need not be in memory at one time.
protocol VisitingAdapter {
    /// Visits the objects of a query. One that comes several times has the same attributes each time.
    func forEachObject(user: String, parameters: [String: String], _ visit: ObjectVisit) throws
}

/// An object of a package as the adapter of a source: clients see the rows of the back end that the user may see, and change them by the operations of the
/// model, each once.
struct PackageAdapter: RhoConnectAdapter, VisitingAdapter {
    private let object: FaceObject

    init(_ object: FaceObject) { self.object = object }

    func login(user: String) throws { try explaining { try object.prepareChanges() } }

    func forEachObject(user: String, parameters: [String: String], _ visit: ObjectVisit) throws {
        try explaining { try object.forEachRow(of: user, parameters: parameters, visit) }
    }

    func query(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        var objects: [String: [String: String]] = [:]
        try forEachObject(user: user, parameters: parameters) { objects[$0] = $1 }
        return objects
    }

    /// Returns the rows whose attributes have the values of the parameters; an unknown attribute finds nothing.
    func search(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        var found: [String: [String: String]] = [:]
        try forEachObject(user: user, parameters: [:]) { id, values in
            if parameters.allSatisfy({ values[$0.key] == $0.value }) { found[id] = values }
        }
        return found
    }

    func change(_ change: RhoConnectChange) throws -> String? {
        let kind: FaceObject.Change.Kind =
            switch change.kind {
            case .create: .create
            case .update: .update
            case .delete: .delete
            }
        return try explaining {
            try object.apply(
                FaceObject.Change(kind, row: change.object, values: change.attributes, client: "rhoconnect-" + change.upload, number: change.number),
                user: change.user)
        }
    }

    private func explaining<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch let refusal as FaceObject.Refusal { throw RhoConnectAdapterError(refusal.message) }
    }
}

extension RhoConnectServer {
    /// Returns a source for each synchronized object of the server's packages, under the object's name.
    ///
    /// Ids of objects are the keys of their rows, and values are texts: numbers and truth values as in JSON, dates and times as in ISO 8601. Attributes
    /// without a value are absent. Large attributes are left out. An object whose rows depend on the user is a source of the partition `user`, others are
    /// in `app`. Sources are property bags; references to other objects are their ``RhoConnectSource/belongsTo``. Change the sources before the face gets
    /// them to set other schemas and times.
    ///
    ///     let server = try MobileServer(configuration)
    ///     let face = try RhoConnectServer(server, sources: RhoConnectServer.sources(of: server))
    /// - Throws: `ServerError` for two packages with objects of one name.
    public static func sources(of server: MobileServer) throws -> [RhoConnectSource] {
        var sources: [RhoConnectSource] = []
        for object in server.faceObjects {
            guard !sources.contains(where: { $0.name == object.name }) else {
                throw ServerError(.configuration, "RhoConnect source \"\(object.name)\": several packages have an object of this name")
            }
            var source = RhoConnectSource(object.name, adapter: PackageAdapter(object))
            source.partition = object.dependsOnUser ? .user : .app
            source.belongsTo = object.references
            sources.append(source)
        }
        return sources
    }
}
