internal import MobileProtocol
internal import MobileStore

/// The data of one group that a client has, according to its token: for each object the partitions, and the version up to which each was sent, with the
/// version's era.
///
///     {"format": 3, "epoch": "9f...", "eras": ["0c..."], "objects": {"Customer": {"5be1...": [17, 0]}}}
///
/// A partition is named by the digest of its object and parameters, and an era by its place in `eras`. The server stores no part of this. For any token
/// that it has made, even an old one, it sends exactly the changes since then; see ``PartitionState/holds(_:in:)`` for tokens of another life of the store.
struct DeliveredState: Equatable {
    /// The format of the tokens. Those of version 1 of the protocol had no number; in format 2 partitions had the numbers of their rows, without eras.
    private static let format: Int64 = 3

    var epoch: String
    /// Object name -> digest of a partition -> position.
    var objects: [String: [String: PartitionPosition]]

    init(epoch: String) {
        self.epoch = epoch
        objects = [:]
    }

    /// Fails for a token of another epoch or format, or one that this server has not made.
    init?(_ token: Token, epoch: String) {
        guard token.json["format"]?.integer == Self.format, token.json["epoch"]?.string == epoch, let members = token.json["objects"]?.object,
            let eras = token.json["eras"]?.array?.map(\.string)
        else { return nil }
        self.init(epoch: epoch)
        for object in members {
            var positions: [String: PartitionPosition] = [:]
            for partition in object.value.object ?? [:] {
                guard let position = partition.value.array, position.count == 2, let version = position[0].integer, let place = position[1].integer,
                    let index = Int(exactly: place), eras.indices.contains(index), let era = eras[index]
                else { return nil }
                positions[partition.key] = PartitionPosition(version: version, era: era)
            }
            objects[object.key] = positions
        }
    }

    /// The position of a partition up to which the client has it; nil if it does not have the partition.
    func position(of partition: Partition) -> PartitionPosition? { objects[partition.object]?[partition.digest] }

    var token: Token {
        let eras = Set(objects.values.flatMap { $0.values.map(\.era) }).sorted()
        let places = Dictionary(uniqueKeysWithValues: eras.enumerated().map { ($0.element, Int64($0.offset)) })
        let members = objects.sorted { $0.key < $1.key }.map { name, positions in
            let partitions = positions.sorted { $0.key < $1.key }.map { digest, position in
                (digest, JSONValue.array([.integer(position.version), .integer(places[position.era] ?? 0)]))
            }
            return (name, JSONValue.object(JSONObject(uniqueKeys: partitions)))
        }
        return Token([
            "format": .integer(Self.format), "epoch": .string(epoch), "eras": .array(eras.map { .string($0) }),
            "objects": .object(JSONObject(uniqueKeys: members)),
        ])
    }
}

/// The meaning of a token in the store as it is now.
struct TokenReading {
    let delivered: DeliveredState?
    let cache: PackageCache
    let connection: any StateConnection

    /// Returns the version of each partition of one object that the client has, by the partition's row. Nil means that the token does not hold: the
    /// client has no token, or one of another life of the store. The object is then sent from its start,
    /// because rows of a partition cannot be removed one by one where their deletions are not known.
    /// - Parameter current: the requested partitions with their progress.
    func versions(of object: ObjectPlan, _ current: [(partition: Partition, state: PartitionState)]) throws -> [Int64: Int64]? {
        guard let positions = delivered?.objects[object.name] else { return nil }
        let known = Dictionary(current.map { ($0.partition.digest, $0.state) }) { $1 }
        var versions: [Int64: Int64] = [:]
        for (digest, position) in positions {
            guard let state = try known[digest] ?? abandoned(digest, of: object), try state.holds(position, in: connection) else { return nil }
            versions[state.partition] = position.version
        }
        return versions
    }

    /// Finds a partition that the client has and does not request any more.
    private func abandoned(_ digest: String, of object: ObjectPlan) throws -> PartitionState? {
        // Another package may have an object and a partition of the same names.
        try connection.storedRow(
            PartitionState.columns, "WHERE digest = ?1 AND object = ?2", [.text(digest), .integer(cache.id(of: object))]
        ).map(PartitionState.init)
    }
}
