import Foundation
import TestSupport
import Testing

/// The Swift code of every article is compiled: each block is, apart from comments and white space, a part of a file of the tests or samples.
@Suite struct ArticleSampleTests {
    /// Articles with blocks that another test compares: the parts of generated code in *The model file*.
    private static let comparedElsewhere: Set = ["TheModelFile.md"]

    /// An expression in code is read again whenever the code runs, which takes longer than its use. One test uses it.
    private nonisolated(unsafe) static let comment = /(^|\s)\/\/.*$/

    /// The words of the code as bytes, which are compared many times as fast as characters.
    private static func text(of code: String) -> Data {
        let lines = code.split(separator: "\n").map { $0.utf8.contains(UInt8(ascii: "/")) ? $0.replacing(comment, with: "") : $0 }
        return Data(lines.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ").utf8)
    }

    private static func files(in folder: String, ending: String) throws -> [URL] {
        let all = try #require(FileManager.default.enumerator(at: Repository.file(folder), includingPropertiesForKeys: nil))
        return all.compactMap { $0 as? URL }.filter { $0.path.hasSuffix(ending) }
    }

    private static func blocks(_ article: String) -> [String] {
        article.matches(of: /(?s)```swift\n(.*?)```/).map { String($0.1) }
    }

    @Test func `each block of Swift in an article is compiled`() throws {
        let compiled = try ["Tests", "Sources/Samples"].flatMap { try Self.files(in: $0, ending: ".swift") }.map {
            Self.text(of: try String(contentsOf: $0, encoding: .utf8))
        }
        var checked = 0
        for article in try Self.files(in: "Sources", ending: ".md") + [Repository.file("README.md")] {
            guard !Self.comparedElsewhere.contains(article.lastPathComponent) else { continue }
            for block in Self.blocks(try String(contentsOf: article, encoding: .utf8)) {
                let text = Self.text(of: block)
                #expect(compiled.contains { $0.range(of: text) != nil }, "\(article.lastPathComponent): no compiled file has\n\(block)")
                checked += 1
            }
        }
        #expect(checked > 40)
    }
}
