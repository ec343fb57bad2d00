import MobileServer
import MobileServerWorklight
import MobileStore

/// The commands of `mobile admin worklight`: the administration of the face for Worklight clients.
enum WorklightCommands {
    static let usage = """
          worklight versions            the decisions about versions of applications
          worklight version APPLICATION ENVIRONMENT VERSION|--all active
          worklight version APPLICATION ENVIRONMENT VERSION|--all notify ID MESSAGE
          worklight version APPLICATION ENVIRONMENT VERSION|--all disable MESSAGE [LINK]
                                        decides about a version, or about all that have no decision of their own; an environment is such as iOSnative
          worklight withdraw|readmit ENTITY DEVICE
                                        withdraws the certificates of a device and ends its sessions; or lets it ask for a new one.
                                        ENTITY is that of the certificates: app:APPLICATION, group:NAME or device
          worklight withdrawn           the devices whose certificates are withdrawn
          worklight activities          the number of reports of each activity
          worklight log [DEVICE]        what devices have logged

        """

    /// Runs commands on the state of the face in a server's database.
    static func run(_ work: (WorklightAdministration) throws -> AdminResult, _ configuration: ServerConfiguration) throws -> AdminResult {
        let administration = try WorklightAdministration(stateOf: configuration)
        let outcome = Result { try work(administration) }
        try administration.close()
        return try outcome.get()
    }

    /// The action of a command.
    static func work(_ values: [String]) throws(UsageError) -> (WorklightAdministration) throws -> AdminResult {
        let names = Array(values.dropFirst())
        switch (values.first, names.count) {
        case ("versions", 0): return versions
        case ("version", 4...): return try decide(names)
        case ("withdraw", 2):
            let (entity, application) = try entity(names[0])
            return done { try $0.withdrawCertificates(of: names[1], entity, application: application) }
        case ("readmit", 2):
            let (entity, application) = try entity(names[0])
            return {
                guard try $0.readmit(names[1], entity, application: application) else {
                    throw ServerError(.configuration, "no certificate of device \"\(names[1].prefix(80))\" for \(names[0].prefix(80)) is withdrawn")
                }
                return .done
            }
        case ("withdrawn", 0): return withdrawn
        case ("activities", 0): return activities
        case ("log", 0...1): return { try log($0, names.first) }
        default: throw UsageError(message: "admin: there is no command \"\((["worklight"] + values).joined(separator: " ").prefix(80))\"")
        }
    }

    private static func done(_ body: @escaping (WorklightAdministration) throws -> Void) -> (WorklightAdministration) throws -> AdminResult {
        return {
            try body($0)
            return .done
        }
    }

    private static func decide(_ names: [String]) throws(UsageError) -> (WorklightAdministration) throws -> AdminResult {
        let decision: WorklightAdministration.Version
        switch (names[3], names.count) {
        case ("active", 4): decision = .active
        case ("notify", 6): decision = .notify(message: names[5], id: names[4])
        case ("disable", 5...6): decision = .disabled(message: names[4], link: names.count > 5 ? names[5] : nil)
        default: throw UsageError(message: "admin: worklight version: write active, notify ID MESSAGE, or disable MESSAGE [LINK]")
        }
        let version = names[2] == "--all" ? nil : names[2]
        guard version?.isEmpty != true else { throw UsageError(message: "admin: worklight version: write a version, or --all") }
        return done { try $0.set(decision, application: names[0], environment: names[1], version: version) }
    }

    /// An entity as certificates name it, and its application.
    private static func entity(_ text: String) throws(UsageError) -> (entity: WorklightProvisioning.Entity, application: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.count > 1 ? parts[1] : "") {
        case ("device", "") where parts.count == 1: return (.device, "")
        case ("app", let name) where !name.isEmpty: return (.application, name)
        case ("group", let name) where !name.isEmpty: return (.group(name), "")
        default: throw UsageError(message: "admin: \"\(text.prefix(80))\" is not app:APPLICATION, group:NAME or device")
        }
    }

    // MARK: Lists

    private static func versions(_ administration: WorklightAdministration) throws -> AdminResult {
        .table(
            [
                ("application", "application"), ("environment", "environment"), ("version", "version"), ("decision", "decision"), ("id", "id"),
                ("message", "message"), ("link", "link"),
            ],
            try administration.versions().map {
                let (decision, id, message, link) =
                    switch $0.decision {
                    case .active: ("active", "", "", "")
                    case .notify(let message, let id): ("notify", id, message, "")
                    case .disabled(let message, let link): ("disable", "", message, link ?? "")
                    }
                return [
                    .text($0.application), .text($0.environment), .text($0.version ?? "--all"), .text(decision), .text(id), .text(message), .text(link),
                ]
            })
    }

    private static func withdrawn(_ administration: WorklightAdministration) throws -> AdminResult {
        .table(
            [("entity", "entity"), ("device", "device"), ("withdrawn", "withdrawn"), ("", "isReadmitted")],
            try administration.withdrawnDevices().map {
                [.text($0.organization), .text($0.device), .time($0.time * 1000), .flag($0.isReadmitted, "readmitted")]
            })
    }

    private static func activities(_ administration: WorklightAdministration) throws -> AdminResult {
        .table(
            [("application", "application"), ("activity", "activity"), ("reports", "reports"), ("devices", "devices")],
            try administration.activities().map {
                [.text($0.application), .text($0.activity), .number(Int64($0.count)), .number(Int64($0.devices))]
            })
    }

    private static func log(_ administration: WorklightAdministration, _ device: String?) throws -> AdminResult {
        let entries = try administration.logEntries(device: device)
        return AdminResult(
            entries.map { LogSanitizer.escaped("\($0.device) \(JSONValue.object($0.entry))") },
            .array(entries.map { ["device": .string($0.device), "description": .object($0.description), "entry": .object($0.entry)] }))
    }
}
