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

extension HeldValue {
    /// Reads `[key, attribute, digest]`; nil for another form.
    init?(_ json: JSONValue) {
        guard json.array?.count == 3, let key = json[0]?.integer, let attribute = json[1]?.string, let digest = json[2]?.string else { return nil }
        self.init(key: key, attribute: attribute, digest: digest)
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
