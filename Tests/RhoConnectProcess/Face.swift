import Foundation
import MobileCrypto
import MobileExecution
import MobileServer
import MobileServerRhoConnect
import MobileStore

/// A face on a port of the loopback interface. Commands: `port`; `objects`; `set ID VALUE` changes an object of the back end; `rest` waits for the requests that
/// are being answered, and forgets a kill. Stages: `request`, `query`, `before` and `after` a change, `answer`.
final class Face: Role {
    private let adapter: FileAdapter
    private let killer = Killer()
    private let http: HTTPServer
    private let requests = Requests()

    init(state: String, backEnd: String) throws {
        let killer = killer, requests = requests
        var configuration = ServerConfiguration(cachePath: state, packages: [], users: ["kim": "p4ss", "lee": "p4ss"])
        configuration.passwordParameters = .init(n: 16)
        adapter = try FileAdapter(backEnd, killer)
        var source = RhoConnectSource("Item", adapter: adapter)
        (source.pollInterval, source.partition) = (0, .app)
        let face = try RhoConnectServer(MobileServer(configuration), sources: [source])
        http = try HTTPServer(port: 0) { request in
            requests.count {
                killer.pass("request")
                let response = face.respond(to: request)
                killer.pass("answer")
                return response
            }
        }
    }

    func perform(_ words: [String]) throws -> String {
        switch words.first {
        case "port": return String(http.port)
        case "objects": return try text(of: adapter.objects())
        case "set":
            try adapter.set(words[1], words[2])
            return "done"
        case "die":
            killer.set(words)
            return "done"
        case "rest":
            requests.wait()
            killer.set(["die", "never", "1", "0"])
            return "done"
        default: throw UnknownCommand(words: words)
        }
    }
}

/// The requests that are being answered.
private final class Requests: @unchecked Sendable {
    // Guarded by the condition.
    private let condition = NSCondition()
    private var active = 0

    func count<R>(_ body: () throws -> R) rethrows -> R {
        add(1)
        defer { add(-1) }
        return try body()
    }

    private func add(_ change: Int) {
        condition.lock()
        active += change
        condition.broadcast()
        condition.unlock()
    }

    func wait() {
        condition.lock()
        while active > 0 { condition.wait() }
        condition.unlock()
    }
}

/// A back end in a file. It remembers the changes that it did, in their own transactions: one that comes again after the death of a face is not done twice.
final class FileAdapter: RhoConnectAdapter {
    private let store: Database
    private let killer: Killer

    init(_ path: String, _ killer: Killer) throws {
        self.killer = killer
        store = try Database(ConnectionProfile(path: path))
        try store.write { connection in
            try connection.execute("CREATE TABLE IF NOT EXISTS item (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, v TEXT NOT NULL)")
            try connection.execute("CREATE TABLE IF NOT EXISTS done (change TEXT PRIMARY KEY, result TEXT)")
        }
    }

    func objects() throws -> [String: [String: String]] {
        let rows = try store.read { try $0.rows("SELECT 'b' || id, title, v FROM item") }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0].text ?? "", ["title": $0[1].text ?? "", "v": $0[2].text ?? ""]) })
    }

    func set(_ object: String, _ value: String) throws {
        try store.write { _ = try $0.execute("UPDATE item SET v = ?2 WHERE 'b' || id = ?1", [.text(object), .text(value)]) }
    }

    func query(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        killer.pass("query")
        return try objects()
    }

    func search(user: String, parameters: [String: String]) throws -> [String: [String: String]] {
        try objects().filter { object in parameters.allSatisfy { object.value[$0.key] == $0.value } }
    }

    func change(_ change: RhoConnectChange) throws -> String? {
        killer.pass("before")
        let result = try store.write { connection -> String? in
            if let done = try connection.first("SELECT result FROM done WHERE change = ?1", [.text(change.id)]) { return done[0].text }
            guard change.kind == .delete || change.attributes["v"] != "bad" else { throw RhoConnectAdapterError("refused") }
            var result: String?
            switch change.kind {
            case .create:
                let row = try connection.first(
                    "INSERT INTO item (title, v) VALUES (?1, ?2) RETURNING 'b' || id",
                    [Value(change.attributes["title"]), Value(change.attributes["v"])])
                result = row?[0].text
            case .update:
                try connection.execute("UPDATE item SET v = ?2 WHERE 'b' || id = ?1", [.text(change.object), Value(change.attributes["v"])])
            case .delete: try connection.execute("DELETE FROM item WHERE 'b' || id = ?1", [.text(change.object)])
            }
            try connection.execute("INSERT INTO done VALUES (?1, ?2)", [.text(change.id), Value(result)])
            return result
        }
        killer.pass("after")
        return result
    }
}

/// Objects as one line: a JSON object.
func text(of objects: [String: [String: String]]) throws -> String {
    String(decoding: try JSONSerialization.data(withJSONObject: objects, options: .sortedKeys), as: UTF8.self)
}
