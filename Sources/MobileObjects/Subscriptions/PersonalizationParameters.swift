import Foundation
import MobileExecution
public import MobileModel
package import MobileStore

/// The personalization keys of the package: settings of the user that synchronization parameters take their values from. It is a value: set the keys
/// to change, then `save()`. SMP 2.3: `getPersonalizationParameters`.
public struct PersonalizationParameters: Sendable {
    private let database: PackageDatabase
    private var changed: [String: AttributeValue] = [:]

    init(_ database: PackageDatabase) { self.database = database }

    /// The keys of the model.
    public var keys: [PersonalizationKeyModel] { database.metadata.model.personalizationKeys }

    /// Returns the value of a key: the one set here, the saved one, or the model's default, in this order. A default has no effect on the server
    /// until it is saved.
    /// - Throws: ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public func value(_ name: String) throws -> AttributeValue {
        let key = try key(name)
        if let value = changed[name] { return value }
        if let value = try saved(key) { return value }
        return key.defaultValue.flatMap { Storage(key.type).attributeValue(ofDefault: $0) } ?? .null
    }

    /// The same without blocking a cooperative thread.
    public func value(_ name: String) async throws -> AttributeValue { try await BlockingWork.run { try self.value(name) } }

    /// Sets the value of a key, in memory.
    /// - Throws: ``ObjectError/Code/noSuchParameter``, ``ObjectError/Code/invalidValue``.
    public mutating func setValue(_ value: AttributeValue, _ name: String) throws {
        let key = try key(name)
        guard let stored = Storage(key.type).stored(value), key.isNullable || !stored.isNull else {
            throw ObjectError(.invalidValue, "personalization key \"\(name)\": expected \(key.type)")
        }
        changed[name] = value
    }

    /// Saves the values that were set, and the defaults of keys that were never saved; the next synchronization sends them. Session keys are kept in
    /// memory only. SMP 2.3: `save`.
    /// - Throws: ``ObjectError/Code/store``.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    public mutating func save() throws {
        var values = changed
        for key in keys where values[key.name] == nil { values[key.name] = try value(key.name) }
        let (keys, all) = (keys, values)
        try database.write("save personalization parameters") { transaction in
            for key in keys where key.storage != .session {
                let storage = Storage(key.type)
                guard let value = all[key.name], let stored = storage.stored(value) else { continue }
                try transaction.connection.execute(
                    "INSERT OR REPLACE INTO \"_personalization\" (\"name\", \"value\") VALUES (?1, ?2)",
                    [.text(key.name), .text(storage.json(stored).description)])
            }
        }
        database.state.withLock { state in
            for key in keys where key.storage == .session { state.sessionValues[key.name] = all[key.name] }
        }
        changed = [:]
    }

    /// The same without blocking a cooperative thread.
    public mutating func save() async throws {
        let parameters = self
        self = try await BlockingWork.run {
            var parameters = parameters
            try parameters.save()
            return parameters
        }
    }

    private func key(_ name: String) throws -> PersonalizationKeyModel {
        guard let key = keys.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchParameter, "package \(database.metadata.name) has no personalization key \"\(name)\"")
        }
        return key
    }

    private func saved(_ key: PersonalizationKeyModel) throws -> AttributeValue? {
        if key.storage == .session { return database.state.withLock { $0.sessionValues[key.name] } }
        let text = try database.read { connection in
            try Self.text(of: key, connection)
        }
        guard let text else { return nil }
        guard let value = Storage(key.type).attributeValue(try JSONValue(parsing: text)) else {
            throw ObjectError(.corrupt, "personalization key \"\(key.name)\": expected \(key.type), found \(text.prefix(40))")
        }
        return value
    }

    /// Returns the stored value of a key, as JSON.
    fileprivate static func text(of key: PersonalizationKeyModel, _ connection: Connection) throws -> String? {
        try connection.storedRow([PersonalizationColumn.value], "WHERE \"name\" = ?1", [.text(key.name)])?.text(.value)
    }
}

extension PackageDatabase {
    /// The personalization keys. SMP 2.3: `getPersonalizationParameters`.
    public final var personalization: PersonalizationParameters { PersonalizationParameters(self) }

    /// The saved values, session keys included, for an upload.
    package final var personalizationValues: JSONObject {
        get throws {
            let session = state.withLock { $0.sessionValues }
            let keys = metadata.model.personalizationKeys
            return try read { connection in
                JSONObject(
                    uniqueKeys: try keys.compactMap { key in
                        if key.storage == .session {
                            let storage = Storage(key.type)
                            return session[key.name].flatMap { storage.stored($0) }.map { (key.name, storage.json($0)) }
                        }
                        return try PersonalizationParameters.text(of: key, connection).map { (key.name, try JSONValue(parsing: $0)) }
                    })
            }
        }
    }
}
