internal import Foundation
internal import MobileExecution
internal import MobileModel
internal import MobileServer
internal import MobileSync
internal import MobileTransport
internal import PostgreSQLClient
internal import PostgreSQLTestSupport
internal import TestSupport

/// The server of a world as one to three processes of `mobile serve` over one state in PostgreSQL, with nginx in front of several.
final class ServerProcesses: WorldServer {
    /// A process did not do what it must, in its own words.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let ground: ProcessGround
    let count: Int
    private let folder: String, backEnd: String
    private let modelCount: Int
    private let article: ServerArticle
    /// Whether the first process starts before the others, where a known fault would end one of them.
    private let startsApart: Bool
    private let ports: [UInt16], proxyPort: UInt16

    private struct Running {
        var state: PostgreSQLTestDatabase
        /// Whether no process has opened the state yet.
        var isNew = true
        var saved: PostgreSQLTestDatabase?
        var servers: [Int: ChildProcess] = [:]
        var proxy: ChildProcess?
    }
    private let running: SystemLock<Running>

    /// - Parameter backEnd: the address of the back end.
    init(_ world: World, _ models: [String], backEnd: String, folder: String, _ ground: ProcessGround, startsApart: Bool) throws {
        (self.startsApart, modelCount) = (startsApart, models.count)
        (self.ground, self.folder, self.backEnd) = (ground, folder, backEnd)
        count = min(max(world.processes ?? 1, 1), 3)
        article = try ServerArticle()
        ports = try (0..<count).map { _ in try ServerFolder.freePort() }
        proxyPort = try ServerFolder.freePort()
        for (index, model) in models.enumerated() { try Data(model.utf8).write(to: URL(filePath: folder + "/world\(index + 1).mbo.json")) }
        running = SystemLock(Running(state: try ground.newState()))
        let administration = try ServerAdministration(cacheOf: configuration)
        for (index, regions) in world.users.enumerated() {
            try administration.setAttribute("region", to: Set(regions.map(\.rawValue)), ofUser: ServerBench.user(index))
        }
        try administration.close()
        try startAll()
        if count > 1 { try startProxy() }
        try waitUntilReady()
    }

    deinit { killAll() }

    private var configuration: ServerConfiguration {
        var configuration = ServerConfiguration(cachePath: "", packages: [])
        configuration.storeAddress = state.configuration.address
        return configuration
    }

    var state: PostgreSQLTestDatabase { running.withLock { $0.state } }

    /// The port of the devices.
    var port: UInt16 { count == 1 ? ports[0] : proxyPort }

    func network(seed: UInt64, clock: VirtualClock) -> any DeviceNetwork {
        let port = port
        return HTTPNetwork { port }
    }

    // MARK: Processes

    /// Starts all processes that are not there, at the same time, and waits until each listens.
    func startAll() throws {
        let missing = running.withLock { running in (0..<count).filter { running.servers[$0] == nil } }
        // The first process makes the tables of a new state.
        if startsApart, running.withLock({ $0.isNew }) {
            try start([0])
            try start(Array(missing.dropFirst()))
        } else {
            try start(missing)
        }
        running.withLock { $0.isNew = false }
    }

    private func start(_ missing: [Int]) throws {
        let started = try missing.map { ($0, try spawn($0)) }
        // All of them, before one fails: `kill` ends what is here.
        running.withLock { running in for (index, (process, _)) in started { running.servers[index] = process } }
        for (index, (_, output)) in started {
            guard Self.hasInput(output, within: 20_000), !output.fileHandleForReading.availableData.isEmpty else {
                kill(index)
                throw Failure(description: "process \(index) does not listen: \(log(index))")
            }
        }
    }

    private func spawn(_ index: Int) throws -> (ChildProcess, Pipe) {
        let process = ChildProcess(), output = Pipe()
        process.executableURL = Program.built("mobile")
        process.arguments = arguments(index)
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = try Self.appending(to: folder + "/server-\(index).log")
        try ground.guardian.start(process)
        return (process, output)
    }

    /// The arguments of the service in the article, with the places of this world.
    private func arguments(_ index: Int) -> [String] {
        let changes = [
            "/etc/mobile/crm.mbo.json": folder + "/world1.mbo.json", "enterprise=/srv/crm/enterprise.db": "enterprise=" + backEnd,
            "postgresql://mobile@db.example/mobile": state.configuration.address, "8081": "\(ports[index])",
            "/var/cache/mobile/segments": folder + "/segments",
        ]
        var arguments = article.arguments.map { changes[$0] ?? $0 } + ["--drain-notice", "0"]
        for model in 2...modelCount { arguments += ["--model", folder + "/world\(model).mbo.json"] }
        // Without a proxy the server itself sends the files.
        for option in ["--segment-redirect", "--trusted-proxy"] where count == 1 {
            guard let place = arguments.firstIndex(of: option) else { continue }
            arguments.removeSubrange(place...place + 1)
        }
        return arguments
    }

    private static func hasInput(_ pipe: Pipe, within milliseconds: Int32) -> Bool {
        var waited = pollfd(fd: pipe.fileHandleForReading.fileDescriptor, events: Int16(POLLIN), revents: 0)
        return poll(&waited, 1, milliseconds) > 0
    }

    private static func appending(to path: String) throws -> FileHandle {
        if !FileManager.default.fileExists(atPath: path) { try Data().write(to: URL(filePath: path)) }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        return file
    }

    /// The last lines that a process wrote.
    func log(_ index: Int) -> String {
        let text = (try? String(contentsOfFile: folder + "/server-\(index).log", encoding: .utf8)) ?? ""
        return text.suffix(1000).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The last lines of nginx about requests that failed, and of each process.
    var lastErrors: String {
        func lines(_ name: String, _ count: Int, _ isShown: (Substring) -> Bool = { _ in true }) -> [String] {
            let text = (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? ""
            return text.split(separator: "\n").filter(isShown).suffix(count).map { "\n    \(name): \($0)" }
        }
        let answers = lines("access.log", 4) { $0.contains(/\s[45]\d\d\s/) } + lines("nginx.log", 4)
        let ended = running.withLock { $0.servers }.filter { !$0.value.isRunning }.map { index, process in
            let cause = process.terminationReason == .uncaughtSignal ? "by signal" : "with status"
            return "\n    process \(index) has ended \(cause) \(process.terminationStatus)"
        }
        return (ended + answers + (0..<count).flatMap { lines("server-\($0).log", 2) }).joined()
    }

    /// Whether an error of a device is a refusal that was lost because its connection broke before all of the request was sent.
    func hasCutOffRefusal(_ error: SyncError) -> Bool {
        // A body that is made while it is sent cannot be sent again over another connection.
        if error.message.contains("seek callback returned") { return true }
        guard error.code.rawValue == 502, let log = try? String(contentsOfFile: folder + "/nginx.log", encoding: .utf8) else { return false }
        let last = log.split(separator: "\n").last { $0.contains("[error]") } ?? ""
        return last.contains("while sending request to upstream") || last.contains("no live upstreams")
    }

    /// Kills a process (SIGKILL), and waits until it is gone.
    func kill(_ index: Int) {
        guard let process = running.withLock({ $0.servers.removeValue(forKey: index) }) else { return }
        ground.guardian.end(process, SIGKILL)
    }

    /// Sends a signal: SIGSTOP, SIGCONT, or SIGTERM.
    func signal(_ index: Int, _ signal: Int32) { running.withLock { $0.servers[index] }?.signal(signal) }

    /// Waits for the end of a process that got SIGTERM.
    func finishDrain(_ index: Int) throws {
        guard let process = running.withLock({ $0.servers.removeValue(forKey: index) }) else { return }
        let isOver = eventually { !process.isRunning }
        ground.guardian.end(process, SIGKILL)
        guard isOver, process.terminationStatus == 0 else {
            let ending = isOver ? "ended with status \(process.terminationStatus)" : "did not end"
            throw Failure(description: "process \(index) \(ending) after SIGTERM: \(log(index))")
        }
    }

    private func drainAll() throws {
        for index in 0..<count { signal(index, SIGTERM) }
        for index in 0..<count { try finishDrain(index) }
    }

    private func killAll() {
        for index in 0..<count { kill(index) }
        stopProxy()
    }

    // MARK: Proxy

    private func startProxy() throws {
        guard let nginx = ServerArticle.nginx else { throw Failure(description: ServerArticle.nginxIsMissing) }
        let configuration = article.proxy(at: proxyPort, to: ports, segments: folder + "/segments", folder: folder)
        try Data(configuration.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        let process = ChildProcess()
        process.executableURL = URL(filePath: nginx)
        process.arguments = ["-c", folder + "/nginx.conf", "-p", folder]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try Self.appending(to: folder + "/nginx.log")
        try ground.guardian.start(process)
        running.withLock { $0.proxy = process }
        guard eventually({ ServerFolder.isListening(proxyPort) || !process.isRunning }), process.isRunning else {
            throw Failure(description: "nginx does not listen: \((try? String(contentsOfFile: folder + "/nginx.log", encoding: .utf8)) ?? "")")
        }
    }

    /// Ends nginx at once: its workers do not finish requests.
    private func stopProxy() {
        guard let proxy = running.withLock({ $0.proxy.take() }) else { return }
        ground.guardian.end(proxy, SIGTERM)
    }

    /// Cuts the connections of all devices.
    func cutConnections() throws {
        stopProxy()
        try startProxy()
    }

    /// Waits until each process answers at `/ready`, and nginx finds one.
    func waitUntilReady() throws {
        let http = HTTPTransport()
        for port in Set(ports + [port]) {
            var last = ""
            let isReady = eventually {
                var request = TransportRequest(url: "http://127.0.0.1:\(port)/ready")
                (request.expects, request.totalTimeout) = (.any, .seconds(10))
                do {
                    let (response, body) = try http.send(request)
                    last = String(decoding: body, as: UTF8.self)
                    return response.status == 200
                } catch {
                    last = "\(error)"
                    return false
                }
            }
            guard isReady else { throw Failure(description: "port \(port) is not ready: \(last)") }
        }
    }

    /// Starts what a step has ended.
    func repair() throws {
        for index in 0..<count { signal(index, SIGCONT) }
        try startAll()
        if count > 1, running.withLock({ $0.proxy == nil }) { try startProxy() }
        try waitUntilReady()
    }

    // MARK: Administration

    /// Runs `mobile admin`.
    @discardableResult
    func administrate(_ arguments: [String]) throws -> String {
        let result = try Program.run(Program.built("mobile"), ["admin", "--store", state.configuration.address] + arguments)
        guard result.status == 0 else { throw Failure(description: "mobile admin \(arguments.joined(separator: " ")): \(result.output)") }
        return result.output
    }

    func setRegions(_ regions: Set<Region>, ofUser index: Int) throws {
        let values = regions.isEmpty ? ["--none"] : regions.sorted().map(\.rawValue)
        try administrate(["users", "attributes", ServerBench.user(index), "region"] + values)
    }

    func prune() throws { try administrate(["prune", "--backend", backEnd]) }

    // MARK: Steps of the operator

    func restart() throws {
        try drainAll()
        try repair()
    }

    func loseState() throws {
        try drainAll()
        let state = try ground.newState()
        running.withLock { ($0.state, $0.isNew) = (state, true) }
        try repair()
    }

    func saveState() throws {
        try drainAll()
        let saved = try PostgreSQLTestDatabase(copyOf: state)
        running.withLock { $0.saved = saved }
        try repair()
    }

    func restoreState() throws -> Bool {
        let (state, saved) = running.withLock { ($0.state, $0.saved) }
        guard let saved else { return false }
        try drainAll()
        try state.replace(with: saved)
        try repair()
        return true
    }

    func close() {
        killAll()
        ground.giveBack()
    }
}
