import Foundation
import MobileModel
import TestSupport
import Testing

@testable import MobileModelCommands

/// The choice of the generated parts of a model, and the configurations that keep it.
@Suite final class GenerationChoiceTests {
    let directory: TemporaryDirectory
    var output: [String] = []
    var errors: [String] = []

    init() throws {
        directory = try TemporaryDirectory()
        try ShopModelText.json.write(to: directory.url.appending(path: "shop.mbo.json"), atomically: true, encoding: .utf8)
    }

    private var model: String { directory.file("shop.mbo.json") }
    private func folder(_ name: String) -> String { directory.file(name) }

    private func run(_ arguments: String..., check: GenerateCommand.BackEndCheck? = nil) -> Int32 {
        (output, errors) = ([], [])
        return GenerateCommand(
            directory: directory.url, checkBackEnds: check, output: { self.output.append($0) }, errors: { self.errors.append($0) }
        ).run(arguments)
    }

    private func files(_ name: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder(name))) ?? [])
    }

    @Test("GEN-03: objects that a chosen one leads to are generated with it, and go when it is no longer chosen")
    func dependents() throws {
        #expect(run(model, "--output", folder("out"), "--objects", "Order,Note") == 0)
        #expect(files("out").isSuperset(of: ["Order.swift", "Customer.swift", "Note.swift", "Address.swift"]))
        #expect(run(model, "--output", folder("out"), "--objects", "Note", "--clean") == 0)
        #expect(files("out") == ["Note.swift", "Shop.swift", "Shop+Model.swift", "Shop+Personalization.swift"])
    }

    @Test("GEN-03: an object that only a query of the chosen one names comes with it")
    func queriedObjects() throws {
        let text = try ShopModelText.json(
            replacing: #"{"name": "customer", "target": "Customer", "cardinality": "manyToOne", "inverse": "orders"}"#, with: "")
        let whole = try PackageModel(
            json: text.replacingOccurrences(
                of:
                    #"{"name": "orders", "target": "Order", "cardinality": "oneToMany", "composite": true, "inverse": "customer", "mapping": {"id": "customerId"}}"#,
                with: ""))
        #expect(try whole.selecting(objects: ["Order"]).objects.map(\.name) == ["Order"])
        #expect(try whole.selecting(objects: ["Customer"]).objects.map(\.name) == ["Customer", "Order"])
        #expect(try whole.selecting(objects: ["Order"]).structures.isEmpty)
    }

    @Test("GEN-01: a whole synchronization group can be chosen in place of objects")
    func groups() throws {
        let whole = try PackageModel(json: ShopModelText.json)
        #expect(try whole.selecting(objects: [], groups: ["orders"]).objects.map(\.name) == ["Customer", "Order"])
        #expect(run(model, "--output", folder("out"), "--group", "orders") == 0)
        #expect(files("out").contains("Order.swift") && !files("out").contains("Note.swift"))
        #expect(run(model, "--group", "order") == 1)
        #expect(errors.contains { $0.contains("there is no synchronization group \"order\"; did you mean \"orders\"?") })
        #expect(run(model, "--objects", "Oder") == 1)
        #expect(errors.contains { $0.contains("there is no object \"Oder\"; did you mean \"Order\"?") })
    }

    @Test("GEN-01: a configuration keeps model, choice, page size and destination under a name; the last one is used again")
    func configurations() throws {
        #expect(run(model, "--output", folder("field"), "--objects", "Note", "--page-size", "8192", "--save", "field") == 0)
        #expect(run(model, "--output", folder("all"), "--clean", "--save", "all") == 0)
        #expect(run("--configuration", "field") == 0)
        #expect(output.allSatisfy { $0.hasPrefix("unchanged") } && output.contains { $0.hasSuffix("field/Note.swift") })
        try FileManager.default.removeItem(atPath: folder("field"))
        #expect(run() == 0)
        #expect(files("field").contains("Note.swift") && !files("field").contains("Order.swift"))
        let kept = try GenerationConfigurations(in: directory.url)
        #expect(kept.last == "field" && kept.options["field"]?.pageSize == 8192 && kept.options["all"]?.removesOthers == true)
    }

    @Test("GEN-01: a configuration is copied by saving it under another name, with what is different")
    func copies() throws {
        #expect(run(model, "--output", folder("field"), "--objects", "Note", "--save", "field") == 0)
        #expect(run("--configuration", "field", "--output", folder("office"), "--objects", "Order", "--save", "office") == 0)
        let kept = try GenerationConfigurations(in: directory.url)
        #expect(kept.options["field"]?.objects == ["Note"] && kept.options["office"]?.objects == ["Order"] && kept.last == "office")
        #expect(kept.options["office"]?.model == model)
        #expect(run("--configuration", "home") == 64)
        #expect(errors.first?.hasPrefix("--configuration home: there is none; there are field, office") == true)
    }

    @Test("GEN-01: a command that fails keeps no configuration")
    func failureKeepsNothing() throws {
        #expect(run(model, "--objects", "Nobody", "--save", "broken") == 1)
        #expect(try GenerationConfigurations(in: directory.url) == GenerationConfigurations())
        try Data("{".utf8).write(to: directory.url.appending(path: GenerationConfigurations.fileName))
        #expect(run(model, "--output", folder("out")) == 1)
        #expect(files("out").isEmpty)
    }

    @Test("GEN-02: a model needs an object; with --check-back-ends it must also fit to its data sources before anything is written")
    func preconditions() throws {
        struct Unreachable: Error, CustomStringConvertible { let description = "erp cannot be opened" }
        #expect(run(model, "--output", folder("out"), "--check-back-ends", check: { _, _, _ in throw Unreachable() }) == 1)
        #expect(errors == ["error: erp cannot be opened"] && files("out").isEmpty)
        var seen: [String] = []
        #expect(run(model, "--output", folder("out"), "--check-back-ends", check: { seen = [$0.name, $1.lastPathComponent] + $2.keys }) == 0)
        #expect(seen == ["Shop", directory.url.lastPathComponent] && !files("out").isEmpty)
        #expect(
            run(
                model, "--output", folder("out"), "--check-back-ends", "--backend", "erp=other.db",
                check: { seen = ["\($2)"] + [$0.name, $1.path].prefix(0) }) == 0)
        #expect(seen == [#"["erp": "other.db"]"#])
        #expect(run(model, "--output", folder("out"), "--check-back-ends", "--backend", "erp", check: { _, _, _ in }) == 64)
        #expect(run(model, "--output", folder("out"), "--backend", "erp=other.db", check: { _, _, _ in }) == 64)
        #expect(run(model, "--output", folder("out"), "--check-back-ends") == 64)
        try #"{"format": 1, "name": "Empty", "objects": []}"#.write(
            to: directory.url.appending(path: "empty.mbo.json"), atomically: true, encoding: .utf8)
        #expect(run(directory.file("empty.mbo.json"), "--output", folder("none")) == 1)
        #expect(files("none").isEmpty)
    }
}
