import MobileModel

/// The entities of a deployment unit.
extension UnitConverter {
    mutating func object(_ entity: XMLElementNode, at index: Int) -> ObjectModel {
        let owner = place(of: entity)
        let path = ModelPath.root["objects"][index]
        var object = ObjectModel(name: entity["name"] ?? "")
        let surrogateKey = surrogateKey(of: entity)
        object.attributes = entity.all("attribute").filter { $0["name"] != surrogateKey }.compactMap { attribute($0, of: owner) }
        object.primaryKey = names(entity["alternate-key"] ?? (surrogateKey == nil ? entity["key"] : nil))
        for (place, attribute) in object.attributes.enumerated() where attribute.isNullable && object.primaryKey.contains(attribute.name) {
            object.attributes[place].isNullable = false
            remark(entity, "\(owner), attribute \(attribute.name)", "is part of the key and therefore no longer nullable")
        }
        object.allowsDynamicQueries = entity.first("allow-dynamic-query").map { $0.isTrue("enable") } ?? true
        object.binding = BackEndBinding(backEnd: Self.backEnd, table: object.name)
        for element in entity.all("query") {
            guard let query = query(element, of: object, owner) else { continue }
            note(element, path["queries"][object.queries.count], "\(owner), query \(query.name)")
            object.queries.append(query)
        }
        let operations = entity.all("operation")
        if let publish = entity.first("publish"), !publish.isTrue("with-replay"), !operations.isEmpty {
            remark(publish, owner, "is published without replay; its operations are not carried over")
        } else {
            object.operations = operations.compactMap { operation($0, of: object, owner) }
        }
        addDownload(entity, to: &object, owner, path)
        remarkOnTheRest(of: entity, owner)
        return object
    }

    /// The name of the key that the runtime has built in: one generated attribute of the type long. Nil if the entity has another key.
    private func surrogateKey(of entity: XMLElementNode) -> String? {
        guard let key = entity["key"], let attribute = entity.all("attribute").first(where: { $0["name"] == key }) else { return nil }
        return attribute["type"] == "long" && attribute.isTrue("generated") ? key : nil
    }

    private func names(_ list: String?) -> [String] {
        (list ?? "").split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
    }

    /// A query that finds objects of its entity; nil for the finders of every class and, with a remark, for other queries.
    private mutating func query(_ element: XMLElementNode, of object: ObjectModel, _ owner: String) -> QueryModel? {
        let name = element["name"] ?? ""
        guard name != "findAll", name != "findByPrimaryKey" else { return nil }
        let type = element["type"] ?? "\(object.name)*"
        guard type == object.name || type == "\(object.name)*" || type == "\(object.name)?" else {
            remark(element, "\(owner), query \(name)", "returns \(type), not objects of its entity; write it as a dynamic query")
            return nil
        }
        let place = "\(owner), query \(name)"
        let parameters = element.all("parameter").compactMap { parameter($0, of: place) }
        var sql = element.first("sql")?.oneLine ?? ""
        while let last = sql.last, last == ";" || last.isWhitespace { sql.removeLast() }
        guard !sql.isEmpty else {
            remark(element, place, "has no statement")
            return nil
        }
        return QueryModel(name: name, parameters: parameters, isSingle: !type.hasSuffix("*"), sql: sql)
    }

    /// A create, update or delete whose statement the server makes from the binding; nil, with a remark, for other operations.
    private mutating func operation(_ element: XMLElementNode, of object: ObjectModel, _ owner: String) -> OperationModel? {
        let name = element["name"] ?? ""
        let place = "\(owner), operation \(name)"
        if element.isTrue("server-only") {
            remark(element, place, "is called on the server only and not carried over")
            return nil
        }
        let parameters = element.all("parameter").compactMap { parameter($0, of: place) }
        let own = parameters.filter { object.attribute(named: $0.name) == nil }
        let kinds: [(String, OperationModel.Kind)] = [("create", .create), ("update", .update), ("delete", .delete)]
        guard !element.isTrue("static"), let kind = kinds.first(where: { element.isTrue($0.0) })?.1 else {
            remark(element, place, "not carried over: add it with its statements" + Self.list(parameters))
            return nil
        }
        if !own.isEmpty {
            remark(element, place, "its statement is made from the attributes; to use its own parameters, write the statements" + Self.list(own))
        }
        return OperationModel(name: name, kind: kind)
    }

    private static func list(_ parameters: [ParameterModel]) -> String {
        guard !parameters.isEmpty else { return "" }
        return " and parameters " + parameters.map { "\($0.name): \($0.type)\($0.isNullable ? "?" : "")" }.joined(separator: ", ")
    }

    /// Adds the choice of a device's rows: the download's statement compares attributes and parameters, and so does a load.
    private mutating func addDownload(_ entity: XMLElementNode, to object: inout ObjectModel, _ owner: String, _ path: ModelPath) {
        guard let download = entity.first("subscribe")?.first("download-data") else { return }
        object.synchronizationParameters = download.all("synchronization-parameter").compactMap { parameter($0, of: owner) }
        let sql = download.first("sql")?.oneLine ?? ""
        guard !sql.isEmpty, !object.synchronizationParameters.isEmpty else { return }
        object.binding?.load = sql
        note(download, path["binding"]["load"], "\(owner), download-data")
        note(download, path["synchronizationParameters"], "\(owner), download-data")
        remark(download, "\(owner), download-data", "its statement is now the binding's load; check that it names the back end's table and columns")
    }

    private mutating func remarkOnTheRest(of entity: XMLElementNode, _ owner: String) {
        if entity.isTrue("partition-by-requestor") {
            remark(entity, owner, "partition-by-requestor: rows are chosen by synchronization parameters; add one that holds the user")
        }
        for index in entity.all("index") {
            remark(
                index, "\(owner), index \(index["name"] ?? "")",
                "create it at run time: createIndex with the attributes \(names(index["attributes"]).joined(separator: ", "))")
        }
        for roles in ([entity] + entity.all("operation")).flatMap({ $0.all("permit-access") }) where roles["roles"] != "Everyone" {
            remark(roles, owner, "access for \(roles["roles"] ?? "no role"): roles are not carried over")
        }
        let known: Set<String> = ["attribute", "allow-dynamic-query", "publish", "query", "operation", "index", "subscribe", "permit-access"]
        if let part = entity.children.first(where: { Self.serverElements.contains($0.name) }) {
            remark(part, owner, "its back-end parts are not carried over; see the binding")
        }
        for element in entity.children where !known.contains(element.name) && !Self.serverElements.contains(element.name) {
            remark(element, owner, "<\(element.name)> is not known and not carried over")
        }
    }
}
