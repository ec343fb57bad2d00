import Foundation
import TestSupport
import Testing

@testable import checklist

@Suite struct RowIDTests {
    @Test(
        "ids are read from the beginning of a name, up to the first word that is none",
        arguments: [
            ("PND-03 PND-04: cancelPending restores", ["PND-03", "PND-04"]), ("E2E-01, E2E-02: traces", ["E2E-01", "E2E-02"]),
            ("RC-017 C: login", ["RC-017"]), ("WL-042", ["WL-042"]), ("a rule without id", []), ("see PND-03", []), ("PNDX-03: four letters", []),
            ("PND-: no number", []), ("PND-03a: a part of a row", ["PND-03a"]), ("UTF-8x2: no id", []),
        ])
    func leadingIDs(name: String, ids: [String]) {
        #expect(RowID.leading(of: name) == ids)
    }
}

@Suite struct TestRunTests {
    @Test(
        "the result of a test is what its events say",
        arguments: [
            ("passes", TestRun.Result.passed), ("fails", .failed), ("one case of three fails", .failed), ("is skipped", .provesNothing),
            ("has a known issue", .provesNothing), ("is cancelled", .provesNothing), ("raw name", .passed), ("has a warning", .passed),
            ("never ends", .failed), ("never begins", .provesNothing),
        ])
    func result(name: String, result: TestRun.Result) throws {
        let run = try TestRun(events: Stream.events)
        #expect(run.results["AAA-01: \(name)"] == result)
        #expect(run.isComplete)
    }

    @Test func `of two tests with one name the worse one counts`() throws {
        let events = Stream.test("a", "X") + Stream.test("b", "X") + Stream.ended("a", "pass") + Stream.started("b")
        #expect(try TestRun(events: events).results == ["X": .failed])
    }

    @Test func `a run without its end is not complete, and an unfinished last line is left out`() throws {
        let run = try TestRun(events: Stream.test("a", "X") + Stream.ended("a", "pass") + #"{"kind":"ev"#)
        #expect(!run.isComplete)
        #expect(run.results == ["X": .passed])
    }

    @Test func `a line that is no record is an error that names it`() {
        let error = #expect(throws: ChecklistError.self) { try TestRun(events: "nonsense\n" + Stream.runEnded) }
        #expect(error?.description == "line 1 of the event stream is no record: nonsense")
    }
}

@Suite struct ProvenRowsTests {
    let checklist = Checklist(
        rows: ["AAA-01", "AAA-02", "AAA-03", "AAA-04", "AAA-05"].map { ChecklistRow(id: $0, statement: "a rule") },
        replacements: ["AAA-04": "something else", "AAA-05": "another thing"])

    @Test func `a row is proven by one test that passed and by none that failed`() throws {
        let events =
            Stream.test("a", "AAA-01 AAA-02: x") + Stream.ended("a", "pass") + Stream.test("b", "AAA-02: y") + Stream.ended("b", "fail")
            + Stream.test("c", "AAA-03: z") + Stream.skipped("c") + Stream.test("d", "AAA-05: bound, and tested all the same")
            + Stream.ended("d", "pass") + Stream.runEnded
        let joined = ProvenRows(checklist, try TestRun(events: events))
        #expect(joined.rows.map(\.state) == [.proven, .failed, .unproven, .platformBound, .proven])
        #expect(joined.rows[1].tests == ["AAA-01 AAA-02: x", "AAA-02: y"])
        #expect(joined.rows[2].tests == [])
        #expect(joined.summary == "checklist: 2 proven, 1 failed, 1 unproven, 1 platform-bound")
    }

    @Test func `an id that no row has is reported`() throws {
        let events = Stream.test("a", "ZZZ-99: x") + Stream.ended("a", "pass")
        #expect(ProvenRows(checklist, try TestRun(events: events)).unknownIDs == ["ZZZ-99"])
    }
}

@Suite struct RowFileTests {
    @Test func `the repository's own rows are well-formed and complete`() throws {
        let folder = Repository.file("Tests/Conformance/Requirements")
        let checklist = try Checklist(folder: folder)
        let areas = Dictionary(grouping: checklist.rows) { $0.id.prefix { $0 != "-" } }
        #expect(areas.filter { !["RC", "WL", "WLD"].contains($0.key) }.values.reduce(0) { $0 + $1.count } == 651)
        #expect(areas["RC"]?.count == 166)
        #expect(areas["WL"]?.count == 162)
        #expect(areas["WLD"]?.count == 79)
        #expect(checklist.replacements.count == 9)
    }

    @Test func `a line that is not id, tab and sentence is an error that names file and line`() throws {
        let folder = try TemporaryDirectory()
        try Data("# comment\nAAA-01\tfine\nAAA-2 no tab\n".utf8).write(to: folder.url.appendingPathComponent("a.tsv"))
        let error = #expect(throws: ChecklistError.self) { try Checklist(folder: folder.url) }
        #expect(error?.description == "a.tsv, line 3: expected an id, a tab and a sentence, found \"AAA-2 no tab\"")
    }
}

/// Makes records in the test library's format.
private enum Stream {
    static func test(_ id: String, _ name: String) -> String {
        #"{"kind":"test","payload":{"kind":"function","id":"\#(id)","name":"f()","displayName":"\#(name)"},"version":0}"# + "\n"
    }
    static func event(_ kind: String, _ id: String, _ rest: String = "") -> String {
        #"{"kind":"event","payload":{"kind":"\#(kind)","testID":"\#(id)"\#(rest)},"version":0}"# + "\n"
    }
    static func started(_ id: String) -> String { event("testStarted", id) }
    static func skipped(_ id: String) -> String { event("testSkipped", id) }
    static func ended(_ id: String, _ symbol: String) -> String { event("testEnded", id, #","messages":[{"symbol":"\#(symbol)","text":"..."}]"#) }
    static let runEnded = #"{"kind":"event","payload":{"kind":"runEnded","messages":[]},"version":0}"# + "\n"

    static let events =
        test("1", "AAA-01: passes") + started("1") + ended("1", "pass")
        + test("2", "AAA-01: fails") + started("2") + event("issueRecorded", "2", #","issue":{"isKnown":false}"#) + ended("2", "fail")
        + test("3", "AAA-01: one case of three fails") + started("3") + event("testCaseStarted", "3") + event("testCaseEnded", "3")
        + event("issueRecorded", "3", #","issue":{"isKnown":false}"#) + ended("3", "fail")
        + test("4", "AAA-01: is skipped") + skipped("4")
        + test("5", "AAA-01: has a known issue") + started("5") + event("issueRecorded", "5", #","issue":{"isKnown":true}"#)
        + ended("5", "passWithKnownIssue")
        + test("6", "AAA-01: is cancelled") + started("6") + ended("6", "skip")
        + #"{"kind":"test","payload":{"kind":"function","id":"7","name":"`AAA-01: raw name`"},"version":0}"# + "\n" + ended("7", "pass")
        + test("8", "AAA-01: has a warning") + started("8") + event("issueRecorded", "8", #","issue":{"isKnown":false,"severity":"warning"}"#)
        + ended("8", "pass")
        + test("9", "AAA-01: never ends") + started("9") + test("10", "AAA-01: never begins") + runEnded
}
