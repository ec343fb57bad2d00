internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The rows of one object that one set of synchronization parameters selects. Devices with equal parameters share it.
struct Partition: Sendable, Hashable {
    /// The partition's row in `_partition`.
    let id: Int64
    /// Name of the object.
    let object: String
    /// The values that are passed to the load, in the order of the object's parameters.
    let parameters: [Value]
    /// The name in tokens.
    let digest: String
    /// The position when the row was read.
    let position: PartitionPosition
    /// Whether the rows were loaded when the row was read.
    var isLoaded = false
    /// The time of the last request for it, to a day.
    var used: Int64 = 0

    /// Finds the partition's row; nil if there is none.
    static func find(_ parameters: PartitionParameters, objectID: Int64, in connection: any StateConnection) throws -> Partition? {
        let row = try connection.storedRow(
            PartitionState.columns + [.used], "WHERE object = ?1 AND parameters = ?2",
            [.integer(objectID), .text(parameters.text)])
        return try row.map { row in
            let state = try PartitionState(row)
            return Partition(
                id: state.partition, object: parameters.object, parameters: parameters.values, digest: try parameters.digest,
                position: state.position, isLoaded: state.isLoaded, used: try row.integer(.used))
        }
    }

    /// Returns the partition's row; creates it if necessary.
    /// - Parameter now: the time of the request.
    static func make(_ parameters: PartitionParameters, objectID: Int64, now: Int64, in connection: any StateConnection) throws -> Partition {
        if let partition = try find(parameters, objectID: objectID, in: connection) { return partition }
        let id = try connection.number(
            "INSERT INTO _partition (object, parameters, digest, used) VALUES (?1, ?2, ?3, ?4) RETURNING id",
            [.integer(objectID), .text(parameters.text), .text(try parameters.digest), .integer(now)])
        return Partition(
            id: id, object: parameters.object, parameters: parameters.values, digest: try parameters.digest,
            position: PartitionPosition(version: 0, era: ""), used: now)
    }
}

/// One set of synchronization parameters of one object, as its client has chosen it.
struct PartitionParameters: Sendable, Hashable {
    let object: String
    /// In the order of the object's parameters.
    let values: [Value]
    /// The values as JSON: equal sets have equal texts.
    let text: String

    /// The name of the partition in tokens.
    var digest: String { get throws { try Self.digest(object: object, parameters: text) } }

    /// Returns the sets of an object for one client: one per subscription. Each parameter takes the value of its personalization key (PER-07),
    /// otherwise the subscription's value, otherwise the model's default. Without any subscription, there is one set if every parameter gets a value
    /// in one of these ways (SUB-04), and no set otherwise. A parameter that is bound to an attribute of the user takes that attribute's values, one set
    /// per value.
    /// - Throws: ``RequestFailure`` for a parameter that the object does not have or that the client may not choose, and for a value that does not fit.
    static func sets(
        of object: ObjectPlan, subscriptions: [JSONObject]?, personalization: JSONObject, access: UserAccess
    ) throws(RequestFailure) -> [PartitionParameters] {
        var sets: [PartitionParameters] = []
        var known = Set<PartitionParameters>()
        let bound = try boundValues(of: object, access)
        // Looked up once: a client may have many subscriptions and many personalization keys.
        let personal = object.model.synchronizationParameters.map { $0.personalizationKey.flatMap { personalization[$0] } }
        for subscription in subscriptions ?? [JSONObject()] {
            for name in subscription.keys where !object.model.synchronizationParameters.contains(where: { $0.name == name }) {
                throw RequestFailure(.badRequest, "subscription of \"\(object.name)\": there is no synchronization parameter \"\(name.prefix(80))\"")
            }
            for parameter in object.model.synchronizationParameters where parameter.userAttribute != nil && subscription[parameter.name] != nil {
                throw RequestFailure(
                    .forbidden, "subscription of \"\(object.name)\": the server alone gives the parameter \"\(parameter.name)\" its values")
            }
            for values in bound {
                guard let set = try set(of: object, subscription, personal, values, isChosen: subscriptions != nil) else { continue }
                guard known.insert(set).inserted else { continue }
                sets.append(set)
                guard sets.count <= Subscriptions.limit else {
                    throw RequestFailure(
                        .badRequest, "subscriptions of \"\(object.name)\" and the user's attributes: more than \(Subscriptions.limit) sets of values")
                }
            }
        }
        return sets
    }

    /// Returns every combination of the values of the bound parameters, by their names; one without any for an object that has none.
    static func boundValues(of object: ObjectPlan, _ access: UserAccess) throws(RequestFailure) -> [[String: JSONValue]] {
        var combinations: [[String: JSONValue]] = [[:]]
        for parameter in object.model.synchronizationParameters where parameter.userAttribute != nil {
            let values = try access.values(of: parameter)
            guard combinations.count * values.count <= Subscriptions.limit else {
                throw RequestFailure(.forbidden, "\"\(object.name)\": the user's attributes make more than \(Subscriptions.limit) sets of values")
            }
            combinations = combinations.flatMap { known in values.map { value in known.merging([parameter.name: value]) { $1 } } }
        }
        return combinations
    }

    private static func set(
        of object: ObjectPlan, _ subscription: JSONObject, _ personal: [JSONValue?], _ bound: [String: JSONValue], isChosen: Bool
    ) throws(RequestFailure) -> PartitionParameters? {
        var json: [JSONValue] = []
        var values: [Value] = []
        for (index, parameter) in object.model.synchronizationParameters.enumerated() {
            let found = bound[parameter.name] ?? personal[index] ?? subscription[parameter.name] ?? parameter.modelDefault
            // In an existing subscription, a parameter that was left out is null; see `sets`.
            guard found != nil || isChosen else { return nil }
            let value = found ?? .null
            do {
                values.append(try WireConversion.value(value, of: AttributeModel(parameter), affinity: .blob))
            } catch {
                throw RequestFailure(.badRequest, "subscription of \"\(object.name)\", parameter \"\(parameter.name)\": \(error.message)")
            }
            json.append(value)
        }
        return PartitionParameters(object: object.name, values: values, text: JSONValue.array(json).description)
    }
}

extension Subscriptions {
    /// The maximum number of different subscriptions of one client, for all objects together. Each is a partition that every synchronization checks.
    static let limit = 2000

    /// - Throws: ``RequestFailure`` for more than ``limit``.
    func checkCount() throws(RequestFailure) {
        let count = values.reduce(0) { $0 + Set($1).count }
        guard count <= Self.limit else {
            throw RequestFailure(.badRequest, "\(count) different subscriptions: a client may have at most \(Self.limit)")
        }
    }
}

extension ParameterModel {
    /// The model's default as a value; nil if there is none.
    var modelDefault: JSONValue? { defaultValue.flatMap { try? JSONValue(parsing: $0) } }
}

extension AttributeModel {
    /// Creates an attribute from a synchronization parameter, so that the rules of values apply to it.
    init(_ parameter: ParameterModel) {
        self.init(
            name: parameter.name, type: parameter.type, isNullable: parameter.isNullable, precision: parameter.type == .decimal ? 38 : nil,
            scale: parameter.type == .decimal ? 38 : nil)
    }
}
