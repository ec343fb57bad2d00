internal import MobileCrypto
internal import MobileServer
internal import MobileStore

/// A client's request for the database file of a partition.
///
/// One process makes the file, in the background; its bytes are in the state, so that every process can send them. A file serves all requests of its owner
/// until its time is over, regardless of the sources that they name.
struct BulkRequest {
    let face: RhoConnectServer
    let client: String
    let user: String
    let partition: RhoConnectSource.Partition
    /// The sources of the partition that the client names.
    let sources: [RhoConnectSource]

    /// The answer to the client.
    enum Answer {
        case wait
        case url(String)

        var json: JSONValue {
            switch self {
            case .wait: ["result": "wait"]
            case .url(let url): ["result": "url", "url": .string(url)]
            }
        }
    }

    /// The time after which a process that makes a file, and gives no sign, is taken for ended.
    static let longestSilence: Duration = .seconds(60)

    private var owner: String { partition == .user ? "user:" + user : "app" }

    /// Returns the address of the file, if there is one; else one process begins to make it.
    func answer() throws -> Answer {
        let schemas = BulkJob.schemas(of: face, partition)
        let (answer, job) = try face.store.write(label: "rhoconnect bulk request") { connection -> (Answer, BulkJob?) in
            if let file = try BulkRecord.last(of: owner, in: connection), file.schemas == schemas {
                let age = face.now - file.alive
                switch file.state {
                case .making where age <= Int64(Self.longestSilence / .milliseconds(1)): return (.wait, nil)
                case .ready where age <= face.configuration.bulkReuse * 1000:
                    try handOver(file, in: connection)
                    return (.url(BulkRecord.url(file.place)), nil)
                case .failed:
                    try BulkRecord.remove(file.id, in: connection)
                    return (.url(""), nil)
                default: break
                }
            }
            let job = try BulkJob(face, partition, owner: owner, user: user, sources: sources, schemas: schemas, in: connection)
            return (.wait, job)
        }
        job?.start()
        return answer
    }

    /// Notes that the client holds what is in the file. A page that it did not acknowledge is covered by that; its links come again.
    private func handOver(_ file: BulkRecord, in connection: any StateConnection) throws {
        for source in sources where source.syncType != .bulkOnly && !source.isPassThrough && file.sources.contains(source.name) {
            try connection.execute("DELETE FROM _rho_cd WHERE client = ?1 AND source = ?2", [.text(client), .text(source.name)])
            try connection.execute(
                """
                INSERT INTO _rho_cd (client, source, object, content)
                SELECT CAST(?1 AS TEXT), source, object, content FROM _rho_bulk_md WHERE file = ?2 AND source = ?3
                """, [.text(client), .integer(file.id), .text(source.name)])
            var state = try ClientState(client, source.name, in: connection)
            state.keepLinks()
            if let errors = state[.errorPage], state[.errors] == nil { state[.errors] = errors }
            state.forgetPage()
            state[.scan] = nil
            state[.metadata] = nil
            state[.schema] = source.schema.map { .string($0.version) }
            try state.save(in: connection)
        }
    }
}

/// The row of a file in the state.
struct BulkRecord {
    enum State: String {
        case making, ready
        /// A source had an error, or the file could not be made: the next request gets an empty address, and the one after it begins again.
        case failed
    }

    let id: Int64
    let place: String
    let state: State
    let alive: Int64
    let schemas: String
    let sources: Set<String>

    private static let columns = "id, place, state, alive, schemas, sources"

    private init?(_ row: [Value]) {
        guard let id = row[0].integer, let state = row[2].text.flatMap(State.init),
            case .array(let names)? = try? JSONValue(parsing: row[5].text ?? "")
        else { return nil }
        (self.id, self.state, place, alive, schemas) = (id, state, row[1].text ?? "", row[3].integer ?? 0, row[4].text ?? "")
        sources = Set(names.compactMap(\.string))
    }

    static func last(of owner: String, in connection: any StateConnection) throws -> BulkRecord? {
        try connection.first("SELECT \(columns) FROM _rho_bulk WHERE owner = ?1 ORDER BY id DESC LIMIT 1", [.text(owner)]).flatMap(BulkRecord.init)
    }

    static func at(_ place: String, in connection: any StateConnection) throws -> BulkRecord? {
        try connection.first("SELECT \(columns) FROM _rho_bulk WHERE place = ?1 AND state = 'ready'", [.text(place)]).flatMap(BulkRecord.init)
    }

    /// Shows that the process which makes the file is at work.
    /// - Throws: ``BulkJob/GivenUp``.
    static func beat(_ id: Int64, _ now: Int64, in connection: any StateConnection) throws {
        guard try connection.execute("UPDATE _rho_bulk SET alive = ?1 WHERE id = ?2", [.integer(now), .integer(id)]) == 1 else {
            throw BulkJob.GivenUp()
        }
    }

    static func remove(_ id: Int64, in connection: any StateConnection) throws {
        for statement in [
            "DELETE FROM _rho_bulk_piece WHERE file = ?1", "DELETE FROM _rho_bulk_md WHERE file = ?1", "DELETE FROM _rho_bulk WHERE id = ?1",
        ] { try connection.execute(statement, [.integer(id)]) }
    }

    /// The place as the path of a URL.
    static func url(_ place: String) -> String {
        place.utf8.map { byte in
            let scalar = Unicode.Scalar(byte)
            let isPlain =
                scalar.isASCII && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil || "/._-".unicodeScalars.contains(scalar))
            return isPlain ? String(Character(scalar)) : "%" + [byte].hexadecimal.uppercased()
        }.joined()
    }
}
