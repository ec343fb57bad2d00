import Foundation
import MobileCrypto
import MobileModel
import MobileObjects
import MobileServer
import MobileStore
import MobileTransport
import TestSupport
import Testing

@testable import MobileSync

/// Two devices and another application that change the same rows. Notes refuse conflicts; of memos the last writer wins.
@Suite struct ConflictTests {
    private let office: Office
    private let one: Phone
    private let two: Phone

    init() throws {
        office = try Office()
        (one, two) = (try office.phone("one"), try office.phone("two"))
    }

    @Test("CBK-08: of two devices the second is refused, with the row of the first; cancel takes that; of memos the last writer wins")
    func twoDevices() throws {
        for object in ["Note", "Memo"] {
            try one.edit(object, 1, "one").submitPending()
            try two.edit(object, 1, "two").submitPending()
        }
        #expect(try one.synchronize() == [2, 0] && two.synchronize() == [1, 1])
        let note = try two.load("Note", 1), conflict = try #require(try note.conflict())
        #expect(try note.value("text") == "two" && note.state == .failed && !conflict.isGone)
        #expect(
            conflict.row?["text"] == "one" && conflict.row?["place"] == "shelf" && conflict.row?["revision"] == 1
                && conflict.row?["isDone"] == true)
        #expect(try note.logRecords().map(\.code) == [583] && two.load("Memo", 1).conflict() == nil)
        #expect(try office.texts(1) == ["one", "two"])
        // Sent again as it is, it is refused again; cancelled, it is the server's.
        try note.submitPending()
        #expect(try note.conflict() == nil && two.synchronize() == [0, 1] && two.load("Note", 1).conflict() != nil)
        try note.refresh()
        try note.cancelPending()
        #expect(try note.value("text") == "one" && note.conflict() == nil && !note.isPending)
        // From there the user enters it again.
        try two.edit("Note", 1, "two after all").submitPending()
        #expect(try two.synchronize() == [1, 0] && office.texts(1) == ["two after all", "two"])
    }

    @Test("another application edits and deletes: an edit and a delete here are refused, the row of a deleted one is gone")
    func otherApplication() throws {
        try one.edit("Note", 1, "mine").submitPending()
        let delete = try one.load("Note", 2)
        try delete.delete()
        try delete.submitPending()
        try one.edit("Note", 3, "mine").submitPending()
        try office.run("UPDATE note SET place = 'office' WHERE id < 3", "DELETE FROM note WHERE id = 3")
        #expect(try one.synchronize() == [0, 3])
        let edited = try one.load("Note", 1), gone = try one.load("Note", 3)
        #expect(try edited.conflict()?.row?["place"] == "office" && delete.conflict()?.row?["place"] == "office")
        #expect(try gone.conflict()?.isGone == true)
        for object in [edited, delete, gone] { try object.cancelPending() }
        #expect(try one.rows("Note") == ["1 one at office", "2 two at office"] && !one.package.hasPendingOperations())
        #expect(try office.texts(1) == ["one", "one"])
    }

    @Test("an import between the edit and its submission hides no conflict; an edit after it is based on the imported row")
    func importBetween() throws {
        let first = try one.edit("Note", 1, "mine"), second = try one.edit("Note", 2, "mine")
        try office.run("UPDATE note SET place = 'office' WHERE id < 3")
        #expect(try one.synchronize() == [0, 0])
        try second.refresh()
        try second.setValue("mine, knowing the office's", "text")
        try second.update()
        for object in [first, second] { try object.submitPending() }
        #expect(try one.synchronize() == [1, 1])
        #expect(try first.conflict()?.row?["place"] == "office" && office.texts(1) == ["one", "one"])
        #expect(try one.rows("Note").contains("2 mine, knowing the office's at office"))
    }

    @Test("a device's own operations are no conflict: edited again while submitted, and with lost answers, although the back end computes a value")
    func chain() throws {
        for step in 1...3 {
            try one.edit("Note", 1, "step \(step)").submitPending()
            if step < 3 { one.loseAnswer(of: office) }
        }
        #expect(try one.synchronize() == [3, 0] && office.texts(1) == ["step 3", "one"])
        try one.edit("Note", 1, "step 4").submitPending()
        let again = try one.edit("Note", 1, "step 5")
        #expect(try one.synchronize() == [1, 0])
        // The answer to step 4 is there, and the server still knows what step 5 follows.
        try one.edit("Note", 2, "other").submitPending()
        #expect(try one.synchronize() == [1, 0])
        try again.refresh()
        try again.submitPending()
        #expect(try one.synchronize() == [1, 0] && office.texts(1) == ["step 5", "one"] && !one.package.hasPendingOperations())
        // Created, changed and deleted before the first answer comes.
        let new = try GenericEntity("Note", in: one.package)
        try new.setValue("new", "text")
        try new.save()
        try new.submitPending()
        one.loseAnswer(of: office)
        try new.setValue("newer", "text")
        try new.update()
        try new.submitPending()
        try new.delete()
        try new.submitPending()
        #expect(try one.synchronize() == [3, 0] && office.count("note") == 3)
    }

    @Test("operations of a model without the rule are taken over when the model gets it")
    func upgraded() throws {
        let office = try Office(conflicts: .lastWriter), phone = try office.phone("one")
        try phone.edit("Note", 1, "submitted").submitPending()
        try phone.edit("Note", 2, "edited")
        try phone.package.close()
        let other = try office.phone("one", model: Office.model(.refuse), synchronizes: false)
        let taken = try #require(try other.package.outbox.first?.original)
        #expect(taken["text"] == "one" && taken["isDone"] == true && taken["price"]?.double == 12.5 && taken["id"] == nil)
        try other.load("Note", 2).submitPending()
        #expect(try other.package.outbox.map { $0.original?["text"] } == ["one", "two"])
        for id in 1...2 { try other.load("Note", Int64(id)).cancelPending() }
        #expect(try other.package.read { try $0.first("SELECT count(*) FROM \"_basis\" WHERE \"original\" <> '{}'") }?[0] == .integer(0))
    }

    @Test("an edit after a cancelled submission follows it, also if its answer comes first")
    func afterCancel() throws {
        for isAnsweredBefore in [false, true] {
            let object = try one.edit("Note", 1, "cancelled")
            try object.submitPending()
            try object.cancelPending()
            let again = try one.edit("Note", 1, "again \(isAnsweredBefore)")
            if isAnsweredBefore {
                #expect(try one.synchronize() == [1, 0])
                try again.refresh()
            }
            try again.submitPending()
            #expect(try one.synchronize() == [isAnsweredBefore ? 1 : 2, 0] && office.texts(1)[0] == "again \(isAnsweredBefore)")
        }
    }

    @Test("a row is changed again although its answer came without it: the synchronization was one of another group")
    func otherGroup() throws {
        try one.edit("Note", 1, "first").submitPending()
        #expect(try one.synchronize("side") == [1, 0])
        // The server may forget nothing yet.
        #expect(try one.synchronize("side") == [0, 0])
        let second = try one.edit("Note", 1, "second")
        #expect(try second.value("revision") == 0)
        try second.submitPending()
        #expect(try one.synchronize("side") == [1, 0])
        // Cancelled, the row is again as the device knows it.
        let third = try one.edit("Note", 1, "third")
        try third.cancelPending()
        try one.edit("Note", 1, "fourth").submitPending()
        #expect(try one.synchronize("side") == [1, 0] && office.texts(1)[0] == "fourth")
        // Another application's change is a conflict nevertheless.
        let last = try one.edit("Note", 1, "last")
        try office.run("UPDATE note SET place = 'office' WHERE id = 1")
        try last.submitPending()
        #expect(try one.synchronize("side") == [0, 1] && last.conflict()?.row?["place"] == "office")
        try last.cancelPending()
        // After a download nothing is kept for unchanged rows.
        #expect(try one.synchronize() == [0, 0] && one.rows("Note").contains("1 fourth at office"))
        #expect(try one.package.read { try $0.first("SELECT count(*) FROM \"_basis\"") }?[0] == .integer(0))
        #expect(try one.package.settledBelow > last.replayFailure)
    }

    @Test("cancelled back to its submission, a change has the basis of the submission, not that of the later edit")
    func backToSubmission() throws {
        let object = try one.edit("Note", 1, "submitted")
        try object.submitPending()
        try office.run("UPDATE note SET place = 'office' WHERE id = 1")
        #expect(try office.whileBusy { try one.synchronize() } == [0, 0])
        try one.edit("Note", 1, "edited, knowing the office's")
        try one.package.cancelPendingOperations()
        try object.refresh()
        #expect(try object.value("text") == "submitted" && one.synchronize() == [0, 1])
        try object.refresh()
        try object.submitPending()
        #expect(try one.synchronize() == [0, 1] && office.texts(1)[0] == "one")
    }

    @Test("an operation that was deferred and is sent again has its original, also after an import of the changed row")
    func deferred() throws {
        let object = try one.edit("Note", 1, "mine"), other = try one.edit("Note", 2, "mine")
        for object in [object, other] { try object.submitPending() }
        let before = try one.package.outbox.map(\.original)
        try office.run("UPDATE note SET place = 'office' WHERE id = 1")
        #expect(try office.whileBusy { try one.package.synchronize() }.operationsDeferred == 2)
        #expect(try one.package.outbox.map(\.original) == before && before[0]?["place"] == "shelf")
        office.clock.advance(by: .seconds(600))
        #expect(try one.synchronize() == [1, 1] && object.conflict()?.row?["place"] == "office")
    }

    @Test("a change after a deferred one that was withdrawn follows the one before it")
    func withdrawn() throws {
        try one.edit("Note", 1, "first").submitPending()
        #expect(try one.synchronize("side") == [1, 0])
        let withdrawn = try one.edit("Note", 1, "withdrawn")
        try withdrawn.submitPending()
        #expect(try office.whileBusy { try one.package.synchronize("side") }.operationsDeferred == 1)
        try withdrawn.cancelPending()
        #expect(try one.package.outbox.isEmpty)
        try one.edit("Note", 1, "second").submitPending()
        #expect(try one.synchronize("side") == [1, 0] && office.texts(1)[0] == "second")
    }

    @Test("a new row that another application has changed since its creation is not overwritten by a change that was made before the answer")
    func createdAndChanged() throws {
        let new = try GenericEntity("Note", in: one.package)
        try new.setValue("new", "text")
        try new.save()
        try new.submitPending()
        one.loseAnswer(of: office)
        try new.setValue("mine", "text")
        try new.update()
        try new.submitPending()
        try office.run("UPDATE note SET place = 'office' WHERE text = 'new'")
        #expect(try one.synchronize() == [1, 1] && office.rows("note").last == "4 new at office")
        try new.refresh()
        #expect(try new.conflict()?.row?["place"] == "office")
    }

    @Test("rows of segments, of a first synchronization and of a later one, are the same as rows of the back end")
    func segments() throws {
        let office = try Office(usesSegments: true), phone = try office.phone("one")
        func submitAll(_ text: String) throws {
            for id in 1...3 { try phone.edit("Note", Int64(id), text).submitPending() }
        }
        try submitAll("first")
        #expect(try phone.synchronize() == [3, 0])
        try office.run("UPDATE note SET place = 'office', price = 0.10, weight = 0.1, due = '2026-11-24 07:00:00.5', isDone = 0")
        #expect(try phone.synchronize() == [0, 0])
        try submitAll("second")
        #expect(try phone.synchronize() == [3, 0])
        try submitAll("third")
        try office.run("UPDATE note SET weight = 0.2 WHERE id = 2")
        #expect(try phone.synchronize() == [2, 1] && office.rows("note") == ["1 third at office", "2 second at office", "3 third at office"])
    }
}
