import Foundation
import MobileCrypto
import MobileModel
import MobileProtocol
import MobileServer
import MobileStore
import Synchronization

/// A server that answers the fuzzer's requests, and the checks of each answer.
///
/// It starts again every ``requestsPerLife`` requests, with the same files, clock and random numbers. The requests since then are in
/// the folder `life`: running them in order reproduces a finding.
final class FuzzedServer {
    private static let requestsPerLife = 400
    /// After each such number of requests, and after each failure, an honest client must still get everything.
    private static let requestsPerWitness = 40
    /// The permitted growth of the process in bytes, after the first lives.
    private static let allowedGrowth = 200 << 20

    private let folder: URL
    /// The state in PostgreSQL; nil for an SQLite file in the folder.
    private let postgreSQL: FuzzedDatabase?
    private let lifeFolder: URL?
    /// Whether the codes and the log of each answer are printed, for the analysis of a finding.
    private let tellsAnswers = ProcessInfo.processInfo.environment["SERVER_FUZZ_TELL"] != nil
    private let lines = LogLines()
    private var server: MobileServer
    private var requests = 0, lives = 0, firstSize: Int?
    private var token = "", witnessToken = ""

    /// Opens the first server.
    /// - Parameters:
    ///   - folder: the folder for the files of the server; its content is removed.
    ///   - postgreSQL: the database of the state; nil for a file.
    ///   - lifeFolder: the folder for the requests of a life; nil: they are not kept.
    init(folder: URL, postgreSQL: FuzzedDatabase?, lifeFolder: URL?) throws {
        (self.folder, self.postgreSQL, self.lifeFolder) = (folder, postgreSQL, lifeFolder)
        try? FileManager.default.removeItem(at: folder)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let backEnd = try Database(ConnectionProfile(path: folder.appendingPathComponent("enterprise.db").path, journal: .unchanged))
        try backEnd.write { _ = try $0.execute(FuzzSample.tables) }
        try backEnd.close()
        try postgreSQL?.make()
        server = try Self.open(folder, postgreSQL, lines, seed: 1)
        token = try register("fuzzer", user: "ada", password: "secret")
        witnessToken = try register("witness", user: "bob", password: "other")
        try server.close()
        for name in files {
            try FileManager.default.copyItem(at: folder.appendingPathComponent(name), to: folder.appendingPathComponent(name + ".new"))
        }
        try postgreSQL?.keep()
        server = try Self.open(folder, postgreSQL, lines, seed: 2)
        try beginLife()
    }

    private var files: [String] { postgreSQL == nil ? ["enterprise.db", "cache.db"] : ["enterprise.db"] }

    /// - Parameter seed: the seed of the random numbers; the first server, whose files every life begins with, used another one for its sessions.
    private static func open(_ folder: URL, _ postgreSQL: FuzzedDatabase?, _ lines: LogLines, seed: UInt64) throws -> MobileServer {
        let model = try PackageModel(json: FuzzSample.model)
        let deployment = PackageDeployment(model, backEnds: ["enterprise": folder.appendingPathComponent("enterprise.db").path])
        var configuration = ServerConfiguration(
            cachePath: folder.appendingPathComponent("cache.db").path, packages: [deployment], users: ["ada": "secret", "bob": "other"])
        configuration.storeAddress = postgreSQL?.address
        configuration.keyRangeSize = 100
        configuration.passwordParameters = .init(n: 16)
        configuration.maximumWholeValue = 4 << 20
        configuration.log = { lines.add($0) }
        let clock = SharedClock(), random = SharedRandom(seed: seed)
        configuration.clock = { clock.now() }
        configuration.random = { random.bytes($0) }
        return try MobileServer(configuration)
    }

    private func register(_ device: String, user: String, password: String) throws -> String {
        let message = Message(
            MessageHeader(method: .register, id: "1", application: "fuzz", device: device), content: Credentials(user: user, password: password))
        let response = respond(Endpoint.messages, Message.bytes([message]), token: nil)
        guard case .bytes(let bytes) = response.body, let answer = try Message.messages(parsing: bytes).first else {
            fatalError("the device \(device) cannot be registered")
        }
        return try answer.content(as: SessionGrant.self).token
    }

    private func beginLife() throws {
        try server.close()
        try postgreSQL?.restore()
        for name in files {
            let file = folder.appendingPathComponent(name)
            for suffix in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
            try FileManager.default.copyItem(at: folder.appendingPathComponent(name + ".new"), to: file)
        }
        server = try Self.open(folder, postgreSQL, lines, seed: 2)
        if let lifeFolder {
            try? FileManager.default.removeItem(at: lifeFolder)
            try FileManager.default.createDirectory(at: lifeFolder, withIntermediateDirectories: true)
        }
        lives += 1
        let size = Self.residentSize
        // The first lives fill caches, and memory that the allocator keeps.
        if lives == 5 { firstSize = size }
        if let firstSize, size > firstSize + Self.allowedGrowth {
            fatalError("memory grows: \(firstSize >> 20) MB in the fifth life, \(size >> 20) MB in life \(lives)")
        }
    }

    // MARK: Requests

    /// Sends one request and judges its answer.
    func take(_ input: FuzzInput, _ bytes: UnsafeBufferPointer<UInt8>) throws {
        if requests > 0, requests % Self.requestsPerLife == 0 { try beginLife() }
        if let lifeFolder {
            let file = lifeFolder.appendingPathComponent(String(format: "%04d", requests % Self.requestsPerLife))
            try Data(buffer: bytes).write(to: file)
        }
        requests += 1
        let hasFailed = judge(respond(input.path, input.body, token: token))
        if hasFailed || requests % Self.requestsPerWitness == 0 { witness() }
    }

    private func respond(_ path: String, _ body: [UInt8], token: String?) -> ServerResponse {
        lines.clear()
        return server.respond(
            to: ServerRequest(method: "POST", path: path, headers: token.map { ["authorization": "Bearer \($0)"] } ?? [:], body: Spool(body)))
    }

    /// Checks a response.
    /// - Returns: whether it reports a failure of the server.
    private func judge(_ response: ServerResponse) -> Bool {
        var codes: [Int64] = [Int64(response.status)]
        switch response.body {
        case .none: break
        case .bytes(let bytes):
            if response.status == 200 {
                codes += (try? Message.messages(parsing: bytes))?.compactMap { $0.content["code"]?.integer } ?? [ResultCode.failure]
            }
        case .stream(_, let next): codes += Self.codes(next)
        case .file: break
        }
        let hasFailed = codes.contains(ResultCode.failure)
        if tellsAnswers { print(codes.map(String.init).joined(separator: " "), lines.joined(), separator: "\n") }
        if hasFailed, lines.isEmpty { fatalError("the server answers 500 and logs no reason") }
        return hasFailed
    }

    /// Returns the codes in a download, which must be complete.
    private static func codes(_ next: () throws -> [UInt8]?) -> [Int64] {
        var codes: [Int64] = [], reader = FrameReader(.download)
        do {
            while let frame = try reader.next(from: next) {
                switch frame.content {
                case .replayResults(let results): codes += results.map(\.code)
                case .failure(let failure): codes.append(failure.code)
                default: break
                }
            }
        } catch {
            fatalError("the download is no stream: \(error)")
        }
        return codes
    }

    /// Checks that an honest client gets everything.
    private func witness() {
        let header = SynchronizeHeader(
            client: "witness", package: "Fuzz:1.0", groups: ["system", "default", "marks"],
            subscriptions: ["Thing": [["region": "NORTH"], ["region": "SOUTH"], ["region": .null]]], keysLeft: 1000)
        var writer = FrameWriter(.upload)
        do {
            try writer.write(.header(header))
            try writer.write(.streamEnd)
        } catch {
            fatalError("the witness cannot write: \(error)")
        }
        let response = respond(Endpoint.synchronize, writer.take(), token: witnessToken)
        guard response.status == 200, !judge(response) else {
            fatalError("after what was sent, everybody gets \(response.status): \(lines.joined())")
        }
    }

    private static var residentSize: Int {
        let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst().first.flatMap { Int($0) }
        return (pages ?? 0) * 4096
    }
}

/// The lines of the server's log since the last call.
private final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    func add(_ line: String) { lines.withLock { $0.append(line) } }
    func clear() { lines.withLock { $0 = [] } }
    var isEmpty: Bool { lines.withLock { $0.isEmpty } }
    func joined() -> String { lines.withLock { $0.joined(separator: "\n") } }
}

/// A clock that advances by a millisecond at each reading.
private final class SharedClock: Sendable {
    private let milliseconds = Atomic<Int64>(1_790_000_000_000)
    func now() -> Int64 { milliseconds.add(1, ordering: .relaxed).newValue }
}

/// Numbers that are the same in each life.
private final class SharedRandom: Sendable {
    private let state: Mutex<UInt64>

    init(seed: UInt64) { state = Mutex(seed) }

    func bytes(_ count: Int) -> [UInt8] {
        state.withLock { state in
            (0..<count).map { _ in
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                return UInt8(truncatingIfNeeded: state >> 56)
            }
        }
    }
}
