internal import Foundation
internal import MobileServer
internal import MobileStore

extension WorklightConfiguration {
    /// Reads a configuration file in JSON, whose procedures are statements of SQL and whose realms use the accounts of the server:
    ///
    ///     {"context": "/Demo",
    ///      "applications": [{"id": "Demo", "environments": ["iOSnative"], "requiresDevice": true, "userRealm": "users", "properties": {}}],
    ///      "realms": ["users"],
    ///      "adapters": [{"name": "Stock", "eventSources": ["prices"],
    ///                    "procedures": {"quotes": {"sql": "SELECT name FROM quote", "backEnd": "erp", "realm": "users"}}}]}
    ///
    /// An application with device certificates has `"provisioning": {"certificate": "ca.pem", "key": "ca.key", "entity": "application", "allowsNewDevices": true}`;
    /// paths of the authority start from the folder of this file. The entity may also be `device` or `group:` with a name.
    ///
    /// - Parameters:
    ///   - path: the path of the file.
    ///   - backEnds: the back ends by name.
    /// - Throws: `ServerError`: the file cannot be read, or a member is missing, unknown or wrong; the message names it.
    public init(file path: String, backEnds: [String: WorklightBackEnd]) throws {
        let data: Data
        do { data = try Data(contentsOf: URL(filePath: path)) } catch {
            throw ServerError(.configuration, "\(path): \(error.localizedDescription)", cause: error)
        }
        do {
            let root = try Members(JSONValue(parsing: Array(data)), "the file", ["context", "applications", "realms", "adapters"])
            self.init(
                context: try root.text("context", or: ""),
                applications: try root.list("applications").map { try WorklightApplication($0, URL(filePath: path)) },
                adapters: try root.list("adapters").map { try WorklightAdapter($0, backEnds) },
                realms: try root.texts("realms").map { .form($0) })
        } catch let error as StoreError {
            throw ServerError(.configuration, "\(path): \(error.message)", cause: error)
        } catch let error as WrongMember {
            throw ServerError(.configuration, "\(path): \(error.message)")
        }
    }
}

extension WorklightApplication {
    fileprivate init(_ json: JSONValue, _ file: URL) throws {
        let members = try Members(json, "an application", ["id", "environments", "requiresDevice", "provisioning", "userRealm", "properties"])
        self.init(
            id: try members.text("id"), environments: Set(try members.texts("environments")),
            requiresDevice: try members.flag("requiresDevice", or: true),
            provisioning: try members.json["provisioning"].map { try WorklightProvisioning($0, file) },
            userRealm: try members.optionalText("userRealm"),
            properties: try members.object("properties"))
    }
}

extension WorklightProvisioning {
    fileprivate init(_ json: JSONValue, _ file: URL) throws {
        let members = try Members(json, "provisioning", ["certificate", "key", "entity", "allowsNewDevices"])
        func contents(_ name: String) throws -> String {
            let path = URL(filePath: try members.text(name), relativeTo: file.deletingLastPathComponent())
            do { return try String(contentsOf: path, encoding: .utf8) } catch {
                throw WrongMember("provisioning: \"\(name)\": \(path.path): \(error.localizedDescription)")
            }
        }
        let name = try members.text("entity", or: "application")
        let entity: Entity
        switch name {
        case "application": entity = .application
        case "device": entity = .device
        case let group where group.hasPrefix("group:") && group.count > 6: entity = .group(String(group.dropFirst(6)))
        default: throw WrongMember("provisioning: the entity \"\(name.prefix(80))\" is not application, device or group:NAME")
        }
        self.init(
            try WorklightCertificateAuthority(certificate: contents("certificate"), privateKey: contents("key")), entity: entity,
            allowsNewDevices: try members.flag("allowsNewDevices", or: true))
    }
}

extension WorklightAdapter {
    fileprivate init(_ json: JSONValue, _ backEnds: [String: WorklightBackEnd]) throws {
        let members = try Members(json, "an adapter", ["name", "eventSources", "procedures"])
        let name = try members.text("name")
        var procedures: [String: WorklightProcedure] = [:]
        for member in try members.object("procedures") {
            let place = "procedure \(name).\(member.key)"
            let procedure = try Members(member.value, place, ["sql", "backEnd", "realm"])
            let backEnd = try procedure.text("backEnd")
            guard let database = backEnds[backEnd] else { throw WrongMember("\(place): there is no back end \"\(backEnd)\"") }
            procedures[member.key] = .sql(try procedure.text("sql"), on: database, realm: try procedure.optionalText("realm"))
        }
        self.init(name, procedures: procedures, eventSources: Set(try members.texts("eventSources")))
    }
}

private struct WrongMember: Error {
    let message: String
    init(_ message: String) { self.message = message }
}

/// The members of an object of the file.
private struct Members {
    let place: String
    let json: JSONObject

    init(_ json: JSONValue, _ place: String, _ known: Set<String>) throws {
        guard let object = json.object else { throw WrongMember("\(place) is not an object") }
        if let unknown = object.keys.first(where: { !known.contains($0) }) { throw WrongMember("\(place) has an unknown member \"\(unknown)\"") }
        self.json = object
        self.place = place
    }

    private func wrong(_ name: String, _ expected: String) -> WrongMember { WrongMember("\(place): expected \(expected) as \"\(name)\"") }

    func text(_ name: String, or value: String? = nil) throws -> String {
        guard let text = try optionalText(name) ?? value else { throw wrong(name, "a text") }
        return text
    }

    func optionalText(_ name: String) throws -> String? {
        guard let member = json[name] else { return nil }
        guard let text = member.string else { throw wrong(name, "a text") }
        return text
    }

    func flag(_ name: String, or value: Bool) throws -> Bool {
        guard let member = json[name] else { return value }
        guard let flag = member.boolean else { throw wrong(name, "true or false") }
        return flag
    }

    func list(_ name: String) throws -> [JSONValue] {
        guard let member = json[name] else { return [] }
        guard let list = member.array else { throw wrong(name, "an array") }
        return list
    }

    func texts(_ name: String) throws -> [String] {
        try list(name).map { element in
            guard let text = element.string else { throw wrong(name, "an array of texts") }
            return text
        }
    }

    func object(_ name: String) throws -> JSONObject {
        guard let member = json[name] else { return [:] }
        guard let object = member.object else { throw wrong(name, "an object") }
        return object
    }
}
