/// The rows joined with the results of one run.
struct ProvenRows: Equatable {
    enum State: String, Encodable, CaseIterable {
        case proven, failed, unproven
        case platformBound = "platform-bound"
    }

    struct Row: Equatable, Encodable {
        let id: String
        let state: State
        /// The display names of the tests that begin with the id and ran, sorted.
        let tests: [String]
    }

    var rows: [Row] = []
    /// The ids at the beginning of tests' names without a row: a typing error, or a missing row.
    var unknownIDs: [String] = []

    init(_ checklist: Checklist, _ run: TestRun) {
        var tests: [String: [(name: String, result: TestRun.Result)]] = [:]
        for (name, result) in run.results {
            for id in RowID.leading(of: name) { tests[id, default: []].append((name, result)) }
        }
        rows = checklist.rows.map { row in
            let own = tests[row.id] ?? []
            let state: State =
                if own.contains(where: { $0.result == .failed }) {
                    .failed
                } else if own.contains(where: { $0.result == .passed }) {
                    .proven
                } else {
                    checklist.replacements[row.id] == nil ? .unproven : .platformBound
                }
            return Row(id: row.id, state: state, tests: own.filter { $0.result != .provesNothing }.map(\.name).sorted())
        }
        unknownIDs = Set(tests.keys).subtracting(checklist.rows.map(\.id)).sorted()
    }

    func count(_ state: State) -> Int { rows.count { $0.state == state } }

    /// The last line of the output.
    var summary: String {
        "checklist: " + State.allCases.map { "\(count($0)) \($0.rawValue)" }.joined(separator: ", ")
    }
}
