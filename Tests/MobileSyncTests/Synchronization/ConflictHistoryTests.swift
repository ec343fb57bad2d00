import MobileObjects
import MobileStore
import TestSupport
import Testing

@testable import MobileSync

/// Random histories of two devices and another application, compared with a model that knows versions instead of values.
@Suite struct ConflictHistoryTests {
    /// A row under its surrogate key, which is the same on all devices.
    private struct Row: Hashable {
        let object: String, key: Int64
    }

    private struct Operation {
        let id: Int64, row: Row, change: OutboxRecord.Change
        /// The version that the device had when the user made the change; nil if the server had sent none.
        let base: Int?
        /// The device's operation on the row before this one.
        let follows: Int64?
        let text: String?
    }

    /// The back end, and the rule by which it does operations.
    private struct Rule {
        struct Outcome {
            let isAccepted: Bool
            /// The version that the operation, or if it was rejected the one that it follows, has left.
            let left: Int?
            /// The text of the row at a rejection; nil if it was gone.
            let found: String?
            /// Whether it was accepted because the row is as another operation of the device left it.
            let isOwnChange: Bool
        }

        var rows: [Row: (version: Int, text: String)] = [:]
        var versions = 0
        /// By device and operation.
        var outcomes: [String: Outcome] = [:]

        mutating func change(_ row: Row, _ text: String? = nil) {
            versions += 1
            rows[row] = (versions, text ?? rows[row]?.text ?? "")
        }

        /// Does the operations of an upload, each once.
        mutating func replay(_ operations: [Operation], of device: String) {
            for operation in operations where outcomes["\(device) \(operation.id)"] == nil {
                let left = operation.follows.flatMap { outcomes["\(device) \($0)"]?.left }, found = rows[operation.row]
                let isFree = operation.change == .create || operation.row.object == "Memo"
                let isAccepted = isFree || found.map { $0.version == operation.base || $0.version == left } ?? false
                if isAccepted, operation.change == .delete { rows[operation.row] = nil } else if isAccepted { change(operation.row, operation.text) }
                outcomes["\(device) \(operation.id)"] = Outcome(
                    isAccepted: isAccepted, left: isAccepted ? rows[operation.row]?.version : left, found: found?.text,
                    isOwnChange: isAccepted && !isFree && found?.version != operation.base)
            }
        }
    }

    private final class Side {
        let phone: Phone
        /// The versions that the device has downloaded.
        var known: [Row: Int] = [:]
        /// The bases of pending changes.
        var base: [Row: Int] = [:]
        /// The last submissions.
        var follows: [Row: Operation] = [:]
        var submitted: [Operation] = []

        init(_ phone: Phone) { self.phone = phone }

        func waiting() throws -> [Operation] {
            let ids = Set(try phone.package.outbox.map(\.id))
            return submitted.filter { ids.contains($0.id) }
        }
    }

    /// Steps that a history must have met to prove something.
    private enum Event: CaseIterable { case accepted, refused, gone, ownChange, created, deleted, deferred, cancelled }

    @Test(
        "random histories of edits, deletes, new rows, references, submits, cancels, lost uploads and answers, deferrals and other groups: as the rule says",
        arguments: 0..<4)
    func histories(group: Int) throws {
        var events: Set<Event> = []
        for seed in group * 6..<group * 6 + 6 {
            let office = try Office(usesSegments: seed % 2 == 1)
            var history = History(office, seed: UInt64(seed), [Side(try office.phone("one")), Side(try office.phone("two"))])
            try history.run(steps: 110)
            events.formUnion(history.events)
        }
        #expect(events == Set(Event.allCases), "group \(group)")
    }

    private struct History {
        let office: Office
        let sides: [Side]
        var random: SeededGenerator
        var rule = Rule()
        var events: Set<Event> = []
        let seed: UInt64
        var step = 0

        init(_ office: Office, seed: UInt64, _ sides: [Side]) {
            (self.office, self.sides, self.seed) = (office, sides, seed)
            random = SeededGenerator(seed: seed &+ 77)
        }

        private var place: Comment { "seed \(seed), step \(step)" }

        mutating func run(steps: Int) throws {
            for object in ["Note", "Task", "Memo"] {
                for entity in try sides[0].phone.package.entity(object).findAll() {
                    rule.rows[Row(object: object, key: entity.surrogateKey)] = (0, try entity.value("text").description)
                }
            }
            for side in sides { side.known = rule.rows.mapValues(\.version) }
            for number in 0..<steps {
                step = number
                try take(sides[Int.random(in: 0...1, using: &random)])
            }
            for side in sides { try synchronize(side, nil) }
            for side in sides {
                try side.phone.package.cancelPendingOperations()
                _ = try side.phone.synchronize()
            }
            for side in sides { _ = try side.phone.synchronize() }
            for object in ["Note", "Task", "Memo"] {
                let expected = rule.rows.filter { $0.key.object == object }.map { "\($0.key.key) \($0.value.text)" }.sorted()
                for side in sides {
                    let rows = try side.phone.package.entity(object).findAll().map { try "\($0.surrogateKey) \($0.value("text").description)" }
                    #expect(rows.sorted() == expected, place)
                    #expect(try side.phone.rows(object) == office.rows(object.lowercased()), place)
                }
            }
            #expect(try sides.allSatisfy { try $0.phone.package.outbox.isEmpty && !$0.phone.package.hasPendingOperations() }, place)
        }

        private mutating func take(_ side: Side) throws {
            let phone = side.phone, object = ["Note", "Note", "Task", "Memo"].randomElement(using: &random) ?? "Note"
            let choice = Int.random(in: 0..<21, using: &random)
            let found = try phone.package.entity(object).findAll().sorted { $0.surrogateKey < $1.surrogateKey }
            switch choice {
            case 0...1: try changeOffice(object)
            case 2...6: if let entity = found.randomElement(using: &random) { try edit(entity, side) }
            case 7: if object != "Memo", let entity = found.randomElement(using: &random), try entity.value("id") != 1 { try delete(entity, side) }
            case 8: try create(object, side)
            case 9...12: try submit(side, all: choice == 9)
            case 13: if let entity = found.filter({ $0.isPending }).randomElement(using: &random) { try cancel(side) { try entity.cancelPending() } }
            case 14: try cancel(side) { try phone.package.cancelPendingOperations() }
            case 15:
                office.clock.advance(by: .seconds(600))
                rule.replay(try side.waiting(), of: phone.name)
                phone.loseAnswer(of: office)
            case 16: phone.loseUpload(of: office)
            case 17: try deferAll(side)
            case 18: try synchronize(side, "side")
            default: try synchronize(side, nil)
            }
        }

        private mutating func changeOffice(_ object: String) throws {
            let rows = rule.rows.keys.filter { $0.object == object }.sorted { $0.key < $1.key }
            guard let row = rows.randomElement(using: &random) else { return }
            // Another application knows the row by its own key, which a device has as 0 before it gets it.
            guard
                let id = try sides.compactMap({ try $0.phone.package.entity(object).find(row.key)?.value("id") }).first(where: {
                    $0 != .null && $0 != 0
                })
            else { return }
            if object != "Memo", id != 1, Int.random(in: 0..<5, using: &random) == 0 {
                try office.run("DELETE FROM \(object.lowercased()) WHERE id = \(id)")
                rule.rows[row] = nil
            } else {
                try office.run("UPDATE \(object.lowercased()) SET place = 'place \(step)' WHERE id = \(id)")
                rule.change(row)
            }
        }

        private func note(_ entity: GenericEntity, _ side: Side) {
            let row = Row(object: entity.metadata.name, key: entity.surrogateKey)
            side.base[row] = side.known[row] ?? side.base[row]
        }

        private mutating func edit(_ entity: GenericEntity, _ side: Side) throws {
            try entity.setValue(.string("\(side.phone.name) \(step)"), "text")
            if entity.metadata.name == "Task", Bool.random(using: &random), let parent = try side.phone.find("Note", 1) {
                try entity.setParent(parent, "note")
            }
            try entity.update()
            note(entity, side)
        }

        private mutating func delete(_ entity: GenericEntity, _ side: Side) throws {
            try entity.delete()
            note(entity, side)
            events.insert(.deleted)
        }

        private mutating func create(_ object: String, _ side: Side) throws {
            let entity = try GenericEntity(object, in: side.phone.package)
            try entity.setValue(.string("\(side.phone.name) \(step)"), "text")
            if object == "Task" {
                let notes = try side.phone.package.entity("Note").findAll().filter { try $0.value("id") == 1 || $0.pendingChange == .create }
                if let note: GenericEntity = notes.sorted(by: { $0.surrogateKey < $1.surrogateKey }).last { try entity.setParent(note, "note") }
            }
            try entity.create()
            events.insert(.created)
        }

        private mutating func submit(_ side: Side, all: Bool) throws {
            let package = side.phone.package, before = try package.outbox.last?.id ?? 0
            if all {
                try package.submitPendingOperations()
            } else {
                let objects = try ["Note", "Task", "Memo"].flatMap { try package.entity($0).findAll() }.filter { $0.isPending }
                guard let object = objects.randomElement(using: &random) else { return }
                try object.submitPending()
            }
            for record in try package.outbox where record.id > before {
                let row = Row(object: record.entity, key: record.surrogateKey)
                let operation = Operation(
                    id: record.id, row: row, change: record.change, base: side.base[row], follows: side.follows[row]?.id,
                    text: record.attributes["text"]?.string)
                side.submitted.append(operation)
                side.follows[row] = operation
            }
        }

        private mutating func cancel(_ side: Side, _ body: () throws -> Void) throws {
            try body()
            events.insert(.cancelled)
            let waiting = Set(try side.waiting().map(\.id))
            for (row, last) in side.follows {
                // Deferred operations are withdrawn: nothing follows them.
                var before: Operation? = last
                while let operation = before, !waiting.contains(operation.id), rule.outcomes["\(side.phone.name) \(operation.id)"] == nil {
                    before = side.submitted.first { $0.id == operation.follows }
                }
                side.follows[row] = before
            }
            for row in side.base.keys {
                let state = try side.phone.state(row.object, row.key)
                if state == nil {
                    side.base[row] = nil
                } else if let state, let last = side.follows[row], state.submitted == last.id, !state.isChangedSince {
                    // The row is as it was submitted.
                    side.base[row] = last.base
                }
            }
        }

        private mutating func deferAll(_ side: Side) throws {
            office.clock.advance(by: .seconds(600))
            // Operations with a recorded outcome are answered; all others wait.
            let waiting = try side.waiting(), phone = side.phone
            let known = waiting.filter { rule.outcomes["\(phone.name) \($0.id)"] != nil }
            let result = try office.whileBusy { try phone.package.synchronize() }
            #expect(Int(result.operationsDeferred) <= waiting.count, place)
            if result.operationsDeferred > 0 { events.insert(.deferred) }
            #expect(Int(result.operationsAccepted + result.operationsRejected) <= known.count, place)
            downloaded(side, ["Note", "Task", "Memo"])
        }

        private mutating func synchronize(_ side: Side, _ group: String?) throws {
            office.clock.advance(by: .seconds(600))
            let phone = side.phone, waiting = try side.waiting()
            rule.replay(waiting, of: phone.name)
            let outcomes = waiting.compactMap { rule.outcomes["\(phone.name) \($0.id)"] }, accepted = outcomes.count { $0.isAccepted }
            let counts = try phone.synchronize(group)
            #expect(counts == [accepted, waiting.count - accepted], place)
            for (operation, outcome) in zip(waiting, outcomes) {
                if outcome.isAccepted {
                    events.formUnion(outcome.isOwnChange ? [.accepted, .ownChange] : [.accepted])
                    continue
                }
                events.insert(outcome.found == nil ? .gone : .refused)
                // The row of the rejection, if no later change took the place of the refused one.
                guard let entity = try phone.package.entity(operation.row.object).find(operation.row.key), entity.replayFailure == operation.id,
                    let conflict = try entity.conflict()
                else { continue }
                #expect(conflict.row?["text"] == outcome.found.map { AttributeValue.string($0) } && conflict.isGone == (outcome.found == nil), place)
            }
            downloaded(side, group == "side" ? ["Memo"] : ["Note", "Task", "Memo"])
        }

        private func downloaded(_ side: Side, _ objects: Set<String>) {
            side.known = side.known.filter { !objects.contains($0.key.object) }
            for (row, content) in rule.rows where objects.contains(row.object) { side.known[row] = content.version }
        }
    }
}

extension Phone {
    /// The state of a row's pending change: its submission that waits, and whether it was changed since; nil without a pending change.
    fileprivate func state(_ object: String, _ key: Int64) throws -> (submitted: Int64, isChangedSince: Bool)? {
        let row = try package.read { try $0.first("SELECT \"_rp\", \"_rc\" FROM \"\(object)_os\" WHERE \"_sk\" = ?1", [.integer(key)]) }
        return row.map { ($0[0].integer ?? 0, $0[0] != $0[1]) }
    }
}
