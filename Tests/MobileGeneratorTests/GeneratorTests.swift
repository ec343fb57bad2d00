import Foundation
import MobileGenerator
import MobileModel
import TestSupport
import Testing

@Suite struct GeneratorTests {
    private func files(_ json: String) throws -> [String: String] {
        let files = PackageGenerator(try PackageModel(json: json), source: "shop.mbo.json").files
        return Dictionary(files.map { ($0.name, $0.text) }) { first, _ in first }
    }

    /// Generates Note.swift of the shop's model with another attribute in place of `text`.
    private func note(_ attribute: String) throws -> String {
        let json = try ShopModelText.json(replacing: "{\"name\": \"text\", \"type\": \"string\"}", with: attribute)
        return try #require(try files(json)["Note.swift"])
    }

    /// The classes that are in the repository, with the model of each folder. `make classes` writes them.
    private static let generated = [
        (model: "Sources/SampleCRM/crm.mbo.json", folder: "Sources/SampleCRM/Generated"),
        (model: "Sources/Samples/FirstApplication/Sources/Shop/records.mbo.json", folder: "Sources/Samples/Generated"),
        (model: "Benchmarks/Benchmarks/benchmark.mbo.json", folder: "Benchmarks/Benchmarks/Generated"),
    ]

    /// A change of the generator appears here as a difference, for review before it reaches every application.
    @Test("GEN-17 GEN-19: generated files are, to the byte, those that were looked at last", arguments: generated)
    func golden(model: String, folder: String) throws {
        let source = Repository.file(model)
        let files = PackageGenerator(try PackageModel(contentsOf: source), source: source.lastPathComponent).files
        for file in files {
            let kept = Repository.file("\(folder)/\(file.name)")
            #expect(
                file.text == (try String(contentsOf: kept, encoding: .utf8)), "\(folder)/\(file.name): run make classes, and look at the difference")
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: Repository.file(folder).path)
        #expect(Set(names) == Set(files.map(\.name)), "\(folder): run make classes")
    }

    @Test(
        "GEN-19: every public declaration of generated code has a documentation comment, with the model's words where it has some",
        arguments: ["Sources/SampleCRM/crm", "Tests/GeneratedCodeTests/awkward", "Tests/GeneratedCodeTests/remedy"])
    func documented(model: String) throws {
        let model = try PackageModel(contentsOf: Repository.file(model + ".mbo.json"))
        let files = PackageGenerator(model, source: "model.mbo.json").files
        var declarations = 0
        for file in files {
            let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.drop(while: { $0 == " " }).hasPrefix("public ") && !line.hasSuffix("import Foundation")
            {
                guard !line.contains("import MobileObjects") else { continue }
                declarations += 1
                let above = lines[..<index].last { !$0.drop { $0 == " " }.hasPrefix("@") }
                #expect(above?.contains("///") == true, "\(file.name): \(line)")
            }
        }
        #expect(declarations > 60)
        let text = files.map(\.text).joined()
        for object in model.objects {
            for documentation in [object.documentation] + object.attributes.map(\.documentation) + object.operations.map(\.documentation) {
                guard let first = documentation?.split(separator: "\n").first else { continue }
                #expect(text.contains("/// \(first)"), "\(object.name): \(first)")
            }
        }
    }

    @Test("GEN-17: the same model gives the same bytes, however it is written")
    func stable() throws {
        let model = try PackageModel(json: ShopModelText.json)
        let first = PackageGenerator(model, source: "shop.mbo.json").files
        #expect(PackageGenerator(model, source: "shop.mbo.json").files == first)
        #expect(PackageGenerator(try PackageModel(json: model.json), source: "shop.mbo.json").files == first)
    }

    @Test("GEN-11: the number of objects that are done is reported after each of them")
    func progress() throws {
        var reports: [[Int]] = []
        let files = PackageGenerator(try PackageModel(json: ShopModelText.json), source: "shop.mbo.json").makeFiles { reports.append([$0, $1]) }
        #expect(reports == [[1, 3], [2, 3], [3, 3]] && files.count == 7)
    }

    @Test("GEN-11: one file per object and structure, named after the class; the database class and the model have theirs")
    func names() throws {
        #expect(
            try Set(files(ShopModelText.json).keys) == [
                "Shop.swift", "Shop+Model.swift", "Shop+Personalization.swift", "Address.swift", "Customer.swift", "Order.swift", "Note.swift",
            ])
    }

    @Test("GEN-12 GEN-13: every class takes the prefix; the database class is also known by the package's name and DB")
    func prefix() throws {
        let files = try files(ShopModelText.json(replacing: "\"version\": \"2.1\"", with: "\"namePrefix\": \"ACME\""))
        #expect(files["ACMEShop.swift"]?.contains("public final class ACMEShop: PackageDatabase") == true)
        #expect(files["ACMEShop.swift"]?.contains("public typealias ACMEShopDB = ACMEShop\n") == true)
        #expect(files["ACMECustomer.swift"]?.contains("public var orders: Children<ACMEOrder> {") == true)
        #expect(files["ACMECustomer.swift"]?.contains("        var address: ACMEAddress? = nil\n") == true)
    }

    @Test("GEN-14 GEN-15: names with spaces, words that are keywords at some places and names of the runtime become names that compile")
    func awkwardNames() throws {
        let note = try note(
            """
            {"name": "unit price", "type": "int"}, {"name": "dynamic", "type": "int"}, {"name": "state", "type": "string"},
            {"name": "id", "type": "int"}, {"name": "a.b", "type": "string"}
            """)
        #expect(note.contains("set { stored.unitprice = newValue; attributeChanged(0) }") && note.contains("var unitprice: Int32 = 0\n"))
        #expect(note.contains("public let unitprice = Column<Note, Int32>(0, \"unit price\")"))
        #expect(
            note.contains("public var `dynamic`: Int32 {")
                && note.contains("            dynamic: row.readInteger(column + 1) ?? 0,"))
        #expect(note.contains("case 1: `dynamic` = try convert(value, ofAttribute: 1)"))
        #expect(note.contains("public var state_: String") && note.contains("public var id_: Int32") && note.contains("public var a_b: String"))
    }

    @Test("GEN-14: the objects of a class whose plural is a word of the language have that name, in backticks")
    func pluralKeyword() throws {
        let json = try ShopModelText.json(replacing: "\"name\": \"Note\"", with: "\"name\": \"Throw\"")
        #expect(try files(json)["Shop.swift"]?.contains("public var `throws`: EntitySet<Throw> { EntitySet(in: self) }") == true)
    }

    @Test(
        "every type of the model has its Swift type, its empty value and its way out of a row",
        arguments: [
            ("string", "String", "\"\"", "row.readString(column) ?? \"\""), ("char", "String", "\"\"", "row.readString(column) ?? \"\""),
            ("boolean", "Bool", "false", "row.readBoolean(column) ?? false"), ("binary", "[UInt8]", "[]", "row.readBinary(column) ?? []"),
            ("byte", "Int8", "0", "row.readInteger(column) ?? 0"),
            ("short", "Int16", "0", "row.readInteger(column) ?? 0"),
            ("int", "Int32", "0", "row.readInteger(column) ?? 0"), ("long", "Int64", "0", "row.readInteger(column) ?? 0"),
            ("integer", "Int64", "0", "row.readInteger(column) ?? 0"), ("decimal", "Decimal", "0", "row.readDecimal(column, scale: 2) ?? 0"),
            ("float", "Float", "0", "row.readFloat(column) ?? 0"), ("double", "Double", "0", "row.readReal(column) ?? 0"),
            ("date", "LocalDate", ".epoch", "row.readDate(column) ?? .epoch"),
            ("time", "LocalTime", ".midnight", "row.readTime(column) ?? .midnight"),
            ("dateTime", "Date", "Date(timeIntervalSince1970: 0)", "row.readDateTime(column) ?? Date(timeIntervalSince1970: 0)"),
            ("Address", "Address", "Address()", "row.readDecoded(column) ?? Address()"), ("int[]", "[Int32]", "[]", "row.readDecoded(column) ?? []"),
        ])
    func types(type: String, swift: String, empty: String, read: String) throws {
        let plain = try note("{\"name\": \"text\", \"type\": \"\(type)\"}")
        #expect(plain.contains("public var text: \(swift) {") && plain.contains("        var text: \(swift) = \(empty)\n"))
        #expect(plain.contains("            text: \(read))\n") || plain.contains("            text: \(read),\n"))
        #expect(try note("{\"name\": \"text\", \"type\": \"\(type)\", \"nullable\": true}").contains("        var text: \(swift)? = nil\n"))
    }

    @Test(
        "default values become expressions of their type",
        arguments: [
            ("string", "\"a\\\"\\n\\u0007\"", "\"a\\\"\\n\\u{7}\""),
            ("decimal", "12.50", "Decimal(sign: .plus, exponent: -2, significand: 1250)"), ("decimal", "-3", "-3"),
            ("decimal", "-0.05", "Decimal(sign: .minus, exponent: -2, significand: 5)"),
            ("date", "\"2025-12-31\"", "LocalDate(\"2025-12-31\") ?? .epoch"),
            ("dateTime", "\"1970-01-02T00:00:00.250Z\"", "Date(timeIntervalSince1970: 86400.25)"),
            ("dateTime", "\"0001-01-01T00:00:00.000Z\"", "Date(timeIntervalSince1970: -62135596800.0)"), ("binary", "\"AP8=\"", "[0, 255]"),
            ("int[]", "[1, 2]", "[1, 2]"), ("boolean", "true", "true"),
        ])
    func defaults(type: String, json: String, swift: String) throws {
        #expect(try note("{\"name\": \"text\", \"type\": \"\(type)\", \"default\": \(json)}").contains(" = \(swift)\n"))
    }

    @Test("FND-09: only a class whose model allows queries made at run time has findWithQuery and its relatives")
    func dynamicQueries() throws {
        #expect(try note("{\"name\": \"text\", \"type\": \"string\"}").contains("public final class Note: Entity, QueryableEntity, SavableEntity {"))
        let json = try ShopModelText.json(replacing: "\"name\": \"Note\"", with: "\"name\": \"Note\", \"dynamicQueries\": false")
        let text = try #require(try files(json)["Note.swift"])
        #expect(text.contains("public final class Note: Entity, ModelledEntity, SavableEntity {") && !text.contains("QueryableEntity"))
    }

    @Test("no end of a line in a text of the model ends its comment", arguments: ["\\n", "\\r\\n", "\\r", "\\u2028", "\\u0085", "\\u000b"])
    func endsOfLines(end: String) throws {
        let json = try ShopModelText.json(
            replacing: "\"name\": \"Note\"", with: "\"name\": \"Note\", \"documentation\": \"first\(end)let injected = 1\"")
        for (name, text) in try files(json) where !name.hasSuffix("+Model.swift") {
            for line in text.split(whereSeparator: \.isNewline) where line.contains("injected") {
                #expect(line.drop { $0 == " " }.hasPrefix("//"), "\(name): \(line)")
            }
        }
    }

    @Test func `the embedded model is the model, whatever its texts hold`() throws {
        let json = try ShopModelText.json(replacing: "\"version\": \"2.1\"", with: "\"documentation\": \"a \\\"\\\"\\\"# and \\\\#(x)\"")
        let text = try #require(try files(json)["Shop+Model.swift"])
        let start = try #require(text.range(of: "##\"\"\"\n")), end = try #require(text.range(of: "    \"\"\"##"))
        let embedded = text[start.upperBound..<end.lowerBound].split(separator: "\n").map { $0.dropFirst(8) }.joined(separator: "\n")
        #expect(try PackageModel(json: embedded) == PackageModel(json: json))
    }
}
