internal import MobileStore

/// The refusals of committed pages, in the row of their model in the documented form.
///
/// They stay after their report until the application answers them, or asks for the next synchronization: a process that ends between report and answer does
/// not know them any more, and the server does not send them again. Errors of the source itself are not stored; each query brings them again.
enum StoredErrors {
    /// Adds the refusals of a page.
    static func add(_ errors: RhoConnectServerErrors, of source: Source, in connection: Connection) throws {
        var errors = errors
        errors.source = [:]
        guard !errors.isEmpty else { return }
        var stored = try SourceRow(source.id, in: connection).errors.map { read($0, of: source.name) } ?? .init()
        stored.add(errors)
        try write(stored, of: source, in: connection)
    }

    /// Removes the answered refusals of one kind.
    static func remove(
        _ answered: [RhoConnectServerErrors.Refusal], from list: WritableKeyPath<RhoConnectServerErrors, [RhoConnectServerErrors.Refusal]>,
        of source: Source, in connection: Connection
    ) throws {
        guard let text = try SourceRow(source.id, in: connection).errors else { return }
        var stored = read(text, of: source.name)
        let objects = Set(answered.map(\.object))
        stored[keyPath: list].removeAll { objects.contains($0.object) }
        if list == \.update { stored.rollback.removeAll { objects.contains($0.object) } }
        try write(stored, of: source, in: connection)
    }

    private static func write(_ errors: RhoConnectServerErrors, of source: Source, in connection: Connection) throws {
        let text = errors.isEmpty ? nil : String(decoding: errors.json.bytes, as: UTF8.self)
        try SourceRow.set("errors = ?1", [Value(text)], of: source.id, in: connection)
    }

    /// Reads errors; a text that is damaged has none.
    static func read(_ text: String, of source: String) -> RhoConnectServerErrors {
        var errors = RhoConnectServerErrors()
        guard case .object(let members)? = try? JSONValue(parsing: text) else { return errors }
        for (key, value) in members.map({ ($0.key, $0.value) }) {
            switch key {
            case "create-error": errors.create = refusals(value, source)
            case "update-error": errors.update = refusals(value, source)
            case "delete-error": errors.delete = refusals(value, source)
            case "update-rollback": errors.rollback = refusals(value, source)
            default: errors.source[key] = value["message"]?.string ?? ""
            }
        }
        return errors
    }

    private static func refusals(_ value: JSONValue, _ source: String) -> [RhoConnectServerErrors.Refusal] {
        guard case .object(let objects) = value else { return [] }
        return objects.map { object in
            var attributes: [String: String] = [:]
            if case .object(let members)? = object.value["attributes"] { for member in members { attributes[member.key] = member.value.string } }
            return .init(sourceName: source, object: object.key, message: object.value["message"]?.string ?? "", attributes: attributes)
        }
    }
}
