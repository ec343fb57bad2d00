import MobileStore
import TestSupport
import Testing

@testable import MobileObjects

/// The records of the back ends that a database has seen.
@Suite struct SeenRecordsTests {
    @Test(
        "an import replaces what was seen, unless a change is pending that may be based on it",
        arguments: [
            ([:], ["a": 1], false, ["a": 1]), ([:], ["a": 1], true, ["a": 1]), (["a": 1], [:], false, ["a": 1]), (["a": 1], ["a": 2], true, ["a": 2]),
            (["a": 2], ["a": 1], true, ["a": 2]), (["a": 2], ["a": 1], false, ["a": 1]), (["a": 2], ["b": 1], false, ["b": 1]),
            (["a": 2], ["b": 1], true, ["a": 2, "b": 1]), (["a": 2, "b": 1], ["b": 3], true, ["a": 2, "b": 3]),
        ] as [([String: Int64], [String: Int64], Bool, [String: Int64])])
    func imports(seen: [String: Int64], records: [String: Int64], isPending: Bool, result: [String: Int64]) {
        #expect(SeenRecords(seen).seeing(records) { isPending }.numbers == result)
    }

    @Test func `with too many eras, one of them is beyond what any back end has reached`() {
        var seen = SeenRecords()
        for number in 1...SeenRecords.limit + 5 { seen = seen.seeing(["era \(number)": Int64(number)]) { true } }
        #expect(seen.numbers.count <= SeenRecords.limit && seen.numbers.values.contains(.max))
        #expect(seen.numbers["era \(SeenRecords.limit + 5)"] == Int64(SeenRecords.limit + 5))
        #expect(seen.seeing(["next": 1]) { false }.numbers == ["next": 1])
    }

    @Test func `what the groups have seen is stored with their tokens, and stays when these are forgotten`() throws {
        let shop = try Shop(), database = shop.database
        try database.write("import") { transaction in
            try transaction.setToken("t", ofGroup: "default", records: ["a": 5])
            try transaction.setToken("t", ofGroup: "catalog", records: ["a": 3, "b": 1])
        }
        #expect(try database.seenRecords == ["a": 5, "b": 1])
        try database.write("recover") { try $0.forgetTokens() }
        #expect(try database.seenRecords == ["a": 5, "b": 1] && database.token(ofGroup: "default") == nil)
        #expect(try database.lastSynchronization(ofGroup: "default") == nil)
        try database.write("import") { try $0.setToken("u", ofGroup: "default", records: ["c": 1]) }
        #expect(try database.seenRecords == ["a": 3, "b": 1, "c": 1])
        try database.cleanAllData()
        #expect(try database.seenRecords.isEmpty)
    }
}
