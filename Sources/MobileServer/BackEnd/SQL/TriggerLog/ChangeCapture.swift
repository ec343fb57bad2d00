internal import Foundation
internal import MobileModel
internal import MobileStore

/// The trigger logs that the objects of one package need in its back ends: installed, removed and checked on behalf of the back ends' owners.
///
/// Objects whose binding says `"changeDetection": "triggerLog"` need them; see <doc:BackEnds>.
public struct ChangeCapture: Sendable {
    /// The state of one table's log.
    public struct Status: Sendable, Equatable {
        /// The name of the back end in the model.
        public let backEnd: String
        /// The table as the model names it.
        public let table: String
        /// Whether the log has all changes that the objects need.
        public let isInstalled: Bool
    }

    private let deployment: PackageDeployment

    /// - Parameter deployment: the package with the places of its back ends.
    public init(_ deployment: PackageDeployment) { self.deployment = deployment }

    /// Returns the statements that install the logs, for the owner to look at and run. They keep logs of other packages in the same database.
    /// - Returns: for each back end that needs one its name, and the script in the words of its engine.
    /// - Throws: ``ServerError`` for a back end that cannot be opened, a table that it does not have, and one whose changes no trigger can see.
    public func installationScripts() throws -> [(backEnd: String, script: String)] { try installation().map { ($0, Self.script($1)) } }

    /// Returns the statements that remove the logs.
    /// - Returns: for each back end that the model uses so its name, and the script.
    /// - Throws: ``ServerError`` as ``installationScripts()``.
    public func removalScripts() throws -> [(backEnd: String, script: String)] { try removal().map { ($0, Self.script($1)) } }

    /// Installs the logs.
    /// - Throws: ``ServerError`` as ``installationScripts()``, and the errors of the back ends. A back end is changed as a whole or not at all.
    public func install() throws { try run(installation()) }

    /// Removes the logs.
    /// - Throws: ``ServerError`` as ``installationScripts()``, and the errors of the back ends.
    public func remove() throws { try run(removal()) }

    /// Looks at the logs.
    /// - Throws: ``ServerError`` as ``installationScripts()``.
    public func status() throws -> [Status] {
        try forEachBackEnd { backEnd, engine, tables in
            try engine.read { connection in
                try tables.map { name, columns in
                    let capture = try connection.table(named: name).flatMap { try connection.triggerLog.capture(of: $0) }
                    let needed = try columns(connection)
                    return Status(
                        backEnd: backEnd.name, table: name, isInstalled: capture.map { needed.allSatisfy($0.columns.contains) } ?? false)
                }
            }
        }.flatMap { $0 }
    }

    /// Removes old entries of the logs. A device that was away for longer loses nothing: its rows are compared once.
    /// - Parameter age: the age that an entry may have; one week is plenty.
    /// - Returns: the number of removed entries.
    /// - Throws: ``ServerError`` as ``installationScripts()``, and the errors of the back ends.
    @discardableResult
    public func prune(olderThan age: Duration) throws -> Int {
        let time = Int64(Date().timeIntervalSince1970) - age.components.seconds
        return try forEachBackEnd { _, engine, _ in try engine.write(label: "old changes") { try $0.triggerLog.prune(before: time) } }.reduce(0, +)
    }

    // MARK: Parts

    private typealias Columns = (any BackEndConnection) throws -> [String]

    private static func script(_ statements: [String]) -> String {
        "BEGIN;\n" + statements.map { $0 + ";\n" }.joined() + "COMMIT;\n"
    }

    private func run(_ scripts: [(backEnd: String, statements: [String])]) throws {
        let statements = Dictionary(uniqueKeysWithValues: scripts)
        _ = try forEachBackEnd { backEnd, engine, _ in
            try engine.write(label: "trigger log") { connection in
                for statement in statements[backEnd.name] ?? [] { try connection.execute(statement) }
            }
        }
    }

    private func installation() throws -> [(backEnd: String, statements: [String])] {
        try statements { log, tables in
            for capture in tables {
                guard let obstacle = try log.obstacle(to: capture.table) else { continue }
                throw ServerError(.missingTable, "table \"\(capture.table.name)\": \(obstacle); let its objects find changes by digest")
            }
            return try log.installation(of: tables)
        }
    }

    private func removal() throws -> [(backEnd: String, statements: [String])] { try statements { try $0.removal(of: $1.map(\.table)) } }

    private func statements(
        _ make: (any TriggerLog, [TableToCapture]) throws -> [String]
    ) throws -> [(backEnd: String, statements: [String])] {
        try forEachBackEnd { backEnd, engine, tables in
            try engine.read { connection in
                let captures = try tables.map { name, columns in
                    guard let table = try connection.table(named: name) else {
                        throw ServerError(.missingTable, "the back end \"\(backEnd.name)\" (\(engine.place)) has no table \"\(name)\"")
                    }
                    // Another package may need other columns of the same table.
                    let known = try connection.triggerLog.capture(of: table)?.columns ?? [], own = try columns(connection)
                    return TableToCapture(table: table, columns: known + own.filter { !known.contains($0) })
                }
                return (backEnd.name, try make(connection.triggerLog, captures))
            }
        }
    }

    /// Calls `body` for each back end with logged objects, with its open engine, and the tables' names with the columns that they need.
    private func forEachBackEnd<R>(_ body: (BackEndModel, any SQLEngine, [(name: String, columns: Columns)]) throws -> R) throws -> [R] {
        let deployer = PackageDeployer(deployment, timeout: ServerConfiguration.defaultConnectionTimeout, wholeValueLimit: 0)
        var results: [R] = []
        for backEnd in deployment.model.backEnds {
            let tables = tables(of: backEnd)
            guard !tables.isEmpty else { continue }
            let engine = try deployer.engine(of: backEnd)
            defer { try? engine.close() }
            results.append(try body(backEnd, engine, tables))
        }
        return results
    }

    private func tables(of backEnd: BackEndModel) -> [(name: String, columns: Columns)] {
        var keys: [String: [(binding: BackEndBinding, key: [String])]] = [:], names: [String] = []
        for object in deployment.model.objects {
            guard let binding = object.binding, binding.backEnd == backEnd.name, case .triggerLog(let others) = binding.changeDetection else {
                continue
            }
            for name in [binding.table] + others where !names.contains(name) { names.append(name) }
            keys[binding.table, default: []].append((binding, object.primaryKey))
        }
        return names.map { name in
            let wanted = (keys[name] ?? []).flatMap { binding, key in key.map { binding.column(of: $0) } }
            return (
                name,
                { connection in
                    let table = try connection.table(named: name)
                    return wanted.reduce(into: []) { columns, column in
                        let column = table?.column(named: column)?.name ?? column
                        if !columns.contains(column) { columns.append(column) }
                    }
                }
            )
        }
    }
}
