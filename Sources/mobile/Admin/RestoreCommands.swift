import MobileServer

/// The commands of `mobile admin` about backups and about the end of what a server keeps.
enum RestoreCommands {
    static let usage = """
          restored [--backend PLACE ..] notes that the server's database, or these back ends (FILE or ADDRESS), were restored from a backup, where the
                                        server cannot notice it by itself: a PostgreSQL database that was filled again in place; stop the servers first
          reconciliation [PACKAGE]      the operations of devices whose fate a restored backup or a copied device has decided
          prune [--backend PLACE ..]    removes everything that has come to its end, in the server's database and in the record of operations of these back ends

        """

    /// The action of a command; nil for an unknown command.
    static func work(_ command: String, _ values: [String]) throws(UsageError) -> ((ServerAdministration) throws -> AdminResult)? {
        switch (command, values.count) {
        case ("restored", _):
            let places = try backEnds(command, values)
            return { administration in
                if places.isEmpty { try administration.declareRestored(.store) }
                for place in places { try administration.declareRestored(.backEnd(place)) }
                return .done
            }
        case ("prune", _):
            let places = try backEnds(command, values)
            return { administration in
                let removed = try administration.prune(backEnds: places)
                return .lines(
                    removed.map { "\($0.rows) \($0.name) removed" }, ["name", "rows"], removed.map { [.text($0.name), .number(Int64($0.rows))] })
            }
        case ("reconciliation", 0...1): return { try reconciliation($0, values.first) }
        default: return nil
        }
    }

    /// Reads options `--backend PLACE`.
    private static func backEnds(_ command: String, _ values: [String]) throws(UsageError) -> [String] {
        var places: [String] = [], rest = values[...]
        while let option = rest.popFirst() {
            guard option == "--backend", let place = rest.popFirst() else {
                throw UsageError(message: "admin: \(command): write --backend with a file or an address for each back end")
            }
            places.append(place)
        }
        return places
    }

    private static func reconciliation(_ administration: ServerAdministration, _ package: String?) throws -> AdminResult {
        let entries = try administration.reconciliation(ofPackage: package)
        let heading = ["noted", "package", "user", "client", "operation", "row", "fate", "reported by"]
        let shown = entries.map { entry in
            [
                AdminCommand.time(entry.noted), entry.package, entry.user, entry.client, "\(entry.operation)", "\(entry.object) \(entry.key)",
                entry.fate.text, entry.successor,
            ].map { LogSanitizer.escaped($0) }
        }
        return .lines(
            Terminal.table([heading] + shown),
            ["noted", "package", "user", "client", "operation", "object", "surrogateKey", "fate", "reportedBy"],
            entries.map {
                [
                    .time($0.noted), .text($0.package), .text($0.user), .text($0.client), .number($0.operation), .text($0.object), .number($0.key),
                    .text($0.fate.rawValue), .text($0.successor),
                ]
            })
    }
}
