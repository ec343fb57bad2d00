import Foundation
internal import MobileExecution
import MobileModel
package import MobileStore

/// One set of synchronization parameters of an object: it decides which rows this client gets. Several sets each bring their rows.
/// SMP 2.3: `<MBO>Subscription`.
public struct Subscription: Sendable, Identifiable, Equatable {
    public let id: Int64
    /// The modelled name of the object.
    public let entity: String
    /// The values by the parameters' names; parameters that are left out have the model's defaults.
    public let parameters: [String: AttributeValue]
}

extension PackageDatabase {
    /// Returns the parameter sets of an object. SMP 2.3: `getSubscriptions`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func subscriptions(of entity: EntityMetadata) throws -> [Subscription] {
        try read { connection in
            try connection.storedRows(
                [SubscriptionColumn.id, .parameters], "WHERE \"entity\" = ?1 ORDER BY \"id\"", [.text(entity.name)]
            ).map { row in
                Subscription(id: try row.integer(.id), entity: entity.name, parameters: try Self.parameters(row.text(.parameters), of: entity))
            }
        }
    }

    /// The same without blocking a cooperative thread.
    public final func subscriptions(of entity: EntityMetadata) async throws -> [Subscription] {
        try await BlockingWork.run { try self.subscriptions(of: entity) }
    }

    /// Adds and saves a parameter set; the next synchronization sends it and brings its rows. A set that already exists is not added again. SMP 2.3:
    /// `addSubscription:`.
    /// - Throws: ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``, ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public final func addSubscription(_ parameters: [String: AttributeValue], to entity: EntityMetadata) throws -> Subscription {
        let text = try Self.text(parameters, of: entity)
        return try write("add a subscription of \(entity.name)") { transaction in
            let connection = transaction.connection, values: [Value] = [.text(entity.name), .text(text)]
            let known = try connection.optionalNumber("SELECT \"id\" FROM \"_subscription\" WHERE \"entity\" = ?1 AND \"parameters\" = ?2", values)
            if let known { return Subscription(id: known, entity: entity.name, parameters: parameters) }
            try connection.execute("INSERT INTO \"_subscription\" (\"entity\", \"parameters\") VALUES (?1, ?2)", values)
            return Subscription(id: connection.lastInsertedKey, entity: entity.name, parameters: parameters)
        }
    }

    /// The same without blocking a cooperative thread.
    @discardableResult
    public final func addSubscription(_ parameters: [String: AttributeValue], to entity: EntityMetadata) async throws -> Subscription {
        try await BlockingWork.run { try self.addSubscription(parameters, to: entity) }
    }

    /// Removes a parameter set; its rows go with the next synchronization. SMP 2.3: `removeSubscription:`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public final func removeSubscription(_ subscription: Subscription) throws {
        try write("remove a subscription of \(subscription.entity)") { transaction in
            try transaction.connection.execute("DELETE FROM \"_subscription\" WHERE \"id\" = ?1", [.integer(subscription.id)])
        }
    }

    /// The same without blocking a cooperative thread.
    public final func removeSubscription(_ subscription: Subscription) async throws {
        try await BlockingWork.run { try self.removeSubscription(subscription) }
    }

    /// The parameter sets of all objects, by object, for an upload.
    package final var subscriptionSets: [(entity: String, parameters: [JSONValue])] {
        get throws {
            try read { connection in
                var result: [(entity: String, parameters: [JSONValue])] = []
                for row in try connection.storedRows([SubscriptionColumn.entity, .parameters], "ORDER BY \"entity\", \"id\"") {
                    let entity = try row.text(.entity), set = JSONValue.object(try row.object(.parameters))
                    if result.last?.entity == entity { result[result.count - 1].parameters.append(set) } else { result.append((entity, [set])) }
                }
                return result
            }
        }
    }

    /// Returns a JSON object with the parameters in the order of the model, so that equal sets have equal texts.
    private static func text(_ parameters: [String: AttributeValue], of entity: EntityMetadata) throws -> String {
        let model = entity.model.chosenParameters
        for name in parameters.keys where !model.contains(where: { $0.name == name }) {
            throw ObjectError(.noSuchParameter, "object \"\(entity.name)\" has no synchronization parameter \"\(name)\"")
        }
        let set = JSONObject(
            uniqueKeys: try model.compactMap { parameter in
                guard let value = parameters[parameter.name] else { return nil }
                let storage = Storage(parameter.type)
                guard let stored = storage.stored(value), parameter.isNullable || !stored.isNull else {
                    throw ObjectError(.invalidValue, "synchronization parameter \(entity.name).\(parameter.name): expected \(parameter.type)")
                }
                return (parameter.name, storage.json(stored))
            })
        return JSONValue.object(set).description
    }

    private static func parameters(_ text: String, of entity: EntityMetadata) throws -> [String: AttributeValue] {
        let object = try JSONValue(parsing: text)
        var values: [String: AttributeValue] = [:]
        for parameter in entity.model.chosenParameters {
            guard let json = object[parameter.name] else { continue }
            guard let value = Storage(parameter.type).attributeValue(json) else {
                throw ObjectError(
                    .corrupt, "synchronization parameter \(entity.name).\(parameter.name): expected \(parameter.type), found \(json)")
            }
            values[parameter.name] = value
        }
        return values
    }
}

extension PackageDatabase {
    /// Whether the package is subscribed.
    package final var isSubscribedLocally: Bool {
        get throws { try read { try PackageSettings($0).integer(.subscribed) == 1 } }
    }
}

extension Transaction {
    package func setSubscribed(_ isSubscribed: Bool) throws {
        try PackageSettings(connection).set(.subscribed, .integer(isSubscribed ? 1 : 0))
    }
}
