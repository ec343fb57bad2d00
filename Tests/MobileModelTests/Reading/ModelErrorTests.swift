import Foundation
import MobileModel
import TestSupport
import Testing

/// The report of problems: all at once, each with its place, for people and for compilers.
@Suite struct ModelErrorTests {
    private func error(_ json: String) -> ModelError? {
        #expect(throws: ModelError.self) { _ = try PackageModel(json: json, file: "shop.mbo.json") }
    }

    @Test func `all errors of a file are reported, in the order of the document`() throws {
        let json = ShopModelText.json
            .replacing("\"pageSize\": 4096", with: "\"pageSize\": 4000")
            .replacing("\"type\": \"string[]\"", with: "\"type\": \"strings\"")
            .replacing("\"target\": \"Customer\"", with: "\"target\": \"Custmer\"")
            .replacing("\"local\": true", with: "\"locl\": true, \"local\": true")
        #expect(
            error(json)?.problems.map(\.path.description) == [
                "pageSize", "structures[0].attributes[1].type", "objects[1].relationships[0].target", "objects[2].locl",
            ])
    }

    @Test func `a problem knows its line and column`() throws {
        let json = try ShopModelText.json(replacing: "\"target\": \"Customer\"", with: "\"target\": \"Custmer\"")
        let problem = try #require(error(json)?.problems.first)
        let line = try #require(problem.line)
        let text = json.split(separator: "\n", omittingEmptySubsequences: false)[line - 1].utf8
        #expect(String(text.dropFirst((problem.column ?? 0) - 1))?.hasPrefix("\"Custmer\"") == true)
        #expect(
            problem.diagnostic
                == "shop.mbo.json:\(line):\(problem.column ?? 0): error: objects[1].relationships[0].target: there is no object \"Custmer\"; did you mean \"Customer\"?"
        )
        #expect(
            problem.description == "shop.mbo.json, objects[1].relationships[0].target: there is no object \"Custmer\"; did you mean \"Customer\"?")
        #expect(problem.code == .unresolved)
    }

    @Test(
        "text that is no JSON is refused with its place",
        arguments: [
            ("", 1, 1, "expected a value, found the end of the file"),
            ("[1, 2]", 1, 1, "expected an object, found an array"),
            ("{\n  \"a\": 1,\n}", 3, 1, "expected a key in double quotes, found '}'; remove the comma before it, or write what is missing"),
            ("{\"a\": 1} x", 1, 10, "there is text after the end of the document"),
            ("{\"a\" 1}", 1, 6, "expected ':' after the key, found '1'"),
            ("{'a': 1}", 1, 2, "expected a key in double quotes, found '''; JSON strings are in double quotes"),
            ("{\n// no\n}", 2, 1, "expected a key in double quotes, found '/'; JSON has no comments; use \"documentation\" keys"),
            ("{\"a\": tru}", 1, 7, "expected a value, found 't'"),
            ("{\"a\": 01}", 1, 9, "a number begins with a superfluous 0"),
            ("{\"a\": 1.}", 1, 9, "expected a digit, found '}'; remove the comma before it, or write what is missing"),
            ("{\"a\": \"x", 1, 9, "a string does not end"),
            ("{\"a\": \"\\x\"}", 1, 10, "an unknown escape '\\x' in a string"),
            ("{\"a\": \"\\ud800\"}", 1, 14, "half of a surrogate pair"),
            ("{\"a\": \"\\u12g4\"}", 1, 10, "expected four hexadecimal digits after \\u"),
            ("{\"a\": \"\u{1}\"}", 1, 8, "a control character in a string; write it as an escape, such as \\n"),
            (String(repeating: "[", count: 65), 1, 65, "more than 64 levels of nesting"),
        ])
    func noJSON(json: String, line: Int, column: Int, message: String) {
        let problem = error(json)?.problems.first
        #expect(problem?.message == message)
        #expect(problem?.line == line)
        #expect(problem?.column == column)
    }

    @Test func `a file that is not there, and one that is no text, are refused by name`() throws {
        let missing = #expect(throws: ModelError.self) { try PackageModel(contentsOf: URL(filePath: "/nowhere/shop.mbo.json")) }
        #expect(missing?.code == .file)
        #expect(missing?.file == "/nowhere/shop.mbo.json")
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "latin1.mbo.json")
        try Data([0x7B, 0x22, 0xE4, 0x22, 0x7D]).write(to: file)
        let latin = #expect(throws: ModelError.self) { try PackageModel(contentsOf: file) }
        #expect(latin?.message == "the file is not UTF-8; save it in that encoding")
    }

    @Test func `escapes, a byte order mark and numbers of any length are read exactly`() throws {
        let json = try ShopModelText.json(replacing: "\"default\": \"NEW\"", with: "\"default\": \"\\u00e4\\ud83d\\ude00\\n\"")
            .replacing("\"scale\": 2, \"default\": 0", with: "\"scale\": 2, \"default\": 12345678.90")
        let model = try PackageModel(json: "\u{FEFF}" + json)
        #expect(model.objects[0].attributes[1].defaultValue == "\"ä😀\\n\"")
        #expect(model.objects[0].attributes[3].defaultValue == "12345678.90")
    }

    @Test(
        "suggestions: a slip of the finger is recognized, another word is not",
        arguments: [
            ("Custmer", "Customer"), ("custoemr", "Customer"), ("Ordr", "Order"),
        ])
    func suggestion(slip: String, meant: String) throws {
        let json = try ShopModelText.json(replacing: "\"target\": \"Customer\"", with: "\"target\": \"\(slip)\"")
        #expect(error(json)?.problems.first { $0.code == .unresolved }?.suggestion == "did you mean \"\(meant)\"?")
        let other = try ShopModelText.json(replacing: "\"target\": \"Customer\"", with: "\"target\": \"Warehouse\"")
        #expect(error(other)?.problems.first?.suggestion == nil)
    }
}
