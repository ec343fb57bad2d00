import Foundation
import MobileModel
import TestSupport
import Testing

/// The article *The model file* agrees with the JSON Schema that the tool prints, and its samples with the sample package.
@Suite struct ModelFileArticleTests {
    /// One object of the format in the schema.
    private struct Definition {
        let members: [(name: String, node: JSONSyntaxNode)]
        let required: Set<String>
    }

    /// The objects of the format by the headings of the article, such as `back end`.
    private let definitions: [String: Definition]
    private let schema: JSONSyntaxNode
    private let lines: [Substring]
    /// The rows of the tables of members, by heading.
    private let rows: [String: [[String]]]

    init() throws {
        let printed = try Tool.run(["generate", "--schema"])
        try #require(printed.status == 0)
        schema = try #require(JSONSyntaxNode(text: printed.output))
        var definitions = ["package": Self.definition(schema)]
        for (name, node) in Self.members(Self.member("definitions", of: schema)) where Self.member("properties", of: node) != nil {
            definitions[name.replacing(/[A-Z]/) { " " + $0.output.lowercased() }] = Self.definition(node)
        }
        self.definitions = definitions
        lines = try SourceReader.article("TheModelFile")
        rows = Self.tables(of: lines, header: "member")
    }

    // MARK: Members

    @Test func `every object of the format has one section, and every section its members in one row each`() {
        #expect(definitions.count == 15)
        #expect(Set(rows.keys) == Set(definitions.keys))
        for (heading, definition) in definitions {
            let named = (rows[heading] ?? []).map { $0.first ?? "" }
            let expected = definition.members.map { "`\($0.name)`" }
            #expect(Set(named).count == named.count, "a member has two rows: \(heading)")
            for member in expected { #expect(named.contains(member), "\(heading) has the member \(member) in the schema, and no row") }
            for member in named { #expect(expected.contains(member), "\(heading) has a row \(member), and the schema no such member") }
        }
    }

    @Test func `every row has the values, the range, the default and the format of the schema`() throws {
        var checked = 0
        for (heading, definition) in definitions {
            for (name, node) in definition.members {
                let cells = try #require(rows[heading]?.first { $0.first == "`\(name)`" }, "\(heading).\(name)")
                try #require(cells.count == 4, "\(heading).\(name): \(cells)")
                let place = Comment(rawValue: "\(heading).\(name)")
                for word in words(of: node) { #expect(cells[1].contains("`\(word)`"), place) }
                for key in ["minimum", "maximum"] {
                    if let bound = Self.member(key, of: node).flatMap(text) {
                        #expect(cells[1].split { !$0.isNumber }.contains(Substring(bound)), place)
                    }
                }
                let initial = (Self.member("default", of: node) ?? Self.member("default", of: referred(node))).flatMap(text)
                if definition.required.contains(name) {
                    #expect(cells[2] == "required", place)
                } else if let initial {
                    #expect(cells[2] == "`\(initial)`", place)
                } else {
                    #expect(cells[2] != "required" && !cells[2].contains("`") && !cells[2].isEmpty, place)
                }
                if Self.member("description", of: node).flatMap(text)?.contains("Format 2.") == true {
                    #expect(cells[3].hasSuffix("Format 2."), place)
                }
                #expect(!cells[3].isEmpty, place)
                checked += 1
            }
        }
        #expect(checked > 80)
    }

    @Test func `the table of types has the types of the schema`() throws {
        let type = try #require(Self.member("type", of: Self.member("definitions", of: schema)))
        let rows = Self.tables(of: lines, header: "type")
        #expect(rows["names and types"]?.map { $0[0] } == words(of: type).map { "`\($0.replacing("\"", with: ""))`" })
    }

    // MARK: Large values

    @Test(arguments: [("string", 8191, AttributeType.bigString), ("binary", 32_767, .bigBinary)])
    func `the longest values in a row`(type: String, length: Int, large: AttributeType) throws {
        func model(_ length: Int) throws -> PackageModel {
            try PackageModel(
                json: """
                    {"format": 1, "name": "Notes", "pageSize": 65536, "objects": [{"name": "Note", "local": true, "attributes": [
                      {"name": "text", "type": "\(type)", "length": \(length)}]}]}
                    """)
        }
        #expect(try model(length).objects[0].attributes[0].type == AttributeType(modelText: type))
        #expect(try model(length + 1).objects[0].attributes[0].type == large)
        #expect(lines.contains { $0.contains("`length` over \(length)") })
    }

    // MARK: Samples

    @Test func `the samples are parts of the sample package, of its generated code, and of the code that runs`() throws {
        let folder = try TemporaryDirectory(), model = Repository.file("Sources/SampleCRM/crm.mbo.json")
        let generated = try Tool.run(["generate", model.path, "--output", folder.path])
        try #require(generated.status == 0, "\(generated.output)")
        var swift = try String(contentsOf: Repository.file("Tests/SampleCRMTests/Documentation/ModelFileGuideTests.swift"), encoding: .utf8)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            swift += try String(contentsOf: URL(filePath: folder.file(name)), encoding: .utf8)
        }
        let sources = ["```swift": Self.trimmed(swift), "```json": Self.trimmed(try String(contentsOf: model, encoding: .utf8))]
        var checked = 0
        for block in lines.split(whereSeparator: { $0 == "```" }) {
            guard let start = block.lastIndex(where: { $0.hasPrefix("```") }), let source = sources[String(block[start])] else { continue }
            let sample = Self.trimmed(block[(start + 1)...].joined(separator: "\n"))
            #expect(source.contains(sample), "\(sample)")
            checked += 1
        }
        #expect(checked == 17)
    }

    // MARK: Reading

    private static func definition(_ node: JSONSyntaxNode) -> Definition {
        Definition(
            members: members(member("properties", of: node)),
            required: Set(elements(member("required", of: node)).compactMap { if case .string(let name) = $0.value { name } else { nil } }))
    }

    private static func members(_ node: JSONSyntaxNode?) -> [(name: String, node: JSONSyntaxNode)] {
        if case .object(let members) = node?.value { members.map { ($0.key, $0.node) } } else { [] }
    }

    private static func member(_ key: String, of node: JSONSyntaxNode?) -> JSONSyntaxNode? { members(node).first { $0.name == key }?.node }

    private static func elements(_ node: JSONSyntaxNode?) -> [JSONSyntaxNode] {
        if case .array(let elements) = node?.value { elements } else { [] }
    }

    /// A simple value as the article writes it; nil for others.
    private func text(_ node: JSONSyntaxNode) -> String? {
        switch node.value {
        case .string(let text): "\"\(text)\""
        case .number(let digits): digits
        case .boolean(let value): "\(value)"
        default: nil
        }
    }

    /// The words that a value, an element of it or one of its forms may be.
    private func words(of node: JSONSyntaxNode) -> [String] {
        let forms = Self.elements(Self.member("anyOf", of: node)) + [Self.member("items", of: node)].compactMap { $0 }
        return Self.elements(Self.member("enum", of: node)).compactMap(text) + forms.flatMap(words)
    }

    private func referred(_ node: JSONSyntaxNode) -> JSONSyntaxNode? {
        guard case .string(let name) = Self.member("$ref", of: node)?.value else { return nil }
        return Self.member(String(name.split(separator: "/").last ?? ""), of: Self.member("definitions", of: schema))
    }

    /// The rows of the tables whose first column has this header, by the heading above, in lower case.
    private static func tables(of lines: [Substring], header: String) -> [String: [[String]]] {
        var found: [String: [[String]]] = [:]
        var heading = "", isTable = false
        for line in lines {
            if line.hasPrefix("#") { heading = line.drop { $0 == "#" || $0 == " " }.lowercased() }
            if line.hasPrefix("| \(header) |") {
                isTable = true
            } else if !line.hasPrefix("|") {
                isTable = false
            } else if isTable, !line.hasPrefix("|---") {
                found[heading, default: []].append(SourceReader.cells(of: line))
            }
        }
        return found
    }

    /// The lines without indentation and without empty ones.
    private static func trimmed(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }.joined(separator: "\n")
    }
}
