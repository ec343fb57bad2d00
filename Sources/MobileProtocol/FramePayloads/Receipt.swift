public import MobileStore

/// The place of an accepted operation in the record of its back end. A back end that was restored from a backup has not reached it: so the client that
/// returns it learns that its operation is lost.
public struct Receipt: Sendable, Hashable {
    /// The back end's era. Eras of all back ends have different names.
    public let era: String
    /// The number of the operation there.
    public let number: Int64

    /// Creates a receipt.
    public init(era: String, number: Int64) { (self.era, self.number) = (era, number) }

    /// Reads the members `era` and `number` of a result; nil where it has none.
    init?(_ members: WireMembers) throws(ProtocolError) {
        guard let era = try members.optionalString("era"), let number = try members.optionalInteger("number", in: 1 ... .max) else { return nil }
        (self.era, self.number) = (era, number)
    }
}

/// An operation that a client reports by its id.
public struct ReportedOperation: WireValue, Hashable {
    /// The client id under which the server accepted it; empty for the one of the upload.
    public var client: String
    /// The operation's id.
    public var id: Int64
    /// The object's name in the model (`mbo`).
    public var object: String
    /// The row's surrogate key.
    public var key: Int64

    /// Creates a report.
    public init(client: String = "", id: Int64, object: String, key: Int64) {
        (self.client, self.id, self.object, self.key) = (client, id, object, key)
    }

    public init(json: JSONValue) throws(ProtocolError) {
        let members = try WireMembers(json, "reported operation")
        client = try members.optionalString("cid") ?? ""
        id = try members.integer("id", in: 1 ... .max)
        object = try members.string("mbo")
        key = try members.integer("key")
    }

    public var json: JSONValue {
        var members: JSONObject = ["id": .integer(id), "mbo": .string(object), "key": .integer(key)]
        if !client.isEmpty { members["cid"] = .string(client) }
        return .object(members)
    }
}

extension WireMembers {
    /// Reads a member with numbers by era; empty where it is absent.
    func numbersByEra(_ name: String) throws(ProtocolError) -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for member in try members(name) {
            guard let number = member.value.integer, number >= 0 else { throw unexpected(name, "a number of 0 or more per era", member.value) }
            numbers[member.key] = number
        }
        return numbers
    }

    /// Reads the operations that a client reports; none where the member is absent.
    func reportedOperations(_ name: String) throws(ProtocolError) -> [ReportedOperation] {
        guard !isAbsent(name) else { return [] }
        guard let list = try value(name, "an array").array, list.count <= ReportedOperation.limit else {
            throw ProtocolError(
                .invalidContent, "synchronize header, member \"\(name)\": expected an array of at most \(ReportedOperation.limit) operations")
        }
        var operations: [ReportedOperation] = []
        for element in list { operations.append(try ReportedOperation(json: element)) }
        return operations
    }
}

extension ReportedOperation {
    /// The maximum number of operations that one upload reports.
    public static let limit = 1000
}

extension [String: Int64] {
    /// Numbers by era, in the form of the wire.
    var byEra: JSONObject { JSONObject(uniqueKeys: sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) }) }
}
