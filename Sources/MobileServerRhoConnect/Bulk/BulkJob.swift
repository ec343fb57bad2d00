internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileServer
internal import MobileStore

/// The making of one file: the sources are brought up to date, their objects are copied in one transaction, and written to a database file whose bytes go
/// to the state, plain, as a ZIP archive, and as gzip.
struct BulkJob: Sendable {
    private let face: RhoConnectServer
    private let id: Int64
    private let place: String
    private let owner: String
    private let user: String
    private let partition: RhoConnectSource.Partition
    /// All sources of the partition, in the order of the file.
    private let all: [RhoConnectSource]
    private let selected: Set<String>

    /// Begins a file; another process sees that this one makes it.
    init(
        _ face: RhoConnectServer, _ partition: RhoConnectSource.Partition, owner: String, user: String, sources: [RhoConnectSource], schemas: String,
        in connection: any StateConnection
    ) throws {
        (self.face, self.partition, self.owner, self.user) = (face, partition, owner, user)
        all = Self.sources(of: face, partition)
        selected = Set(sources.map(\.name))
        // The files need no session: a part of the address is random.
        let folder = "/data/" + face.server.configuration.random(16).hexadecimal, time = face.now / 1000, name = Self.folderName(user)
        place = folder + (partition == .user ? "/\(name)/\(name)_\(time).data" : "/application_\(time).data")
        id =
            try connection.first(
                "INSERT INTO _rho_bulk (owner, place, state, alive, schemas, sources) VALUES (?1, ?2, 'making', ?3, ?4, ?5) RETURNING id",
                [
                    .text(owner), .text(place), .integer(face.now), .text(schemas),
                    .text(JSONValue.array(selected.sorted().map { .string($0) }).description),
                ])?.first?.integer ?? 0
    }

    /// The name of a user as one segment of a path.
    private static func folderName(_ user: String) -> String {
        let name = user.replacing("/", with: "_")
        return name.allSatisfy { $0 == "." } ? "_" : name
    }

    private static func sources(of face: RhoConnectServer, _ partition: RhoConnectSource.Partition) -> [RhoConnectSource] {
        face.sources.values.filter { $0.partition == partition }.sorted { ($0.priority, $0.name) < ($1.priority, $1.name) }
    }

    /// The versions of the schemas that a file depends on, as a text.
    static func schemas(of face: RhoConnectServer, _ partition: RhoConnectSource.Partition) -> String {
        JSONValue.object(
            JSONObject(uniqueKeys: sources(of: face, partition).compactMap { source in source.schema.map { (source.name, .string($0.version)) } })
        ).description
    }

    /// Makes the file on a thread of the face.
    func start() {
        face.runBulkJob {
            do {
                let isMade = try make()
                try set(isMade ? .ready : .failed)
            } catch is GivenUp {
                try? face.store.write(label: "rhoconnect bulk state") { try BulkRecord.remove(id, in: $0) }
            } catch {
                face.server.configuration.log("bulk file for \(owner): \(error)")
                // A state out of reach: the record is given up when its time is over.
                try? set(.failed)
            }
        }
    }

    private func set(_ state: BulkRecord.State) throws {
        try face.store.write(label: "rhoconnect bulk state") { connection in
            try BulkRecord.beat(id, face.now, in: connection)
            try connection.execute("UPDATE _rho_bulk SET state = ?1 WHERE id = ?2", [.text(state.rawValue), .integer(id)])
            guard state == .ready else { return }
            // The file before stays for downloads in progress.
            let ready = try connection.rows(
                "SELECT id FROM _rho_bulk WHERE owner = ?1 AND state = 'ready' AND id < ?2 ORDER BY id DESC", [.text(owner), .integer(id)])
            let other = try connection.rows(
                "SELECT id FROM _rho_bulk WHERE owner = ?1 AND state <> 'ready' AND id < ?2", [.text(owner), .integer(id)])
            for old in ready.dropFirst() + other { try BulkRecord.remove(old[0].integer ?? 0, in: connection) }
        }
    }

    /// - Returns: false when a source has an error.
    private func make() throws -> Bool {
        let served = all.filter { selected.contains($0.name) && !$0.isPassThrough }
        for source in served { try SourceRefresh(face: face, source: source, user: user).run(parameters: [:]) }
        let rows = try face.store.write(label: "rhoconnect bulk objects") { connection -> [BulkFileWriter.SourceRow]? in
            try BulkRecord.beat(id, face.now, in: connection)
            var rows: [BulkFileWriter.SourceRow] = []
            for source in all {
                var row = BulkFileWriter.SourceRow(source)
                defer { rows.append(row) }
                guard selected.contains(source.name) else { continue }
                row.isSelected = true
                let state = try connection.first(
                    "SELECT errors, metadata, refreshed FROM _rho_source WHERE source = ?1 AND owner = ?2", [.text(source.name), .text(owner)])
                if let errors = state?[0].text, errors != "{}" { return nil }
                row.metadata = state?[1].text
                row.refresh = (state?[2].integer ?? face.now) / 1000 + Int64(source.pollInterval)
                guard !source.isPassThrough else { continue }
                row.objects = Int64(
                    try connection.execute(
                        """
                        INSERT INTO _rho_bulk_md (file, source, object, content)
                        SELECT CAST(?1 AS BIGINT), source, object, content FROM _rho_md WHERE source = ?2 AND owner = ?3
                        """, [.integer(id), .text(source.name), .text(owner)]))
            }
            return rows
        }
        guard let rows else { return false }
        let folder = FileManager.default.temporaryDirectory.appending(path: "rhoconnect-bulk-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appending(path: "bulk.data").path
        try write(rows, to: path)
        try BulkPieces(face: face, file: id).store(path, name: String(place.split(separator: "/").last ?? ""))
        return true
    }

    private func write(_ rows: [BulkFileWriter.SourceRow], to path: String) throws {
        let writer = try BulkFileWriter(path: path)
        try face.store.read { connection in
            try writer.write(rows) { source, visit in
                try connection.forEachRow(
                    "SELECT object, content FROM _rho_bulk_md WHERE file = ?1 AND source = ?2 ORDER BY object", [.integer(id), .text(source)]
                ) { row in
                    try visit(String(decoding: row.bytes(0), as: UTF8.self), ObjectText.attributes(String(decoding: row.bytes(1), as: UTF8.self)))
                }
            }
        }
        try writer.close()
    }

    /// The end of a job whose record another process has removed, because it gave no sign for too long.
    struct GivenUp: Error {}
}

/// The jobs of a process.
final class BulkWork: Sendable {
    private let threads = BlockingWork(threads: 2)
    private let running = SystemLock<[Int: Promise<Bool, Never>]>([:])

    func start(_ job: @escaping @Sendable () -> Void) {
        let promise = Promise<Bool, Never>()
        let number = running.withLock { running in
            let number = (running.keys.max() ?? 0) + 1
            running[number] = promise
            return number
        }
        threads.start { [running] in
            job()
            running.withLock { $0[number] = nil }
            promise.resolve(.success(true))
        }
    }

    /// Waits until the jobs that have begun are done.
    func wait() { for promise in running.withLock({ Array($0.values) }) { _ = promise.wait() } }
}
