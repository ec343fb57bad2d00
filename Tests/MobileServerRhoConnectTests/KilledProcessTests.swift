import Foundation
import TestSupport
import Testing

/// Two clients and a face as processes, which are killed in the middle of their requests, against the model of ``RandomHistoryTests``.
///
/// The kill is made by the process that reaches a stage of a request, not by time. So each stage is hit: before and after a change of the back end, before
/// and after the answer, and in the middle of a page.
@Suite struct KilledProcessTests {
    @Test("processes that are killed within requests lose nothing and double nothing", arguments: RandomHistoryTests.seeds(3))
    func histories(seed: UInt64) throws {
        let history = try ProcessHistory(seed: seed)
        let problems = try history.run()
        #expect(problems.isEmpty, "\(problems.joined(separator: "\n"))")
        #expect(history.kills.face > 0 && history.kills.clients > 0, "\(history.kills)")
    }
}

/// A program of this package, which answers each line of its input by one line.
private final class Partner {
    private let process = ChildProcess(), input = Pipe(), output = Pipe()
    private var received = Data()
    /// Keeps the pipe whole: a write to a process that is dead would be a signal to this one.
    private let reader: FileHandle

    init(_ arguments: [String]) throws {
        process.executableURL = Program.built("rhoconnect-process")
        process.arguments = arguments
        reader = FileHandle(fileDescriptor: dup(input.fileHandleForReading.fileDescriptor), closeOnDealloc: true)
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try #require(nextLine() == "ready")
    }

    deinit {
        if process.isRunning { process.signal(SIGKILL) }
        process.waitUntilExit()
    }

    var id: Int32 { process.processIdentifier }

    /// Sends a command, and waits for its answer; nil from a process that died.
    func ask(_ words: String...) throws -> String? {
        try input.fileHandleForWriting.write(contentsOf: Data((words.joined(separator: " ") + "\n").utf8))
        guard let answer = nextLine() else {
            process.waitUntilExit()
            return nil
        }
        try #require(!answer.hasPrefix("error"), "\(words): \(answer)")
        return answer
    }

    private func nextLine() -> String? {
        while true {
            if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: received[received.startIndex..<end], as: UTF8.self)
                received.removeSubrange(received.startIndex...end)
                return line
            }
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { return nil }
            received += more
        }
    }
}

/// One history.
private final class ProcessHistory {
    private typealias Objects = [String: [String: String]]
    private let directory: TemporaryDirectory
    private var random: SeededGenerator
    private var face: Partner
    private var clients: [String: Partner] = [:]
    private var created: Set<String> = [], gone: Set<String> = []
    /// The values that each user gave to objects.
    private var saved: [String: Set<String>] = [:]
    private var number = 0
    private(set) var kills = (face: 0, clients: 0)

    init(seed: UInt64) throws {
        directory = try TemporaryDirectory()
        random = SeededGenerator(seed: seed)
        face = try Partner(["face", directory.file("state.db"), directory.file("back-end.db")])
        for user in ["kim", "lee"] {
            try start(user)
            try #require(try ask(user, "sync", user) == "0")
        }
    }

    /// Runs the history.
    /// - Returns: the rules that it broke.
    func run() throws -> [String] {
        for _ in 0..<120 { try step(["kim", "lee"][Int.random(in: 0..<2, using: &random)]) }
        for _ in 0..<6 { for user in ["kim", "lee"] { _ = try ask(user, "sync", user) } }
        for user in ["kim", "lee"] { _ = try ask(user, "drop") }
        return try problems()
    }

    private func step(_ user: String) throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1, 2:
            number += 1
            let isBad = Int.random(in: 0..<6, using: &random) == 0
            _ = try ask(user, "create", "t\(number)", isBad ? "bad" : "0")
            if isBad { gone.insert("t\(number)") } else { created.insert("t\(number)") }
        case 3, 4:
            number += 1
            guard let object = try objects(of: user).filter({ $0.value["v"] != "bad" }).keys.sorted().randomElement(using: &random) else { return }
            _ = try ask(user, "save", object, "\(number)")
            saved[user, default: []].insert("\(number)")
        case 5:
            let objects = try objects(of: user)
            guard let object = objects.keys.sorted().randomElement(using: &random), let title = objects[object]?["title"] else { return }
            _ = try ask(user, "destroy", object)
            gone.insert(title)
        case 6:
            number += 1
            guard let object = try objects(of: nil).keys.sorted().randomElement(using: &random) else { return }
            _ = try face.ask("set", object, "\(number)")
        case 7:
            guard let title = try objects(of: nil).values.compactMap({ $0["title"] }).sorted().randomElement(using: &random) else { return }
            try withKill(of: user) { try $0.ask("search", title) }
        default: try withKill(of: user) { try $0.ask("sync", user) }
        }
    }

    // MARK: Kills

    /// Has a client work while it or the face is killed at some stage, and starts again what was killed.
    private func withKill(of user: String, _ work: (Partner) throws -> String?) throws {
        guard let client = clients[user] else { return }
        let stages = ["request", "query", "before", "after", "answer"], count = String(Int.random(in: 1...3, using: &random))
        switch Int.random(in: 0..<4, using: &random) {
        case 0: break
        case 1: _ = try face.ask("die", stages.randomElement(using: &random) ?? "", count, "0")
        case 2: _ = try face.ask("die", stages.randomElement(using: &random) ?? "", count, String(client.id))
        default: _ = try client.ask("die", ["sent", "chunk", "received"].randomElement(using: &random) ?? "", count, "0")
        }
        let isAlive = try work(client) != nil
        if try face.ask("rest") == nil {
            kills.face += 1
            face = try Partner(["face", directory.file("state.db"), directory.file("back-end.db")])
            let port = try face.ask("port") ?? ""
            for (other, client) in clients where other != user || isAlive { _ = try client.ask("server", port) }
        }
        if isAlive {
            _ = try client.ask("die", "never", "1", "0")
        } else {
            kills.clients += 1
            try start(user)
        }
    }

    private func start(_ user: String) throws {
        let client = try Partner(["client", directory.file(user + ".db")])
        _ = try client.ask("server", try face.ask("port") ?? "")
        clients[user] = client
    }

    // MARK: The model

    private func ask(_ user: String, _ command: String, _ words: String...) throws -> String {
        try #require(try clients[user]?.ask(([command] + words).joined(separator: " ")), "\(user) died at \(command)")
    }

    /// The objects of a client, or of the back end.
    private func objects(of user: String?) throws -> Objects {
        let text = try user.map { try ask($0, "objects") } ?? face.ask("objects") ?? ""
        return try JSONDecoder().decode(Objects.self, from: Data(text.utf8))
    }

    private func problems() throws -> [String] {
        var problems: [String] = []
        let backEnd = try objects(of: nil)
        let titles = backEnd.values.compactMap { $0["title"] }.sorted(), expected = created.subtracting(gone).sorted()
        if titles != expected { problems.append("the back end has \(titles), expected \(expected)") }
        for user in ["kim", "lee"] {
            var held = try objects(of: user)
            // A change that another client repeats, because it had no answer, can replace this client's newer one before this client asks. The server then has
            // what it has sent to this client before, and sends nothing: the protocol does not show a client that its change was replaced by the older value.
            for (object, attributes) in held where saved[user]?.contains(attributes["v"] ?? "") == true { held[object]?["v"] = backEnd[object]?["v"] }
            if held != backEnd {
                problems.append("\(user) has \(held.sorted { $0.key < $1.key }), the back end \(backEnd.sorted { $0.key < $1.key })")
            }
            if try ask(user, "changed") == "yes" { problems.append("\(user) has changes that wait") }
        }
        return problems
    }
}
