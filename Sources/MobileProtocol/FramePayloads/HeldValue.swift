internal import MobileStore

/// A large value that a client has because an operation of its own was accepted.
public struct HeldValue: Sendable, Hashable {
    /// The row's surrogate key.
    public var key: Int64
    /// The attribute's name.
    public var attribute: String
    /// The SHA-256 of the content: 64 hexadecimal digits in lower case.
    public var digest: String

    /// Creates a value from its row, attribute and digest.
    public init(key: Int64, attribute: String, digest: String) { (self.key, self.attribute, self.digest) = (key, attribute, digest) }
}

extension WireMembers {
    /// Reads large values by object, each as `[key, attribute, digest]`; nil if the member is absent.
    func heldValues(_ name: String) throws(ProtocolError) -> [String: [HeldValue]]? {
        guard !isAbsent(name) else { return nil }
        var held: [String: [HeldValue]] = [:], count = 0
        for member in try self.members(name) {
            guard let list = member.value.array else { throw unexpected(name, "an array per object", member.value) }
            var values: [HeldValue] = []
            for element in list {
                guard element.array?.count == 3, let key = element[0]?.integer, let attribute = element[1]?.string, let digest = element[2]?.string
                else {
                    throw unexpected(name, "surrogate key, attribute and digest of each value", element)
                }
                values.append(HeldValue(key: key, attribute: attribute, digest: digest))
            }
            held[member.key] = values
            count += values.count
        }
        guard count <= SynchronizeHeader.heldLimit else {
            throw ProtocolError(.invalidContent, "synchronize header, member \"\(name)\": more than \(SynchronizeHeader.heldLimit) values")
        }
        return held
    }
}

extension [String: [HeldValue]] {
    /// The form on the wire, objects in the order of their names.
    var wireObject: JSONValue {
        .object(
            JSONObject(
                uniqueKeys: sorted { $0.key < $1.key }.map { object, values in
                    (object, .array(values.map { [.integer($0.key), .string($0.attribute), .string($0.digest)] }))
                }))
    }
}
