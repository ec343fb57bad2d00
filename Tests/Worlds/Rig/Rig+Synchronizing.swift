internal import MobileExecution
internal import MobileObjects
internal import MobileSync
internal import TestSupport

/// Synchronizations, and what they answer.
extension Rig {
    /// Synchronizes, on a network that may break.
    func synchronize(_ device: DeviceBench, _ group: String?, _ fault: NetworkFault?) throws -> String? {
        var text = "device \(device.index)" + (group.map { " \($0)" } ?? "")
        let before = try traffic(device)
        if let fault {
            device.network.begin()
            device.network.fail(fault)
            do { try device.package.synchronize(group) } catch { text += ": \(error.code)" }
            device.network.repair()
            try requireEnd(device)
        } else {
            try withChangeLog(device) { try healing(device) { try device.package.synchronize(group) } }
        }
        try noteAnswers(device)
        try checkEdits(device)
        if fault == nil { try checkTraffic(device, since: before) }
        if fault == nil, group == nil { device.mayStartAgain = false }
        return text
    }

    /// Synchronizes, and cancels it after some statuses.
    func cancelSynchronization(_ device: DeviceBench, after statuses: Int) throws -> String {
        var text = "device \(device.index)"
        do { try device.package.synchronize(listener: CancellingListener(after: statuses)) } catch { text += ": \(error.code)" }
        try noteAnswers(device)
        try checkEdits(device)
        return text
    }

    /// Does what needs the server; a device that the server does not know registers, one that is not subscribed subscribes.
    func healing(_ device: DeviceBench, _ body: () throws -> Void) throws {
        for attempt in 0..<4 {
            do {
                device.network.begin()
                try body()
                return
            } catch let error as SyncError {
                try requireEnd(device)
                guard attempt < 3 else { throw failure(.deviceStuck, "device \(device.index) cannot synchronize: \(error)\(server.lastErrors)") }
                guard try Self.asksForRegistration(error) || isCutOffRefusal(error) else {
                    throw failure(.deviceStuck, "device \(device.index) cannot synchronize: \(error)\(server.lastErrors)")
                }
                note("  device \(device.index) registers and subscribes again: \(error)")
                try check(.deviceStuck, "device \(device.index) cannot register again") { try registerAgain(device) }
                try check(.deviceStuck, "device \(device.index) cannot subscribe again") { try device.package.subscribe() }
            }
        }
    }

    /// Registers a device that the server does not know. In an earlier state its name may be that of another user's device, which an operator removes.
    private func registerAgain(_ device: DeviceBench) throws {
        do { try device.application.register(timeout: .seconds(60)) } catch {
            guard device.hasFormerUser, lostStates > 0, let server = server as? ServerBench else { throw error }
            note("  an operator removes device \(device.index): \(error)")
            try server.removeDevice(device)
            try device.application.register(timeout: .seconds(60))
        }
    }

    /// Whether the server does not know the device, or its subscription.
    static func asksForRegistration(_ error: SyncError) -> Bool {
        [.authenticationFailed, .registrationUnknown, .applicationNotRegistered, .notFound, .invalidState].contains(error.code)
    }

    /// Whether the known fault with early refusals has hidden from a device that the server does not know it.
    private func isCutOffRefusal(_ error: SyncError) throws -> Bool {
        guard avoided.contains(.earlyRefusals), let server = server as? ServerProcesses, server.hasCutOffRefusal(error) else { return false }
        try check(.serverStuck, "after a refusal") { try server.waitUntilReady() }
        return true
    }

    /// Fails if the last synchronization had no end.
    func requireEnd(_ device: DeviceBench) throws {
        if device.network.hasOverrun { throw failure(.endless, "device \(device.index): its synchronization sends requests again and again") }
    }

    /// Takes notice of operations in the outbox that were not there before.
    func noteOutbox(_ device: DeviceBench) throws {
        for record in try device.package.outbox {
            let isKnown = edits.contains { $0.device == device.id && $0.fate == .submitted(record.id) }
            guard !isKnown, let object = world.objects.indices.first(where: { World.name($0) == record.entity }) else { continue }
            guard let tag = try device.tag(.init(object: object, surrogateKey: record.surrogateKey)) ?? record.attributes["tag"]?.string else {
                continue
            }
            guard var last = places(device, tag).last(where: { edits[$0].isAlive }) ?? places(device, tag).last else { continue }
            if edits[last].fate != .open {
                // A rejected change is sent again as it is.
                var edit = edits[last]
                edit.isTakenBack = !edits[last].isAlive
                // Without one, the row's stamp is that of a later change, which was accepted.
                edit.stamp = record.attributes["stamp"]?.string ?? ""
                edits[last].isTakenBack = true
                edits.append(edit)
                last = edits.endIndex - 1
            }
            edits[last].fate = .submitted(record.id)
            (edits[last].line, edits[last].life) = (lastLine, device.life)
            guard edits[last].change != .delete else { continue }
            for place in places(device, tag).reversed() where edits[place].isAlive && place != last {
                guard case .rejected = edits[place].fate else { continue }
                edits[last].include(edits[place])
                // A change without a stamp has that of the rejected one now.
                if edits[last].stamp.isEmpty { edits[last].stamp = (edits[last].values["stamp"] ?? nil) ?? "" }
                edits[place].isTakenBack = true
            }
        }
    }

    /// Takes notice of answers: an operation that is not in the outbox any more was accepted, or rejected with a log record.
    func noteAnswers(_ device: DeviceBench) throws {
        try noteOutbox(device)
        let waiting = Set(try device.package.outbox.map(\.id))
        var records: [String: LogRecord]?
        for place in edits.indices where edits[place].device == device.id {
            guard case .submitted(let id) = edits[place].fate, !waiting.contains(id) else { continue }
            if records == nil { records = Dictionary(try device.package.logRecords().map { ($0.requestID, $0) }) { first, _ in first } }
            if let record = records?["\(id)"], record.code != LogRecord.Code.success, try !isSettled(record, edits[place]) {
                edits[place].fate = .rejected(id)
                note("  rejected: \(edits[place].tag) \(edits[place].change) \(edits[place].stamp): \(record.code) \(record.message)")
                try judgeRefusal(edits[place], record.message, device)
                try endDeletes(of: edits[place].tag, device)
            } else {
                edits[place].fate = .accepted(id)
                // Values of earlier changes that this one has, too, do not matter any more.
                for earlier in places(device, edits[place].tag) where earlier < place && edits[earlier].isAlive && edits[earlier].fate != .open {
                    edits[earlier].values = edits[earlier].values.filter { column, _ in !edits[place].values.keys.contains(column) }
                    edits[earlier].linked = edits[earlier].linked.filter { reference, _ in !edits[place].linked.keys.contains(reference) }
                    if edits[earlier].values.isEmpty || edits[place].change == .delete { edits[earlier].isTakenBack = true }
                }
            }
        }
    }

    /// Whether a record is about an attempt before the back end was restored, and the operation was accepted after it.
    private func isSettled(_ record: LogRecord, _ edit: Edit) throws -> Bool {
        guard record.isSettled, hasRestoredBackEnd, !edit.stamp.isEmpty else { return false }
        return try Truth.ledger(enterprise).contains { $0.after == edit.stamp && $0.tag == edit.tag }
    }

    /// A delete of a row that the back end has never had is over once the create was rejected.
    private func endDeletes(of tag: String, _ device: DeviceBench) throws {
        guard try !(undone + Truth.ledger(enterprise)).contains(where: { $0.tag == tag }) else { return }
        guard places(device, tag).contains(where: { edits[$0].change == .delete && edits[$0].fate == .open }) else { return }
        drop(tag, device)
    }

    /// Every change that waits, or was rejected, is on the device as the user made it.
    func checkEdits(_ device: DeviceBench) throws {
        let shown = Dictionary(grouping: try device.shown(), by: \.tag)
        for edit in alive(device).values.sorted(by: { $0.tag < $1.tag }) {
            let rows = shown[edit.tag] ?? []
            if edit.change == .delete {
                // The number of the row may be that of another row, where neither the back end nor the state knows better.
                let isUnknown = hasRestoredBackEnd && lostStates > 0 && world.objects[edit.object].key == .generated
                guard rows.isEmpty || isUnknown else { throw failure(.lostEdit, "device \(device.index): \(edit.tag) was deleted, and is there") }
                continue
            }
            guard let row = rows.first(where: { $0.change != .none }) else {
                throw failure(
                    .lostEdit, "device \(device.index): \(edit.change) of \(edit.tag) (\(edit.stamp), step \(edit.step)) is not pending any more")
            }
            let columns = Set(world.columns(row.object, version: device.version).map(\.name))
            for (column, value) in edit.values where columns.contains(column) && row.values[column] != value {
                throw failure(
                    .lostEdit,
                    "device \(device.index): \(edit.tag).\(column) was set to \(value ?? "NULL"), and shows \(row.values[column] ?? "NULL")")
            }
        }
    }

    /// Large values are not downloaded by the device that has uploaded them.
    private func checkTraffic(_ device: DeviceBench, since before: LargeTraffic?) throws {
        guard let before, let after = try traffic(device) else { return }
        let bytes = after.received - before.received
        let isNew = after.values.contains { place, value in before.values[place] != value && LargeContent.count(value) > 1000 }
        guard !device.mayStartAgain, !isNew, bytes > 60_000 else { return }
        throw failure(.downloadedAgain, "device \(device.index): \(bytes) bytes came, although it has all large values")
    }
}

extension Rig {
    /// Nil where a world has no large values.
    private func traffic(_ device: DeviceBench) throws -> LargeTraffic? {
        guard world.features.contains(.largeValues) else { return nil }
        return LargeTraffic(try device.shown(), device.network.received)
    }
}

/// The large values that a device shows, and the bytes that it has received.
private struct LargeTraffic {
    private(set) var values: [[String]: String] = [:]
    let received: Int

    init(_ shown: [ShownRow], _ received: Int) {
        self.received = received
        for row in shown { for (column, value) in row.values where value.contains(" bytes ") { values[[row.tag, column]] = value } }
    }
}

/// Cancels a synchronization after some of its statuses.
private final class CancellingListener: SynchronizationStatusListener {
    private let left: SystemLock<Int>

    init(after statuses: Int) { left = SystemLock(statuses) }

    func onSynchronizationStatusChange(_ info: inout SynchronizationStatusInfo) {
        info.isCancelled = left.withLock { left in
            left -= 1
            return left < 0
        }
    }
}
