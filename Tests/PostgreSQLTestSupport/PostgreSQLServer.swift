internal import Foundation
internal import MobileExecution
package import PostgreSQLClient
internal import TestSupport

/// A PostgreSQL server of the tests' own: a new data folder, a socket in a folder with a short path, settings for speed. It is stopped and removed with this
/// object, at the latest when the process ends, however it ends: a shell waits for that.
///
/// The user `postgres` logs in without a password. Members of the role `secret` need one, with scram-sha-256, and so does every login over TCP.
package final class PostgreSQLServer: Sendable {
    /// A program of PostgreSQL failed, or none is installed.
    package struct Failure: Error, CustomStringConvertible {
        /// The program's output.
        package let description: String
    }

    /// The folder of the socket.
    package let folder: String
    /// The port: the number in the socket's name, and, with TCP, on the loopback interface.
    package let port: UInt16

    private let programs: URL
    private let settings: [String: String]
    private let running = SystemLock<Guard?>(nil)

    /// Connections that make and remove databases: opening one costs as much as making a database.
    private let administrators: PostgreSQLPool

    /// Makes a data folder and starts the server.
    /// - Parameters:
    ///   - usesTCP: whether it also listens on a free port of 127.0.0.1.
    ///   - isDurable: whether a commit waits for the disk.
    ///   - hasOwnIdentifier: whether its system identifier is not that of the shared server. Making such a data folder takes a second.
    ///   - settings: further settings, as in `postgresql.conf`; values without spaces.
    package convenience init(
        usesTCP: Bool = false, isDurable: Bool = false, hasOwnIdentifier: Bool = false, settings: [String: String] = [:]
    ) throws {
        let template = hasOwnIdentifier ? nil : try Self.shared().template
        try self.init(copying: template, usesTCP: usesTCP, isDurable: isDurable, settings: settings)
    }

    /// Makes a data folder and starts the server.
    /// - Parameters:
    ///   - template: a data folder that is copied; nil for a new one.
    ///   - isTemplate: whether it keeps its data folder, as it is before the first start, for other servers.
    private init(
        copying template: String?, isTemplate: Bool = false, usesTCP: Bool = false, isDurable: Bool = false, settings: [String: String] = [:]
    ) throws {
        guard let programs = PostgreSQLInstallation.programs else { throw Failure(description: PostgreSQLInstallation.isMissing) }
        self.programs = programs
        folder = try ServerFolder.make()
        port = usesTCP ? try ServerFolder.freePort() : 5432
        var all = [
            "listen_addresses": usesTCP ? "127.0.0.1" : "''", "port": "\(port)", "unix_socket_directories": folder,
            "fsync": isDurable ? "on" : "off", "full_page_writes": isDurable ? "on" : "off", "shared_buffers": "16MB", "max_connections": "200", "max_locks_per_transaction": "256",
            // In the data folder, which is removed with the server: shared memory of a killed one would stay in /dev/shm.
            "dynamic_shared_memory_type": "mmap", "autovacuum": "off", "log_min_messages": "fatal",
        ]
        all.merge(settings) { $1 }
        self.settings = all
        administrators = Self.administrators(folder, port)
        do {
            let data = folder + "/data"
            if let template {
                try Self.run(["/bin/cp", "-a", template, data])
            } else {
                let maker = programs.appending(path: "initdb").path
                try Self.run([maker, "-D", data, "-U", "postgres", "-A", "trust", "-N", "-E", "UTF8", "--locale=C"])
                let access = """
                    local all +secret scram-sha-256
                    local all all trust
                    local replication all trust
                    host all all 127.0.0.1/32 scram-sha-256
                    """
                try ServerFolder.write(access + "\n", to: data + "/pg_hba.conf")
            }
            if isTemplate { try Self.run(["/bin/cp", "-a", data, self.template]) }
            try start()
            try PostgreSQLConnection(configuration(database: "postgres")).run(script: "CREATE ROLE secret NOLOGIN")
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    /// Makes a hot standby: a copy of a server that follows it until it is stopped.
    package init(standbyOf primary: PostgreSQLServer) throws {
        programs = primary.programs
        folder = try ServerFolder.make()
        port = primary.port
        settings = primary.settings.merging(["unix_socket_directories": folder]) { $1 }
        administrators = Self.administrators(folder, port)
        do {
            try Self.run([
                programs.appending(path: "pg_basebackup").path, "-D", folder + "/data", "-h", primary.folder, "-p", "\(primary.port)", "-U",
                "postgres",
                "-X", "stream", "-c", "fast", "-R", "-N",
            ])
            try start()
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    deinit {
        if let guardian = running.withLock({ $0 }) { guardian.removeServer() } else { try? FileManager.default.removeItem(atPath: folder) }
    }

    private static let sharedResult = Result { try PostgreSQLServer(copying: nil, isTemplate: true) }

    /// The server that tests of this process share, each with a database of its own.
    package static func shared() throws -> PostgreSQLServer { try sharedResult.get() }

    /// The data folder that other servers copy, of the shared server.
    private var template: String { folder + "/template" }

    private let templates = SystemLock<Set<String>>([])

    /// The name of a database that others are copied from; the first call makes it.
    func template(_ name: String, _ prepare: (PostgreSQLConfiguration) throws -> Void) throws -> String {
        let database = "template_" + name
        try templates.withLock { templates in
            guard !templates.contains(name) else { return }
            try administrate { try $0.execute("CREATE DATABASE \(database) TEMPLATE template0") }
            do { try prepare(configuration(database: database)) } catch {
                // The next caller gets the same error, and not that the database exists.
                try? administrate { _ = try $0.execute("DROP DATABASE \(database) WITH (FORCE)") }
                throw error
            }
            templates.insert(name)
        }
        return database
    }

    /// Runs a program that must succeed.
    private static func run(_ command: [String]) throws {
        let result = try ServerFolder.run(command)
        guard result.status == 0 else { throw Failure(description: result.output) }
    }

    // MARK: Connecting

    /// The settings for a database of this server.
    package func configuration(database: String, user: String = "postgres") -> PostgreSQLConfiguration {
        Self.configuration(folder, port, database: database, user: user)
    }

    private static func configuration(_ folder: String, _ port: UInt16, database: String, user: String) -> PostgreSQLConfiguration {
        PostgreSQLConfiguration("host=\(folder) port=\(port) dbname=\(database) user=\(user)")
    }

    private static func administrators(_ folder: String, _ port: UInt16) -> PostgreSQLPool {
        PostgreSQLPool(configuration(folder, port, database: "postgres", user: "postgres"), maximumConnections: 4)
    }

    /// Runs `body` with a connection to the database `postgres`, which it does not keep.
    @discardableResult
    func administrate<R>(_ body: (PostgreSQLConnection) throws -> R) throws -> R { try administrators.withConnection(body) }

    /// Makes an empty database, which is removed with the returned object.
    package func database() throws -> PostgreSQLTestDatabase { try PostgreSQLTestDatabase(on: self) }

    // MARK: Running and stopping

    /// Starts the server after a stop.
    package func start() throws { try start(settings) }

    private func start(_ settings: [String: String]) throws {
        let options = settings.sorted { $0.key < $1.key }.map { "-c \($0.key)=\($0.value)" }.joined(separator: " ")
        try running.withLock { running in
            guard running == nil else { return }
            running = try Guard(folder: folder, controls: programs.appending(path: "pg_ctl").path, options: options)
        }
    }

    /// Makes a stopped standby the primary, under the address of the killed one. Its commits since the standby was stopped are lost.
    package func promote(inPlaceOf primary: PostgreSQLServer) throws {
        try start(settings.merging(["unix_socket_directories": primary.folder]) { $1 })
        let connection = try PostgreSQLConnection(primary.configuration(database: "postgres"))
        guard try connection.first("SELECT pg_promote()") == [true] else { throw Failure(description: "the standby was not promoted") }
    }

    /// Stops the server; sessions end with the error 57P01.
    package func stop() { running.withLock { $0.take() }?.stop("fast") }

    /// Kills all processes of the server, as when its machine loses power.
    package func kill() {
        running.withLock { running in
            guard let guardian = running.take() else { return }
            for process in ServerFolder.processes(of: guardian.process) { send(SIGKILL, to: process) }
            guardian.stop("immediate")
        }
    }

    /// Stops the server at once, without a checkpoint, and starts it: it recovers from its log.
    package func restartAtOnce() throws {
        running.withLock { $0.take() }?.stop("immediate")
        try start()
    }

    /// Stops and starts the server.
    package func restart() throws {
        stop()
        try start()
    }

    /// Restarts the server as after the recovery of a backup, which begins a new timeline. It needs the setting `restore_command`.
    package func recover() throws {
        stop()
        try ServerFolder.write("", to: folder + "/data/recovery.signal")
        try start()
        let connection = try PostgreSQLConnection(configuration(database: "postgres"))
        while try connection.first("SELECT pg_is_in_recovery()") != [0] {}
    }

    /// Lets the server speak TLS over TCP.
    package func useTLS(certificate: String, key: String) throws {
        try ServerFolder.write(certificate, to: folder + "/data/server.crt")
        try ServerFolder.write(key, to: folder + "/data/server.key")
        try PostgreSQLConnection(configuration(database: "postgres")).execute("ALTER SYSTEM SET ssl = on")
        try restart()
    }

    /// Stops a process of the server, such as ``PostgreSQLConnection/processID``, without ending it.
    package func pause(process: Int) { send(SIGSTOP, to: Int32(process)) }

    /// Lets a stopped process continue.
    package func resume(process: Int) { send(SIGCONT, to: Int32(process)) }

    private func send(_ signal: Int32, to process: Int32) { _ = Foundation.kill(process, signal) }
}

/// A shell that starts the server, and stops it when its input ends: by a word of the tests, or with their process.
private final class Guard: Sendable {
    let process: Int32
    private let shell: SystemLock<(process: ChildProcess, input: FileHandle)>

    /// $1: folder, $2: pg_ctl, $3: options.
    private static let script = """
        # The end of the input is the sign: a signal to all processes of a run would leave the server.
        trap '' HUP INT TERM
        "$2" -D "$1/data" -w -t 60 -l "$1/log" -o "$3" start >&2 || { cat "$1/log" >&2; exit 1; }
        head -n 1 "$1/data/postmaster.pid"
        exec >&- 2>&-
        read -r way
        "$2" -D "$1/data" -w -t 60 -m "${way:-immediate}" stop
        [ -n "$way" ] || rm -rf "$1"
        """

    init(folder: String, controls: String, options: String) throws {
        let process = ChildProcess(), input = Pipe(), output = Pipe(), errors = Pipe()
        let command = ServerFolder.asServer(["/bin/sh", "-c", Self.script, "sh", folder, controls, options])
        process.executableURL = URL(filePath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(filePath: folder)
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let line = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let messages = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        guard let number = Int32(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw PostgreSQLServer.Failure(description: "PostgreSQL did not start: \(messages)")
        }
        self.process = number
        shell = SystemLock((process, input.fileHandleForWriting))
    }

    /// Stops the server in one of the ways of `pg_ctl`, and keeps its data.
    func stop(_ way: String) { end(Data((way + "\n").utf8)) }

    /// Stops the server and removes its folder.
    func removeServer() { end(Data()) }

    private func end(_ word: Data) {
        shell.withLock { shell in
            try? shell.input.write(contentsOf: word)
            try? shell.input.close()
            shell.process.waitUntilExit()
        }
    }
}
