import Foundation
import Testing

/// The article *Errors* agrees with the codes of the sources.
@Suite struct ErrorsArticleTests {
    /// One row of a table.
    private struct Row {
        let type: String, name: String
        let cells: [String]
    }

    private let sources: SourceReader
    private let rows: [Row]
    private let text: String

    init() throws {
        sources = try SourceReader.checkout.get()
        let lines = try SourceReader.article("Errors")
        text = lines.joined(separator: "\n")
        var type = "", rows: [Row] = []
        for line in lines {
            if line.hasPrefix("#") { type = line.hasPrefix("### `") ? String(line.dropFirst(5).dropLast()) : "" }
            guard !type.isEmpty, line.hasPrefix("| `") else { continue }
            let cells = SourceReader.cells(of: line)
            rows.append(Row(type: type, name: cells[0].replacing("`", with: ""), cells: Array(cells.dropFirst())))
        }
        self.rows = rows
    }

    @Test func `every code of every module has a row, and every row a code`() {
        #expect(sources.codes.count >= 11)
        for (type, codes) in sources.codes.sorted(by: { $0.key < $1.key }) {
            let names = rows.filter { $0.type == type }.map(\.name)
            #expect(Set(names) == Set(codes.keys), "\(type): codes without a row, or rows without a code")
            #expect(Set(names).count == names.count, "\(type): a code has two rows")
        }
        for row in rows { #expect(sources.codes[row.type] != nil, "\(row.type) is no type of codes") }
    }

    @Test func `numbers are those of the sources, and every row names cause and remedy`() {
        for row in rows {
            let raw = sources.codes[row.type]?[row.name]
            if let raw, Int(raw) != nil {
                #expect(row.cells.first == raw, "\(row.type).\(row.name)")
            } else {
                #expect(raw == row.name, "\(row.type).\(row.name): the text of the code is not its name, so it needs a column")
            }
            for sentence in row.cells.suffix(2) { #expect(sentence.count > 5 && sentence.hasSuffix("."), "\(row.type).\(row.name): \(sentence)") }
        }
    }

    @Test func `every status of the core stands at the code that has its number`() {
        let named = rows.filter { $0.cells.count == 4 && !$0.cells[1].isEmpty }.map { ($0.cells[1].replacing("`", with: ""), $0.cells[0]) }
        #expect(Dictionary(named, uniquingKeysWith: { first, _ in first }) == sources.statuses)
    }

    /// The first number of each type's codes in the texts of the message service.
    private static let bases = ["StoreError.Code": 1000, "ObjectError.Code": 2000, "SyncError.Code": 0, "DataVaultError.Code": 0]

    @Test func `the remedies that errors print are those of the article`() throws {
        let file = try String(contentsOf: SourceReader.root.appending(path: "Sources/MobileObjects/Errors/EnglishTexts.swift"), encoding: .utf8)
        let remedies = try #require(file.components(separatedBy: "static let remedies").last)
        var printed: [Int: String] = [:]
        for match in remedies.matches(of: /"(-?\d+)" = "([^"]+)";/) {
            if let code = Int(match.1) { printed[code] = String(match.2) }
        }
        var documented: [Int: String] = [:]
        for row in rows {
            guard let base = Self.bases[row.type], let number = row.cells.first.flatMap({ Int($0) }), let remedy = row.cells.last else { continue }
            documented[base + number] = remedy.replacing("`", with: "").replacing(/<doc:(\w+)>/) { "the article \($0.1)" }
        }
        #expect(documented.count > 80 && printed == documented)
    }

    @Test func `every public error type is named`() {
        #expect(sources.errorTypes.count >= 11)
        for type in sources.errorTypes { #expect(text.contains("`\(type)`") || text.contains("`\(type).Code`"), "\(type)") }
    }
}
