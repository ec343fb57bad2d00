import Foundation
import MobileStore

extension ClientDatabaseReport {
    /// The report as lines of text.
    var lines: [String] {
        overview + [""] + entityLines + [""] + outboxLines + [""] + logLines + [""] + synchronizationLines + [""] + spaceLines
    }

    private var overview: [String] {
        let cache = settings.cacheSize.bytes, map = settings.memoryMapSize.bytes
        return [
            "\(path): package \(package), client \(clientID), \(isSubscribed ? "subscribed" : "not subscribed")",
            "  \(Format.bytes(fileSpace.bytes)): \(Format.count(fileSpace.pages, "page")) of \(Format.count(fileSpace.pageSize)) bytes, "
                + "\(Format.count(fileSpace.freePages)) of them free",
            "  settings here: cache \(Format.bytes(cache)) per connection, memory map \(map == 0 ? "off" : Format.bytes(map)), "
                + "journal \(settings.journalMode), synchronous \(settings.synchronous), checkpoint at \(Format.count(settings.checkpointPages)) pages",
        ]
    }

    private var entityLines: [String] {
        let rows = entities.map { entity in
            [entity.name, Format.count(entity.rows)] + ["C", "U", "D", "P"].map { Format.count(entity.pending[$0] ?? 0) }
                + [Format.count(entity.submitted), Format.count(entity.failed), entity.isLocal ? "local" : ""]
        }
        let pending = entities.reduce(0) { $0 + $1.pending.values.reduce(0, +) }
        return ["objects, \(pending == 0 ? "nothing pending" : Format.count(pending, "row") + " pending"):"]
            + Terminal.table([["object", "rows", "C", "U", "D", "P", "submitted", "rejected", ""]] + rows)
    }

    private var outboxLines: [String] {
        guard outboxCount > 0 else { return ["outbox: empty"] }
        let rows = outbox.map { [number($0[0]), text($0[1]), number($0[2]), text($0[3]), text($0[4]), number($0[5]), number($0[6])] }
        return ["outbox, \(Format.count(outboxCount, "operation")) to be sent:"]
            + Terminal.table([["id", "object", "key", "change", "operation", "batch", "bytes"]] + rows) + cut(outboxCount)
    }

    private var logLines: [String] {
        guard logRecordCount > 0 else { return ["log records: none"] }
        let rows = logRecords.map { $0.map { String(text($0).prefix(80)) } }
        return ["log records, \(Format.count(logRecordCount)), the newest first:"]
            + Terminal.table([["time", "code", "object", "key", "message"]] + rows) + cut(logRecordCount)
    }

    private var synchronizationLines: [String] {
        let groupRows = groups.map { [text($0[0]), $0[1].isNull ? "never" : text($0[1])] }
        let subscriptionRows = subscriptions.map { [text($0[0]), text($0[1])] }
        return
            (groups.isEmpty
            ? ["synchronization groups: none used yet"] : ["synchronization groups:"] + Terminal.table([["group", "synchronized"]] + groupRows))
            + (subscriptions.isEmpty ? [] : ["subscriptions:"] + Terminal.table([["object", "parameters"]] + subscriptionRows))
            + staleRows.map { rows in
                let keys = rows.keys.prefix(Self.listedLines).map { String($0) }.joined(separator: ", ")
                return "held back by the server: the present version of \(Format.count(rows.keys.count, "row")) of \(rows.object) (\(keys)"
                    + "\(rows.keys.count > Self.listedLines ? ", ..." : "")); a value of the back end does not fit its attribute"
            }
    }

    private var spaceLines: [String] {
        guard !tableSpace.isEmpty else { return ["space per table: this SQLite has no dbstat table"] }
        let total = max(1, tableSpace.reduce(0) { $0 + $1.bytes })
        let rows = tableSpace.prefix(Self.listedLines).map { space in
            [
                space.name, Format.count(space.pages), Format.bytes(space.bytes), "\(100 * space.bytes / total) %",
                "\(100 * space.payload / max(space.bytes, 1)) %",
            ]
        }
        return ["space per table and index:"] + Terminal.table([["table", "pages", "space", "of all", "filled"]] + rows) + cut(tableSpace.count)
    }

    private func cut(_ count: Int) -> [String] {
        count > Self.listedLines ? ["  ... and \(Format.count(count - Self.listedLines)) more"] : []
    }

    private func text(_ value: Value) -> String {
        switch value {
        case .null: "-"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text.replacing("\n", with: " ")
        case .blob(let bytes): Format.bytes(bytes.count)
        }
    }

    private func number(_ value: Value) -> String { value.integer.map { String($0) } ?? "-" }
}
