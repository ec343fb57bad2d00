import MobileObjects

/// The state attributes of objects, one line per moment.
struct StateTable {
    private static let heading = ["moment", "new", "created", "dirty", "deleted", "updated", "pending", "change", "counter", "submitted", "failed"]
    private var rows: [[String]] = []
    private var shown = 0

    mutating func add(_ moment: String, _ object: Entity) {
        func mark(_ value: Bool) -> String { value ? "T" : "-" }
        rows.append([
            moment, mark(object.isNew), mark(object.isCreated), mark(object.isDirty), mark(object.isDeleted), mark(object.isUpdated),
            mark(object.isPending), String(object.pendingChange.letter), String(object.replayCounter), String(object.replayPending),
            String(object.replayFailure),
        ])
    }

    /// The lines since the last call, under the heading.
    mutating func newLines() -> [String] {
        defer { shown = rows.count }
        return Terminal.table([Self.heading] + rows[shown...], indent: "")
    }
}
