import Foundation
import Testing

/// The public methods that applications call first have an example in their comments, and each of these examples is run by a test.
@Suite struct DocumentedMethodTests {
    private static let root = (0..<4).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }

    /// The types whose methods have examples, by their modules.
    private static let types: [(module: String, types: Set<String>)] = [
        ("MobileStore", ["Database"]),
        (
            "MobileObjects",
            [
                "Entity", "GenericEntity", "ModelledEntity", "SavableEntity", "EntityClass", "EntityList",
                "Query", "SelectItem", "JoinCondition", "AttributeSort",
                "QueryableEntity", "EntityQuery", "EntitySet", "EntityPredicate", "Column",
            ]
        ),
        ("MobileSync", ["Application", "ApplicationSettings"]),
    ]

    /// Methods that only the frameworks call, by a part of their declaration, where the comment does not say so itself.
    private static let internals = [
        "init(context: EntityContext)": "the frameworks make new objects with it; applications call `init(in:)`",
        "init(row: borrowing Row": "the frameworks make the object of a row with it",
        "init(arrayLiteral elements:": "array literals call it",
        "hash(into hasher:": "sets and dictionaries call it",
        "bigBinary(_ index: Int)": "the properties of generated classes call it",
        "bigString(_ index: Int)": "the properties of generated classes call it",
        "largeValue(ofAttribute index: Int)": "the streams of large attributes call it",
        "setLargeValue(_ value: LargeValue?, ofAttribute index: Int)": "the streams of large attributes call it",
    ]

    /// Read once for all tests.
    private static let sources = Result {
        (
            methods: try types.flatMap { try DocumentedMethod.all(of: $0.types, in: root.appending(path: "Sources/\($0.module)")) },
            running: try RunningExample.all(in: root.appending(path: "Tests"))
        )
    }

    private let methods: [DocumentedMethod]
    private let running: [RunningExample]

    init() throws { (methods, running) = try Self.sources.get() }

    @Test func `each public method has an example that a test runs`() {
        let shown = Set(methods.filter { !$0.examples.isEmpty || isInternal($0) }.map { "\($0.type).\($0.baseName)" })
        for method in methods where !isInternal(method) {
            if method.isTwin {
                #expect(shown.contains("\(method.type).\(method.baseName)"), "\(method.qualifiedName): nothing shows what it is the same as")
            } else {
                #expect(method.examples.count == 1, "\(method.qualifiedName): one example")
            }
            for example in method.examples {
                let runs = running.contains { $0.method == method.qualifiedName && $0.lines == example }
                #expect(runs, "\(method.qualifiedName): no test runs\n\(example.joined(separator: "\n"))")
            }
        }
    }

    @Test func `each example that a test runs is in the comment of its method`() {
        for example in running {
            let isShown = methods.contains { $0.qualifiedName == example.method && $0.examples.contains(example.lines) }
            #expect(isShown, "\(example.method): its comment does not show\n\(example.lines.joined(separator: "\n"))")
            #expect((2...5).contains(example.lines.count), "\(example.method): \(example.lines.count) lines, not two to five")
        }
    }

    @Test func `every type has methods, and every exception is one`() {
        for type in Self.types.flatMap(\.types) { #expect(methods.contains { $0.type == type && !$0.examples.isEmpty }, "\(type)") }
        for part in Self.internals.keys { #expect(methods.contains { $0.declaration.contains(part) }, "\(part)") }
    }

    private func isInternal(_ method: DocumentedMethod) -> Bool {
        method.isForGeneratedCode || Self.internals.keys.contains { method.declaration.contains($0) }
    }
}
