import Testing

@testable import MobileObjects

/// The transitions of one row's marks, without a database. A state is written `change counter submitted failed`.
@Suite struct ReplayStateTests {
    @Test(
        "every event of the table, from every state it can meet",
        arguments: [
            // update
            ("N 10 0 0", "update 20", "U 20 0 0"), ("P 10 0 0", "update 20", "U 20 0 0"), ("C 10 0 0", "update 20", "C 20 0 0"),
            ("C 10 10 0", "update 20", "C 20 10 0"), ("U 10 0 0", "update 20", "U 20 0 0"), ("U 10 10 0", "update 20", "U 20 10 0"),
            ("U 10 0 10", "update 20", "U 20 0 10"),
            // delete
            ("N 10 0 0", "delete 20", "D 20 0 0"), ("P 10 0 0", "delete 20", "D 20 0 0"), ("U 10 10 0", "delete 20", "D 20 10 0"),
            ("C 10 10 0", "delete 20", "D 20 10 0"), ("U 10 0 10", "delete 20", "D 20 0 10"),
            // submit: a new counter, which goes to submitted, and the failure is forgotten
            ("C 10 0 0", "submit 20", "C 20 20 0"), ("U 10 0 0", "submit 20", "U 20 20 0"), ("D 10 0 0", "submit 20", "D 20 20 0"),
            ("U 10 0 10", "submit 20", "U 20 20 0"), ("U 15 10 0", "submit 20", "U 20 20 0"),
            // accepted, id = submitted = counter
            ("C 20 20 0", "accept 20", "N 5 0 0 settled"), ("U 20 20 0", "accept 20", "N 5 0 0 settled"),
            ("D 20 20 0", "accept 20", "N 5 0 0 settled"),
            // accepted, changed again since
            ("C 25 20 0", "accept 20", "U 25 0 0 changedSince"), ("U 25 20 0", "accept 20", "U 25 0 0 changedSince"),
            ("D 25 20 0", "accept 20", "D 25 0 0 changedSince"),
            // accepted, another id
            ("U 25 20 0", "accept 10", "U 25 20 0 older"), ("U 25 0 0", "accept 20", "U 25 0 0 older"), ("N 5 0 0", "accept 20", "N 5 0 0 older"),
            ("P 5 0 0", "accept 20", "P 5 0 0 older"), ("C 25 0 25", "accept 20", "C 25 0 25 older"),
            // rejected, id = counter
            ("C 20 20 0", "reject 20", "C 20 0 20 failed"), ("U 20 20 0", "reject 20", "U 20 0 20 failed"),
            ("D 20 20 0", "reject 20", "D 20 0 20 failed"),
            // rejected, id = submitted, changed again since
            ("U 25 20 0", "reject 20", "U 25 0 0 changedSince"), ("C 25 20 0", "reject 20", "C 25 0 0 changedSince"),
            ("D 25 20 0", "reject 20", "D 25 0 0 changedSince"),
            // rejected, another id
            ("U 25 20 0", "reject 10", "U 25 20 0 older"), ("N 5 0 0", "reject 20", "N 5 0 0 older"),
            // the mark of parents
            ("N 10 0 0", "mark 0", "P 10 0 0"), ("U 10 0 0", "mark 0", "U 10 0 0"), ("P 10 0 0", "unmark 0", "N 10 0 0"),
            ("C 10 0 0", "unmark 0", "C 10 0 0"),
        ])
    func transition(before: String, event: String, after: String) throws {
        var state = try #require(ReplayState(text: before))
        let words = event.split(separator: " "), id = try #require(Int64(words[1]))
        var outcome = ""
        switch words[0] {
        case "update": state.update(counter: id)
        case "delete": state.delete(counter: id)
        case "submit": state.submit(counter: id)
        case "accept": outcome = " \(state.accept(id: id, serverCounter: 5))"
        case "reject": outcome = " \(state.reject(id: id))"
        case "mark": state.markAsParent()
        default: state.unmarkAsParent()
        }
        #expect(state.text + outcome == after)
    }

    @Test(
        "a change is submitted once, again after a rejection, and again after another change",
        arguments: [
            ("N 10 0 0", false), ("P 10 0 0", false), ("C 10 0 0", true), ("U 10 10 0", false), ("U 10 0 10", true), ("U 12 10 0", true),
            ("D 10 0 0", true), ("D 10 10 0", false),
        ])
    func needsSubmit(state: String, expected: Bool) throws {
        #expect(try #require(ReplayState(text: state)).needsSubmit == expected)
    }
}

extension ReplayState {
    fileprivate init?(text: String) {
        let words = text.split(separator: " ")
        let changes: [PendingChange] = [.none, .create, .update, .delete, .parent]
        guard let change = changes.first(where: { String($0.letter) == words[0] }), let counter = Int64(words[1]),
            let submitted = Int64(words[2]), let failed = Int64(words[3])
        else { return nil }
        self.init(change: change, counter: counter, submitted: submitted, failed: failed)
    }

    fileprivate var text: String { "\(change.letter) \(counter) \(submitted) \(failed)" }
}
