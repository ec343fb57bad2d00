import MobileExecution
import MobileServer
import MobileServerRhoConnect
import MobileStore
import MobileTransport
import RhoConnectClient
import TestSupport
import Testing

/// Two clients and the face over a network that cuts, with creates, changes, deletions and refusals at random.
///
/// The model: every object has a title of its own. At the end, when the network works and all have synchronized, the back end has exactly the titles that
/// were created and not destroyed or refused, each once, and both clients have exactly the back end's objects.
@Suite struct RandomHistoryTests {
    /// How a client breaks the rule about page tokens.
    enum Fault: Sendable, CaseIterable {
        /// The query has no token: the page that was lost counts as received.
        case noToken
        /// The query has the token of the last page that the server sent, also of one that was never committed.
        case sentToken
    }

    /// The seeds of the histories; `RHO_HISTORIES=500` in the environment sets their number.
    static func seeds(_ count: UInt64) -> [UInt64] { Array(1...UInt64(TestSetting.number("RHO_HISTORIES") ?? Int(count))) }

    @Test("histories of two clients converge: nothing is lost, nothing doubled", arguments: Self.seeds(10))
    func histories(seed: UInt64) throws {
        let problems = try History(seed: seed, fault: nil).run()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("histories of two clients and several faces on one state, which end and begin, converge as well", arguments: Self.seeds(6))
    func severalFaces(seed: UInt64) throws {
        let problems = try History(seed: seed, fault: nil, hasSeveralFaces: true).run()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
    }

    @Test("a client that breaks the rule about page tokens is caught", arguments: Fault.allCases)
    func brokenTokens(fault: Fault) throws {
        let seeds = 1...12 as ClosedRange<UInt64>
        #expect(try seeds.contains { try !History(seed: $0, fault: fault).run().isEmpty })
    }
}

/// One history.
private final class History {
    private let bench: FaceBench
    private let network: SimulatedTransport
    /// The faces that answer in turn.
    private let faces: SystemLock<[RhoConnectServer]>
    private let hasSeveralFaces: Bool
    private var random: SeededGenerator
    private var devices: [Device] = []
    private var created: Set<String> = []
    private var gone: Set<String> = []
    private var number = 0

    /// A client with its database.
    private final class Device {
        let path: String
        let user: String
        let transport: any Transport
        var database: RhomDatabase
        var client: RhoConnectClient
        var item = RhomModel("Item")

        init(path: String, user: String, transport: any Transport) throws {
            (self.path, self.user, self.transport) = (path, user, transport)
            database = try RhoConnectClient.initDatabase(ConnectionProfile(path: path))
            client = RhoConnectClient(database, transport: transport, settings: Self.settings)
            try open()
        }

        static var settings: RhoConnectClient.Settings {
            var settings = RhoConnectClient.Settings()
            settings.pageSize = 3
            return settings
        }

        private func open() throws {
            item = RhomModel("Item")
            try client.addModels([item])
            try client.setSyncServer("http://memory/")
        }

        /// Opens the database again, as a new process does.
        func restart() throws {
            try database.close()
            database = try RhoConnectClient.initDatabase(ConnectionProfile(path: path))
            client = RhoConnectClient(database, transport: transport, settings: Self.settings)
            try open()
        }

        /// Removes new objects that the server does not confirm.
        func dropUnconfirmed() throws {
            var notify = RhoConnectNotify(status: .error)
            notify.serverErrors.create = try item.unconfirmedCreates().map { .init(sourceName: "Item", object: $0, message: "", attributes: [:]) }
            try client.onCreateError(notify, action: .delete)
        }

        /// Synchronizes, and answers refusals.
        @discardableResult
        func synchronize() throws -> RhoConnectNotify {
            if !client.isLoggedIn { client.login(user: user, password: "p4ss") }
            let result = client.syncAll()
            if result.hasCreateErrors { try client.onCreateError(result, action: .delete) }
            if result.hasUpdateErrors { try client.onUpdateError(result, action: .rollback) }
            return result
        }
    }

    init(seed: UInt64, fault: RandomHistoryTests.Fault?, hasSeveralFaces: Bool = false) throws {
        let bench = try FaceBench { source in
            source.pollInterval = 0
            source.partition = .app
        }
        self.bench = bench
        bench.adapter.state.withLock { $0.refusal = { kind, _, attributes in kind != "delete" && attributes["v"] == "bad" ? "refused" : nil } }
        self.hasSeveralFaces = hasSeveralFaces
        let faces = SystemLock(hasSeveralFaces ? [bench.face, try bench.another()] : [bench.face])
        self.faces = faces
        network = SimulatedTransport(
            server: { request in
                let face = faces.withLock { faces in
                    faces.append(faces.removeFirst())
                    return faces[0]
                }
                return face.respond(to: request)
            }, seed: seed)
        random = SeededGenerator(seed: seed)
        for user in ["kim", "lee"] {
            let transport: any Transport = fault.map { BrokenTokens($0, network) } ?? network
            devices.append(try Device(path: bench.directory.file(user + ".db"), user: user, transport: transport))
            try devices[devices.count - 1].synchronize()
        }
    }

    /// Runs the history.
    /// - Returns: the rules that it broke.
    func run() throws -> [String] {
        network.conditions = .unreliable(probability: 0.3, maximumBytes: 600)
        for _ in 0..<50 { try step(devices[Int.random(in: 0..<2, using: &random)]) }
        network.conditions = NetworkConditions()
        for _ in 0..<6 { for device in devices { try device.synchronize() } }
        // The error of a refused create is sent once. Where its answer was lost, the application asks the user.
        for device in devices { try device.dropUnconfirmed() }
        return try problems()
    }

    private func step(_ device: Device) throws {
        let objects = try device.item.findAll()
        switch Int.random(in: 0..<11, using: &random) {
        case 0, 1, 2:
            number += 1
            let title = "t\(number)", isBad = Int.random(in: 0..<6, using: &random) == 0
            try device.item.create(["title": title, "v": isBad ? "bad" : "0"])
            if isBad { gone.insert(title) } else { created.insert(title) }
        case 3, 4:
            guard let object = objects.randomElement(using: &random), object["v"] != "bad" else { return }
            number += 1
            try device.item.save(["object": object["object"] ?? "", "v": "\(number)"])
        case 5:
            guard let object = objects.randomElement(using: &random), let title = object["title"] else { return }
            try device.item.destroy(["object": object["object"] ?? ""])
            gone.insert(title)
        case 6:
            // The back end changes by itself.
            number += 1
            let value = "\(number)", pick = bench.adapter.objects.keys.sorted().randomElement(using: &random)
            if let pick { bench.adapter.state.withLock { $0.objects[pick]?["v"] = value } }
        case 7 where hasSeveralFaces && Bool.random(using: &random):
            // A process ends, and another one takes its place.
            let next = try bench.another()
            faces.withLock { $0[0] = next }
        case 7: try device.restart()
        case 8:
            guard device.client.isLoggedIn,
                let title = bench.adapter.objects.values.compactMap({ $0["title"] }).sorted().randomElement(using: &random)
            else { return }
            device.client.search([device.item], parameters: "search%5Btitle%5D=" + title, syncChanges: Bool.random(using: &random))
        default: try device.synchronize()
        }
    }

    private func problems() throws -> [String] {
        var problems: [String] = []
        let backEnd = bench.adapter.objects
        let titles = backEnd.values.compactMap { $0["title"] }.sorted(), expected = created.subtracting(gone).sorted()
        if titles != expected { problems.append("the back end has \(titles), expected \(expected)") }
        for device in devices {
            let local = try device.item.findAll()
            let held = Dictionary(local.map { ($0["object"] ?? "", $0.filter { $0.key != "object" && $0.key != "source_id" }) }) { $1 }
            if held != backEnd {
                problems.append("\(device.user) has \(held.sorted { $0.key < $1.key }), the back end \(backEnd.sorted { $0.key < $1.key })")
            }
            if try device.item.isChanged() { problems.append("\(device.user) has changes that wait") }
        }
        return problems
    }
}

/// A transport that gives queries wrong tokens.
private final class BrokenTokens: Transport {
    private let fault: RandomHistoryTests.Fault
    private let inner: any Transport
    /// The token of the last page whose beginning arrived.
    private let arrived = SystemLock("1")
    private let queries = SystemLock(0)

    init(_ fault: RandomHistoryTests.Fault, _ inner: any Transport) { (self.fault, self.inner) = (fault, inner) }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        guard request.method == "GET", let range = request.url.firstRange(of: "&token=") else { return try inner.send(request, receive: receive) }
        // A wrong token can have the server send the same page without end.
        let count = queries.withLock { count in
            count += 1
            return count
        }
        guard count < 400 else { throw TransportError(.cannotConnect, "too many queries") }
        var request = request
        request.url = request.url[..<range.lowerBound] + (fault == .noToken ? "" : "&token=" + arrived.withLock { $0 })
        var text = ""
        return try inner.send(request) { chunk in
            text += chunk.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            if let start = text.firstRange(of: "{\"token\":\""), let end = text[start.upperBound...].firstIndex(of: "\"") {
                let token = String(text[start.upperBound..<end])
                arrived.withLock { $0 = token.isEmpty ? "1" : token }
            }
            try receive(chunk)
        }
    }
}
