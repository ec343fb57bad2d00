// Joins the rows of Tests/Conformance/Requirements with the results of one run of the tests; `make checklist` calls it.
// Exit status 1: a row failed, the run was not completed, or a test names a row that does not exist.

import Foundation

let usage = "usage: checklist --rows FOLDER --events FILE --json FILE"

func run(_ arguments: [String]) throws -> Int32 {
    var options: [String: String] = [:]
    for index in stride(from: 0, to: arguments.count - 1, by: 2) { options[arguments[index]] = arguments[index + 1] }
    guard let rowsPath = options["--rows"], let eventsPath = options["--events"], let jsonPath = options["--json"], options.count == 3 else {
        throw ChecklistError(usage)
    }
    let checklist = try Checklist(folder: URL(fileURLWithPath: rowsPath))
    let testRun = try TestRun(events: String(contentsOfFile: eventsPath, encoding: .utf8))
    let joined = ProvenRows(checklist, testRun)

    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    try encoder.encode(["rows": joined.rows]).write(to: URL(fileURLWithPath: jsonPath), options: .atomic)

    let statements = Dictionary(uniqueKeysWithValues: checklist.rows.map { ($0.id, $0.statement) })
    for row in joined.rows where row.state == .unproven || row.state == .failed {
        print("\(row.state.rawValue) \(row.id): \(statements[row.id] ?? "")")
        for test in row.tests where row.state == .failed { print("    \(test)") }
    }
    for id in joined.unknownIDs { print("unknown id \(id) at the beginning of a test's name") }
    if !testRun.isComplete { print("the test run did not come to its end") }
    print(joined.summary)
    return joined.count(.failed) > 0 || !testRun.isComplete || !joined.unknownIDs.isEmpty ? 1 : 0
}

do {
    exit(try run(Array(CommandLine.arguments.dropFirst())))
} catch {
    FileHandle.standardError.write(Data("checklist: \(error)\n".utf8))
    exit(2)
}
