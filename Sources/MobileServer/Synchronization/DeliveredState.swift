internal import MobileProtocol
internal import MobileStore

/// The data of one group that a client has, according to its token: for each object the partitions, and the version up to which each was sent.
///
///     {"format": 2, "epoch": "9f...", "objects": {"Customer": {"3": 17}}}
///
/// The server stores no part of this. For any token that it has made, even an old one, it sends exactly the changes since then.
struct DeliveredState: Equatable {
    /// The format of the tokens. Those of version 1 of the protocol had no number.
    private static let format: Int64 = 2

    var epoch: String
    /// Object name -> partition -> version.
    var objects: [String: [Int64: Int64]]

    init(epoch: String) {
        self.epoch = epoch
        objects = [:]
    }

    /// Fails for a token of another epoch or format, or one that this server has not made.
    init?(_ token: Token, epoch: String) {
        guard token.json["format"]?.integer == Self.format, token.json["epoch"]?.string == epoch, let members = token.json["objects"]?.object else {
            return nil
        }
        self.init(epoch: epoch)
        for object in members {
            var versions: [Int64: Int64] = [:]
            for partition in object.value.object ?? [:] {
                guard let id = Int64(partition.key), let version = partition.value.integer else { return nil }
                versions[id] = version
            }
            objects[object.key] = versions
        }
    }

    var token: Token {
        let members = objects.sorted { $0.key < $1.key }.map { name, versions in
            (name, JSONValue.object(JSONObject(uniqueKeys: versions.sorted { $0.key < $1.key }.map { (String($0.key), .integer($0.value)) })))
        }
        return Token(["format": .integer(Self.format), "epoch": .string(epoch), "objects": .object(JSONObject(uniqueKeys: members))])
    }
}
