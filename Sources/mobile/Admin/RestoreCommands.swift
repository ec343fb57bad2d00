import MobileServer

/// The commands of `mobile admin` about backups and about the end of what a server keeps.
enum RestoreCommands {
    static let usage = """
          restored [--backend FILE ...] notes that the server's database, or these SQLite files of back ends, were restored from a backup, where the
                                        server cannot notice it by itself: a PostgreSQL database that was filled again in place; stop the servers first
          reconciliation [PACKAGE]      the operations of devices whose fate a restored backup or a copied device has decided
          prune [--backend FILE ...]    removes everything that has come to its end, in the server's database and in the record of operations of these back ends

        """

    /// The action of a command; nil for an unknown command.
    static func work(_ command: String, _ values: [String]) throws(UsageError) -> ((ServerAdministration) throws -> [String])? {
        switch (command, values.count) {
        case ("restored", _):
            let paths = try backEnds(command, values)
            return { administration in
                if paths.isEmpty { try administration.declareRestored(.store) }
                for path in paths { try administration.declareRestored(.backEnd(path: path)) }
                return []
            }
        case ("prune", _):
            let paths = try backEnds(command, values)
            return { try $0.prune(backEnds: paths).map { "\($0.rows) \($0.name) removed" } }
        case ("reconciliation", 0...1): return { try reconciliation($0, values.first) }
        default: return nil
        }
    }

    /// Reads options `--backend FILE`.
    private static func backEnds(_ command: String, _ values: [String]) throws(UsageError) -> [String] {
        var paths: [String] = [], rest = values[...]
        while let option = rest.popFirst() {
            guard option == "--backend", let path = rest.popFirst() else {
                throw UsageError(message: "admin: \(command): write --backend FILE for each back end")
            }
            paths.append(path)
        }
        return paths
    }

    private static func reconciliation(_ administration: ServerAdministration, _ package: String?) throws -> [String] {
        let rows = try administration.reconciliation(ofPackage: package).map { entry in
            [
                AdminCommand.time(entry.noted), entry.package, entry.user, entry.client, "\(entry.operation)", "\(entry.object) \(entry.key)",
                entry.fate.text, entry.successor,
            ]
        }
        let heading = ["noted", "package", "user", "client", "operation", "row", "fate", "reported by"]
        return Terminal.table([heading] + rows.map { $0.map { LogSanitizer.escaped($0) } })
    }
}
