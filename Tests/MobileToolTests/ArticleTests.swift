import Foundation
import TestSupport
import Testing

/// The names in the article for users of the original platforms exist.
@Suite struct ArticleTests {
    /// The names in the article that a model or Swift itself declares.
    private static let namesFromElsewhere: Set<Substring> = ["Date", "Customer", "customer", "orders", "findByCity"]

    @Test func `every name on the right side of the article's tables is declared in the sources`() throws {
        let sources = Repository.file("Sources")
        var declared: Set<Substring> = []
        let declaration = /\b(?:func|var|let|class|struct|enum|protocol|case|typealias)\s+`?([A-Za-z_]\w*)/
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var texts: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" { texts.append(try String(contentsOf: file, encoding: .utf8)) }
        for text in texts { for match in text.matches(of: declaration) { declared.insert(Substring(String(match.1))) } }

        let article = try String(contentsOf: sources.appending(path: "MobileSync/MobileSync.docc/ComingFromSUP.md"), encoding: .utf8)
        var checked = 0
        for line in article.split(separator: "\n") where line.hasPrefix("| `") || line.hasPrefix("| a ") || line.hasPrefix("| the ") {
            let cells = line.split(separator: " | ")
            try #require(cells.count == 2, "\(line)")
            for code in cells[1].matches(of: /`([^`]+)`/) {
                let name = code.1.prefix { $0 != "(" }
                for part in name.split(separator: ".") where !Self.namesFromElsewhere.contains(part) {
                    #expect(declared.contains(Substring(String(part))), "\(part) in: \(line)")
                    checked += 1
                }
            }
        }
        #expect(checked > 150)
    }
}
