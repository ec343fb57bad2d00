internal import Foundation
internal import MobileExecution
internal import TestSupport

/// Folders, users, ports and processes of servers.
package enum ServerFolder {
    /// Makes a folder that belongs to the server's user. Its path is short, because the path of a socket has about 100 bytes.
    static func make() throws -> String {
        let parent = FileManager.default.temporaryDirectory.path
        // The name of a socket in the folder has at most 107 bytes.
        var name = Array(((parent.utf8.count <= 70 ? parent : "/tmp") + "/pg.XXXXXX").utf8CString)
        guard mkdtemp(&name) != nil else { throw POSIXError(.EACCES) }
        let folder = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if isRoot {
            try FileManager.default.setAttributes([.ownerAccountName: serverUser, .groupOwnerAccountName: serverUser], ofItemAtPath: folder)
        }
        return folder
    }

    private static var isRoot: Bool { geteuid() == 0 }

    /// PostgreSQL does not run as root; Debian's package makes this user.
    private static let serverUser = "postgres"

    /// The command as it runs for the server's user.
    static func asServer(_ command: [String]) -> [String] {
        guard isRoot else { return command }
        return ["/usr/bin/env", "setpriv", "--reuid=\(serverUser)", "--regid=\(serverUser)", "--init-groups"] + command
    }

    /// Writes a file of the server that no other user reads.
    static func write(_ text: String, to path: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path))
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o600]
        if isRoot { attributes.merge([.ownerAccountName: serverUser, .groupOwnerAccountName: serverUser]) { $1 } }
        try FileManager.default.setAttributes(attributes, ofItemAtPath: path)
    }

    /// Runs a program as the server's user.
    static func run(_ command: [String]) throws -> (status: Int32, output: String) {
        let process = ChildProcess(), output = Pipe(), command = asServer(command)
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(filePath: "/tmp")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    /// A process and its children.
    static func processes(of parent: Int32) -> [Int32] {
        let list = (try? run(["/bin/ps", "-A", "-o", "pid=,ppid="]))?.output ?? ""
        let children = list.split(separator: "\n").map { $0.split(separator: " ").compactMap { Int32($0) } }.filter {
            $0.count == 2 && $0[1] == parent
        }
        return [parent] + children.map { $0[0] }
    }

    private static let givenPorts = SystemLock<Set<UInt16>>([])

    /// Returns a port of the loopback interface that is free, and that no other call in this process returns.
    ///
    /// It is smaller than those that the kernel chooses by itself (32768 and above unless configured otherwise): no connection and no server on a
    /// port of the kernel's choice takes it before the caller's server does, or while that is restarted.
    package static func freePort() throws -> UInt16 {
        for _ in 0..<1000 {
            let port = UInt16.random(in: 12_000..<32_000)
            if givenPorts.withLock({ $0.insert(port).inserted }), isFree(port) { return port }
        }
        throw POSIXError(.EADDRNOTAVAIL)
    }

    private static func isFree(_ port: UInt16) -> Bool {
        withLoopback(port) { listener, address, length in bind(listener, address, length) == 0 }
    }

    /// Whether a server listens at a port of the loopback interface.
    package static func isListening(_ port: UInt16) -> Bool {
        withLoopback(port) { client, address, length in connect(client, address, length) == 0 }
    }

    private static func withLoopback(_ port: UInt16, _ body: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Bool) -> Bool {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = port.bigEndian
        return withUnsafeBytes(of: &address) { bytes in
            body(descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress!, socklen_t(bytes.count))
        }
    }
}
