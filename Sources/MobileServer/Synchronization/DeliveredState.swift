internal import MobileProtocol
internal import MobileStore

/// What a client has of one group, as its token says: per object the partitions and the version up to which each was sent.
///
///     {"epoch": "9f...", "objects": {"Customer": {"3": 17}}}
///
/// The server keeps nothing of this: whatever token a client comes with, an old one too, it gets exactly what has changed since.
struct DeliveredState: Equatable {
    var epoch: String
    /// Object name -> partition -> version.
    var objects: [String: [Int64: Int64]]

    init(epoch: String) {
        self.epoch = epoch
        objects = [:]
    }

    /// Nil for a token of another life of the cache, or one that this server has not made.
    init?(_ token: Token, epoch: String) {
        guard token.json["epoch"]?.string == epoch, let members = token.json["objects"]?.object else { return nil }
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
        return Token(["epoch": .string(epoch), "objects": .object(JSONObject(uniqueKeys: members))])
    }
}
