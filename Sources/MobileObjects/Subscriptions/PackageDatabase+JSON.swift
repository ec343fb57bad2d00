internal import MobileModel
package import MobileStore

/// Requests to the server from JSON, for tools that know a package by its model only.
extension PackageDatabase {
    /// Adds a set of synchronization parameters from JSON.
    /// - Throws: ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``.
    package final func addSubscription(json: JSONObject, to entity: EntityMetadata) throws {
        var values: [String: AttributeValue] = [:]
        for member in json {
            guard let parameter = entity.model.synchronizationParameters.first(where: { $0.name == member.key }) else {
                throw ObjectError(.noSuchParameter, "object \"\(entity.name)\" has no synchronization parameter \"\(member.key)\"")
            }
            guard let value = Storage(parameter.type).attributeValue(member.value) else {
                throw ObjectError(.invalidValue, "synchronization parameter \(entity.name).\(parameter.name): expected \(parameter.type)")
            }
            values[member.key] = value
        }
        try addSubscription(values, to: entity)
    }

    /// Saves personalization keys from JSON.
    /// - Throws: ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``.
    package final func savePersonalization(json: JSONObject) throws {
        var parameters = personalization
        for member in json {
            let type = parameters.keys.first { $0.name == member.key }?.type
            guard let value = type.map({ Storage($0).attributeValue(member.value) }) ?? .null else {
                throw ObjectError(.invalidValue, "personalization key \"\(member.key)\": \(member.value) does not fit")
            }
            try parameters.setValue(value, member.key)
        }
        try parameters.save()
    }
}
