import MobileStore

extension ClientDatabaseReport {
    /// The report for scripts: one object.
    var json: JSONValue {
        let objects = entities.map { entity -> JSONValue in
            [
                "object": .string(entity.name), "rows": .integer(Int64(entity.rows)),
                "created": pending("C", entity), "updated": pending("U", entity), "deleted": pending("D", entity), "parents": pending("P", entity),
                "submitted": .integer(Int64(entity.submitted)), "rejected": .integer(Int64(entity.failed)), "isLocal": .boolean(entity.isLocal),
            ]
        }
        return [
            "path": .string(path), "package": .string(package), "client": .string(clientID), "isSubscribed": .boolean(isSubscribed),
            "bytes": .integer(Int64(fileSpace.bytes)), "objects": .array(objects),
            "outboxCount": .integer(Int64(outboxCount)),
            "outbox": list(outbox, ["id", "object", "surrogateKey", "change", "operation", "batch", "bytes"]),
            "logRecordCount": .integer(Int64(logRecordCount)),
            "logRecords": list(logRecords, ["time", "code", "object", "surrogateKey", "message"]),
            "groups": list(groups, ["group", "synchronized"]), "subscriptions": list(subscriptions, ["object", "parameters"]),
            "staleRows": .object(JSONObject(uniqueKeys: staleRows.map { ($0.object, .array($0.keys.map { .integer($0) })) })),
        ]
    }

    private func pending(_ letter: Character, _ entity: Entity) -> JSONValue { .integer(Int64(entity.pending[letter] ?? 0)) }

    private func list(_ rows: [[Value]], _ names: [String]) -> JSONValue {
        .array(
            rows.map { row in
                var object = JSONObject()
                for (name, value) in zip(names, row) { object[name] = JSONValue(inspected: value) }
                return .object(object)
            })
    }
}

extension JSONValue {
    /// A value of a client database; bytes are in hexadecimal digits.
    init(inspected value: MobileStore.Value) {
        switch value {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .real(let number): self = JSONValue(number) ?? .null
        case .text(let text): self = .string(text)
        case .blob(let bytes): self = .string(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
        }
    }
}
