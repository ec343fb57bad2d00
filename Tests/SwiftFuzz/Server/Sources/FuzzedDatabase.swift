import Foundation

/// The database of the server's state on a PostgreSQL server that ../../../CoreFuzz/run has started. Each life begins with a copy of the same one.
struct FuzzedDatabase {
    /// The folder of the server's socket.
    let socketFolder: String

    /// The address for a server.
    var address: String { "host=\(socketFolder) user=postgres dbname=life" }

    /// Makes an empty database.
    func make() throws { try run("createdb", ["life"]) }

    /// Keeps the present content for all lives. The server has ended.
    func keep() throws { try run("createdb", ["--template=life", "new"]) }

    /// Puts the kept content back. The server has ended.
    func restore() throws {
        try run("dropdb", ["--force", "life"])
        try run("createdb", ["--template=new", "life"])
    }

    private func run(_ program: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, "--host=\(socketFolder)", "--username=postgres"] + arguments
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad, userInfo: [NSDebugDescriptionErrorKey: program]) }
    }
}
