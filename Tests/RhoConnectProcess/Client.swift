import Foundation
import MobileExecution
import MobileStore
import MobileTransport
import RhoConnectClient

/// A client. Commands: `server PORT`; `create TITLE VALUE`, `save ID VALUE`, `destroy ID`; `sync USER`, which logs in where it is necessary and answers refusals;
/// `search TITLE`; `drop` removes creates that stay without confirmation; `objects`; `changed`. Stages: `sent`, `chunk` and `received`, of a request.
final class Client: Role {
    private let killer: Killer
    private let transport: ServerTransport
    private let client: RhoConnectClient
    private let item = RhomModel("Item")

    init(path: String) throws {
        killer = Killer()
        transport = ServerTransport(killer)
        var settings = RhoConnectClient.Settings()
        settings.pageSize = 3
        client = RhoConnectClient(try RhoConnectClient.initDatabase(ConnectionProfile(path: path)), transport: transport, settings: settings)
        try client.addModels([item])
        try client.setSyncServer(ServerTransport.address)
    }

    func perform(_ words: [String]) throws -> String {
        switch words.first {
        case "server": transport.port.withLock { $0 = words[1] }
        case "create": try item.create(["title": words[1], "v": words[2]])
        case "save": try item.save(["object": words[1], "v": words[2]])
        case "destroy": try item.destroy(["object": words[1]])
        case "sync":
            if !client.isLoggedIn { client.login(user: words[1], password: "p4ss") }
            let result = client.syncAll()
            if result.hasCreateErrors { try client.onCreateError(result, action: .delete) }
            if result.hasUpdateErrors { try client.onUpdateError(result, action: .rollback) }
            return String(result.errorCode.rawValue)
        case "search": return String(client.search([item], parameters: "search%5Btitle%5D=" + words[1], syncChanges: true).errorCode.rawValue)
        case "drop":
            var notify = RhoConnectNotify(status: .error)
            notify.serverErrors.create = try item.unconfirmedCreates().map { .init(sourceName: "Item", object: $0, message: "", attributes: [:]) }
            try client.onCreateError(notify, action: .delete)
        case "objects":
            return try text(
                of: Dictionary(
                    uniqueKeysWithValues: item.findAll().map { object in (object["object"] ?? "", object.filter { ["title", "v"].contains($0.key) }) }
                ))
        case "changed": return try item.isChanged() ? "yes" : "no"
        case "die": killer.set(words)
        default: throw UnknownCommand(words: words)
        }
        return "done"
    }
}

/// HTTP to the port of the moment: a face that begins again has another one.
private final class ServerTransport: Transport {
    static let address = "http://face.invalid/"
    let port = SystemLock("1")
    private let http = HTTPTransport()
    private let killer: Killer

    init(_ killer: Killer) { self.killer = killer }

    func send(_ request: TransportRequest, receive: (RawSpan) throws -> Void) throws -> TransportResponse {
        var request = request
        request.url = "http://127.0.0.1:\(port.withLock { $0 })/" + request.url.dropFirst(Self.address.count)
        killer.pass("sent")
        let response = try http.send(request) { chunk in
            killer.pass("chunk")
            try receive(chunk)
        }
        killer.pass("received")
        return response
    }
}
