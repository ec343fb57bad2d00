import Foundation
import TestSupport
import Testing

/// The hooks of the runtime are for generated files alone, which import it with `@_spi(GeneratedCode)`.
@Suite struct HookTests {
    /// Calls of hooks, each as an application could write it, with the hook.
    private static let calls: [(hook: String, code: String)] = [
        ("attributeChanged", "customer.attributeChanged(0)"),
        ("convert", "let name: String = try customer.convert(.null, ofAttribute: 1); _ = name"),
        ("badValue", "throw customer.badValue(.null, 1)"),
        ("perform", "try customer.perform(operation: 0)"),
        ("bigString", "let notes: BigString = customer.bigString(13); _ = notes"),
        ("children", "let orders: Children<SalesOrder> = customer.children(0); _ = orders"),
        ("setChildren", "customer.setChildren(customer.orders, 0)"),
        ("setParent", "SalesOrder(in: crm).setParent(customer, 0)"),
        ("parentObject", "let parent: Customer? = try SalesOrder(in: crm).parentObject(0); _ = parent"),
        ("encoded", "_ = customer.encoded([1])"),
        ("decode", "let list: [Int] = try customer.decode(.null, ofAttribute: 1); _ = list"),
        ("init(generatedFrom:)", "_ = PackageMetadata(generatedFrom: \"\")"),
        ("init(_:_:)", "_ = Column<Customer, String>(1, \"name\")"),
        ("init(_:_:)", "_ = Relationship<Customer, SalesOrder>(0, \"orders\")"),
    ]

    private static func file(_ calls: [String], _ attribute: String = "") -> String {
        let functions = calls.enumerated().map { "func call\($0.offset)(_ customer: Customer, _ crm: CRM) throws {\n    \($0.element)\n}\n" }
        return "\(attribute)import MobileObjects\nimport MobileStore\n\n" + functions.joined()
    }

    @Test func `a call of a hook does not compile in a file of an application, and does in one that imports as generated files do`() throws {
        let code = try OutsideCode(), calls = Self.calls.map(\.code)
        #expect(try code.check(Self.file(calls, "@_spi(GeneratedCode) "), as: "Hooks.swift") == "")
        let messages = try code.check(Self.file(calls), as: "Hooks.swift")
        // Every call is in the second line of its function; the first function begins in line 4.
        for (position, call) in Self.calls.enumerated() {
            let place = "Hooks.swift:\(position * 3 + 5):"
            #expect(messages.contains { $0.isNewline } && messages.contains(place), "\(call.hook) is not refused:\n\(messages.prefix(4000))")
        }
        #expect(messages.contains("inaccessible due to '@_spi' protection level"))
    }

    @Test func `what applications call compiles without it`() throws {
        let calls = [
            "let orders: Children<SalesOrder> = try customer.children(\"orders\"); _ = orders", "_ = try customer.value(\"name\")",
            "try customer.setValue(\"Quay Books\", \"name\")", "_ = try Customer.findByCity(city: \"Cork\", in: crm)",
            "_ = try customer.bigString(\"notes\")", "_ = customer.value(ofAttribute: 1)",
        ]
        #expect(try OutsideCode().check(Self.file(calls), as: "Calls.swift") == "")
    }

    /// A package outside of the checkout compiles everything once more: `make outside-package` runs the test.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["OUTSIDE_PACKAGE"] != nil, "make outside-package builds a package of an application"))
    func `a package outside of the checkout is generated, compiled and run, and does not see the hooks`() throws {
        let folder = try TemporaryDirectory(), sources = folder.url.appending(path: "Sources/Outside")
        try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
        let manifest = """
            // swift-tools-version: 6.2
            import PackageDescription

            let package = Package(
                name: "Outside", platforms: [.macOS(.v26)],
                dependencies: [.package(name: "MobileObjects", path: "\(Repository.file("").path)")],
                targets: [
                    .executableTarget(
                        name: "Outside",
                        dependencies: [
                            .product(name: "MobileObjects", package: "MobileObjects"), .product(name: "MobileStore", package: "MobileObjects"),
                        ],
                        plugins: [.plugin(name: "MobileGenPlugin", package: "MobileObjects")])
                ])
            """
        try manifest.write(toFile: folder.file("Package.swift"), atomically: true, encoding: .utf8)
        try FileManager.default.copyItem(at: Repository.file("Sources/SampleCRM/crm.mbo.json"), to: sources.appending(path: "crm.mbo.json"))
        let main = """
            import MobileObjects
            import MobileStore

            @main struct Outside {
                static func main() async throws {
                    let crm = try await CRM.open(ConnectionProfile(path: CommandLine.arguments[1]))
                    let customer = Customer(in: crm, name: "Quay Books", street: "Quay 1", city: "Cork", since: .epoch)
                    try await customer.save()
                    print(try await Customer.where(\\.city == "Cork").find(in: crm).map(\\.name))
                }
            }
            """
        let file = sources.appending(path: "Outside.swift")
        try main.write(to: file, atomically: true, encoding: .utf8)
        func build() throws -> (status: Int32, output: String) {
            try Program.run(URL(filePath: "/usr/bin/env"), ["swift", "build", "--package-path", folder.path]) {
                $0.environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("SWIFT_TESTING") }
            }
        }
        let built = try build()
        try #require(built.status == 0, "\(built.output.suffix(4000))")
        let ran = try Program.run(folder.url.appending(path: ".build/debug/Outside"), [folder.file("crm.db")])
        #expect(ran.status == 0 && ran.output == "[\"Quay Books\"]\n", "\(ran.output)")

        try (main + "\nfunc hook(_ customer: Customer) throws { try customer.perform(operation: 0) }\n").write(to: file, atomically: true, encoding: .utf8)
        let refused = try build()
        #expect(
            refused.status != 0 && refused.output.contains("'perform' is inaccessible due to '@_spi' protection level"),
            "\(refused.output.suffix(4000))")
    }
}
