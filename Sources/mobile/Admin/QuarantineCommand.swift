import MobileServer
import MobileStore

/// `mobile admin quarantine`.
enum QuarantineCommand {
    static let usage = """
          quarantine [PACKAGE]          the rows of back ends that their attributes cannot hold, and that devices therefore do not get

        """

    /// The action of a command; nil for an unknown command.
    static func work(_ command: String, _ values: [String]) -> ((ServerAdministration) throws -> AdminResult)? {
        guard command == "quarantine", values.count <= 1 else { return nil }
        return { result(try $0.quarantine(ofPackage: values.first), try $0.unrecordedQuarantine(ofPackage: values.first)) }
    }

    private static func result(_ rows: [ServerAdministration.QuarantinedRow], _ others: [ServerAdministration.UnrecordedRows]) -> AdminResult {
        let table = AdminResult.table(
            [
                ("since", "noted"), ("package", "package"), ("object", "object"), ("table", "table"), ("key", "key"), ("column", "column"),
                ("value", "value"), ("expected", "expected"),
            ],
            rows.map {
                [
                    .time($0.noted), .text($0.package), .text($0.object), .text($0.table), .text($0.key), .text($0.column), .text($0.value),
                    .text($0.expected),
                ]
            })
        guard !others.isEmpty else { return table }
        let lines = others.map { LogSanitizer.escaped("\($0.package), \($0.object): \($0.rows) more rows") }
        let members = others.map { JSONValue.object(["package": .string($0.package), "object": .string($0.object), "more": .integer($0.rows)]) }
        return AdminResult((rows.isEmpty ? [] : table.lines) + lines, .array((table.json.array ?? []) + members))
    }
}
