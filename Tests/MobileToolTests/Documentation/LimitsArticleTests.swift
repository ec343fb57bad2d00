import Foundation
import Testing

/// The article *Limits* agrees with the constants of the sources.
@Suite struct LimitsArticleTests {
    /// Constants that are called limits but do not limit users: they control the internal work, or a limit in the article includes them.
    private static let notForUsers = [
        "MC_EXPORT_STAGE_MAXIMUM": "beyond the longest row that SQLite has",
        "SQLiteLoadQuery.columnLimit": "SQLite's own; the sums of an object with nearly as many attributes are made by the next look",
        "ListPlaces.maximum": "places that a list remembers; more rows cost time, not access",
        "SortAdvice.maximum": "queries that the console may get advice about",
        "PreparedSelects.maximum": "queries that are kept prepared; a further one is prepared again",
        "QueryPage.maximum": "rows that are read at a time",
        "Answer.GzipUse.smallest": "shorter answers are sent as they are",
        "SparePage.maximumBytes": "memory that is kept for the next page",
        "ShownValue.shownLength": "a longer text is cut in lines for people; JSON has all of it",
        "ClientAddress.longest": "the text of an address, which is never longer",
        "LogTable.longestPrefix": "the name of a table in PostgreSQL, whose length it limits itself",
        "PostgreSQLStateStore.timeLimit": "repetitions of one transaction", "PostgreSQLStateStore.longTimeLimit": "repetitions of one transaction",
        "TriggerLogReader.keyLimit": "changed rows that are read one by one; for more of them all rows are compared",
        "ChangeRules.leastRows": "smaller partitions are compared as a whole", "ChangeRules.keyLimit": "for more keys all rows are compared",
        "SQLiteBuckets.argumentLimit": "arguments of one function, which are combined",
        "BackEndRefresh.maximumConflicts": "repetitions of one refresh",
        "BackEndRefresh.stagedFirstLoads": "first loads with a commit each; more of them share one",
        "PostgreSQLEngine.timeLimit": "one load or replay on a back end that hangs",
        "SQLOperationRunner.pieceLimit": "from here on a large value is written in pieces",
        "IntervalSum.maximumMemory": "a measured value, which begins with 0",
        "SamplePictures.smallest": "the sample's pictures", "SamplePictures.largest": "the sample's pictures",
        "EntityEmitter.longestLine": "layout of generated code", "ReadableJSON.width": "layout of written models",
        "ct_client.LONGEST_WAIT_MS": "one turn of a loop that goes on",
        "mc_blob_window.WINDOW_MOST": "bytes that are read at a time",
        "mc_incoming.SIZE_SMALLEST": "where a growing array begins",
        "mc_statement_leaves.NAMES_MOST": "with more different names the values are written in the order of the text",
        "mc_json_number.EXPONENT_LIMIT": "exponents beyond it mean zero or infinity in every type",
        "mc_json_writer.MAXIMUM_DEFAULT": "the core's own default; JSONWriter.maximum has its row",
        "MC_POOL_HOOKS_MAXIMUM": "folders of the core that keep state with a pool",
        "mc_exact.LENGTH_LIMIT": "a longer text is not a number of an application",
        "mc_exact.PLACE_LIMIT": "exponents beyond it mean zero or infinity in every type",
        "MC_EXACT_SCALE_MAXIMUM": "digits of a column, of which a model has at most 38",
        "ColumnExpression.leastMilliseconds": "where integers of times begin to be milliseconds",
        "SchemaNames.longest": "a longer name of a table or column is cut",
        "UnfitRow.longestText": "a longer value is cut in lines for people", "UnfitRow.longestName": "of a longer key the name has a digest",
        "mc_json_append_number.SCALE_MAXIMUM": "the largest power of ten of 64 bits",
        "MC_CURSOR_RANGES_MAXIMUM": "follows from MC_CURSOR_TERMS_MAXIMUM",
        "mc_optimize.STATEMENTS_BYTES_MAXIMUM": "statements of one ANALYZE",
        "mc_zip_format.ZIP_COMMENT_MAXIMUM": "the comment of an archive, whose length the format limits itself",
        "mc_zip_writer.LONGEST": "bytes that zlib takes at a time; more are handed over in pieces",
        "mc_statement.LONGEST": "SQL that a message quotes", "mc_statement_journal.SIZE_MAXIMUM": "journal in memory; a longer one goes to a file",
    ]

    private let constants: [String: [SourceConstant]]
    private let rows: [(line: Substring, cells: [String])]

    init() throws {
        constants = Dictionary(grouping: try SourceReader.checkout.get().constants, by: \.name)
        rows = try SourceReader.article("Limits").filter { $0.hasPrefix("| ") && $0.hasSuffix("` |") }
            .map { ($0, SourceReader.cells(of: $0)) }
    }

    private func constant(of cells: [String]) -> String { String(cells.last?.replacing("`", with: "") ?? "") }

    /// Returns the number of a cell such as `64 KiB`, `30 days` or `512 connections`, in bytes for sizes and in seconds for times.
    private func number(_ cell: String) -> Int64? {
        let words = cell.split(separator: " ")
        guard words.count >= 2, let number = Int64(words[0].replacing(",", with: "")) else { return nil }
        let units: [Substring: Int64] = ["KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "KB": 1000, "MB": 1_000_000, "days": 86_400]
        return number * (units[words[1]] ?? 1)
    }

    @Test func `every row has the number of its constant, with a unit`() throws {
        #expect(rows.count > 90)
        for (line, cells) in rows {
            try #require(cells.count == 6, "\(line)")
            let name = constant(of: cells)
            let found = try #require(constants[name], "no constant \(name) in the sources: \(line)")
            for constant in found { #expect(number(cells[2]) == constant.value, "\(constant.place) has \(constant.value): \(line)") }
        }
    }

    @Test func `every limit of the sources has one row, or a reason why it has none`() {
        let named = rows.map { constant(of: $0.cells) }
        #expect(Set(named).count == named.count, "a constant has two rows")
        let limits = constants.values.joined().filter { $0.saysLimit && $0.isDeclaration }
        #expect(limits.count > 80)
        for limit in limits {
            #expect(
                named.contains(limit.name) != (Self.notForUsers[limit.name] != nil),
                "\(limit.name), \(limit.place): one row in Limits.md, or one reason here")
        }
        for name in Self.notForUsers.keys { #expect(constants[name] != nil, "\(name) is not in the sources any more") }
    }
}
