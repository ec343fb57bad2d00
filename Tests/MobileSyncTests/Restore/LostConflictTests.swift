import MobileObjects
import MobileStore
import TestSupport
import Testing

@testable import MobileSync

/// Objects that refuse conflicts: operations that a restored back end has lost, and those of copied databases.
@Suite struct LostConflictTests {
    private let office: Office
    private let phone: Phone

    init() throws {
        office = try Office()
        phone = try office.phone("one")
        _ = try phone.synchronize()
        try office.backUp()
    }

    /// Restores the back end, and returns the lost operations.
    private func lost() throws -> [LostOperation] {
        try office.restore()
        _ = try phone.synchronize()
        return try phone.package.lostOperations()
    }

    @Test("a lost update and a lost delete are submitted again from the row that the device shows, each after the one before")
    func again() throws {
        for text in ["first", "second"] {
            try phone.edit("Note", 1, text).submitPending()
            #expect(try phone.synchronize() == [1, 0])
        }
        let deleted = try phone.load("Note", 2)
        try deleted.delete()
        try deleted.submitPending()
        let created = try GenericEntity("Note", in: phone.package)
        try created.setValue("new", "text")
        try created.create()
        try created.submitPending()
        #expect(try phone.synchronize() == [2, 0])
        try phone.package.entity("Note").load(created.surrogateKey).delete()
        try phone.package.submitPendingOperations()
        #expect(try phone.synchronize() == [1, 0])
        let lost = try lost()
        #expect(try lost.map(\.change) == ["U", "U", "D", "C", "D"] && office.texts(1)[0] == "one")
        for operation in lost { try phone.package.submitAgain(operation) }
        let outbox = try phone.package.outbox
        #expect(outbox.map { $0.original?["text"] } == ["one", "one", "two", nil, nil])
        #expect(outbox.map { $0.original == nil } == [false, false, false, true, false])
        #expect(outbox.map(\.follows) == [nil, outbox[0].id, nil, nil, outbox[3].id])
        #expect(try phone.synchronize() == [5, 0] && office.rows("note") == ["1 second at shelf", "3 three at shelf"])
    }

    @Test("a lost operation is refused if its row changed after it was submitted again, and a pending change follows it")
    func refused() throws {
        for id in [Int64(1), 2] { try phone.edit("Note", id, "lost").submitPending() }
        #expect(try phone.synchronize() == [2, 0])
        let operations = try lost()
        let pending = try phone.edit("Note", 1, "pending")
        for operation in operations { try phone.package.submitAgain(operation) }
        try pending.submitPending()
        try office.run("UPDATE note SET place = 'office' WHERE id = 2")
        #expect(try phone.synchronize() == [2, 1] && office.rows("note") == ["1 pending at shelf", "2 two at office", "3 three at shelf"])
    }

    @Test("the operations of a copied database keep originals and digests; those that get new ids stay a chain")
    func copied() throws {
        for text in ["first", "second"] { try phone.edit("Note", 1, text).submitPending() }
        try phone.edit("Note", 2, "two's").submitPending()
        let before = try phone.package.outbox, copy = try office.copy(phone, to: "copy"), inherited = try copy.package.outbox
        #expect(try copy.package.formerClients.count == 1)
        #expect(inherited.map(\.original) == before.map(\.original) && inherited.map(\.follows) == before.map(\.follows))
        #expect(inherited.map(\.digest) == before.map(\.digest) && before.allSatisfy { $0.original != nil })
        // Both offer them, and they are done once.
        try office.run("UPDATE note SET place = 'office' WHERE id = 2")
        #expect(try copy.synchronize() == [2, 1] && phone.synchronize() == [2, 1])
        #expect(try office.rows("note") == ["1 second at shelf", "2 two at office", "3 three at shelf"])
    }

    @Test("the rows of a copied database are those of its subscriptions, also for an inherited operation")
    func copiedWithParameters() throws {
        let office = try Office(notesOfPlace: true), phone = try office.phone("one")
        try phone.package.addSubscription(["place": "shelf"], to: phone.package.entity("Note").metadata)
        _ = try phone.synchronize()
        try phone.edit("Note", 1, "first").submitPending()
        let copy = try office.copy(phone, to: "copy")
        #expect(try copy.synchronize() == [1, 0] && office.texts(1)[0] == "first")
        #expect(try phone.synchronize() == [1, 0])
    }

    @Test("a copy's change of a row with an inherited operation is refused, and the user sees the row")
    func changedCopy() throws {
        try phone.edit("Note", 1, "inherited").submitPending()
        let copy = try office.copy(phone, to: "copy"), later = try copy.edit("Note", 1, "later")
        try later.submitPending()
        #expect(try copy.synchronize() == [1, 1] && office.texts(1)[0] == "inherited")
        try later.refresh()
        #expect(try later.conflict()?.row?["text"] == "inherited")
        try later.cancelPending()
        try copy.edit("Note", 1, "once more").submitPending()
        #expect(try copy.synchronize() == [1, 0] && office.texts(1)[0] == "once more")
    }

    @Test("operations that get new ids stay a chain, and a later change follows the last one")
    func renamed() throws {
        for text in ["first", "second"] { try phone.edit("Note", 1, text).submitPending() }
        let last = try phone.edit("Note", 1, "third"), former = try phone.package.outbox.map(\.id)
        try phone.package.write("copy") { try $0.takeNewIdentity(renaming: former) }
        let outbox = try phone.package.outbox
        #expect(outbox.map(\.follows) == [nil, outbox[0].id] && Set(outbox.map(\.id)).isDisjoint(with: former))
        #expect(try phone.synchronize() == [2, 0])
        try last.refresh()
        try last.submitPending()
        #expect(try phone.package.outbox.map(\.follows) == [outbox[1].id])
        #expect(try phone.synchronize() == [1, 0] && office.texts(1)[0] == "third")
    }
}
