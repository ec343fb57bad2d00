import MobileModel

/// Writes the database class of a package.
struct DatabaseEmitter: Emitter {
    private let model: PackageModel
    private let name: String
    let imports = ["MobileObjects"]

    init(_ model: PackageModel) {
        self.model = model
        name = SwiftNames.type(model.name, prefix: model.namePrefix)
    }

    func emit(to text: inout SwiftText) {
        let classes = model.objects.map { SwiftNames.type($0.name, prefix: model.namePrefix) }
        text.documentation(SwiftText.sentence(model.documentation ?? "The package \(model.name)"))
        text.documentation(
            "\nThe local database of package \(model.name), version \(model.version), with the objects \(classes.joined(separator: ", ")).")
        // The runtime's class is `@unchecked Sendable`, which a subclass must repeat.
        text.block("public final class \(name): PackageDatabase, @unchecked Sendable") { text in
            text.documentation("The metadata of the package at run time, made from the model once.")
            text.line("public static let metadata = PackageMetadata(generatedFrom: modelJSON)")
            text.line()
            let operations = model.operationObjects.map { SwiftNames.type($0.name, prefix: model.namePrefix) }
            text.documentation(
                "The generated class of each object, in the order of the model\(operations.isEmpty ? "" : ", then those of operations").")
            text.line("public override class var entityClasses: [Entity.Type] {")
            text.line("    [\((classes + operations).map { "\($0).self" }.joined(separator: ", "))]")
            text.line("}")
            text.line()
            text.documentation(
                """
                Opens the local database, creates it if there is none, and upgrades the tables of an older release.
                - Parameters:
                  - profile: path and settings of the database file.
                  - environment: the sources of time and randomness; the real ones by default.
                - Throws: ``ObjectError``, as ``PackageDatabase/openConnection()``.
                """)
            text.blockingForm()
            text.block("public static func open(_ profile: ConnectionProfile, environment: Environment = Environment()) throws -> \(name)") { text in
                text.line("let database = \(name)(metadata: metadata, profile: profile, environment: environment)")
                text.line("try database.openConnection()")
                text.line("return database")
            }
            text.line()
            text.documentation("The same, in asynchronous code.")
            text.block("public static func open(_ profile: ConnectionProfile, environment: Environment = Environment()) async throws -> \(name)") {
                text in
                text.line("let database = \(name)(metadata: metadata, profile: profile, environment: environment)")
                text.line("try await database.openConnection()")
                text.line("return database")
            }
        }
        emitCollections(to: &text)
        text.line()
        text.documentation("The database class under the name that the original generator gave it: the package's name and `DB`.")
        text.line("public typealias \(name)DB = \(name)")
    }

    /// Writes the objects of each class as properties. Without queries made at run time a class has none.
    private func emitCollections(to text: inout SwiftText) {
        let collections = zip(model.objects, SwiftNames.collections(model.objects.map(\.name))).filter { $0.0.allowsDynamicQueries }
        guard !collections.isEmpty else { return }
        text.line()
        text.block("extension \(name)") { text in
            for (position, (object, collection)) in collections.enumerated() {
                if position > 0 { text.line() }
                let type = SwiftNames.type(object.name, prefix: model.namePrefix)
                text.documentation("The objects of class ``\(type)`` in this database, for queries.")
                text.line("public var \(SwiftNames.inCode(collection)): EntitySet<\(type)> { EntitySet(in: self) }")
            }
        }
    }
}

/// Writes the model into the program, so that no file is needed at run time.
struct ModelEmitter: Emitter {
    private let model: PackageModel
    let imports: [String] = []

    init(_ model: PackageModel) { self.model = model }

    func emit(to text: inout SwiftText) {
        let json = model.json
        // Enough number signs that the text neither ends the literal early nor interpolates.
        var marks = "#"
        while json.contains("\"" + marks) || json.contains("\\" + marks) { marks += "#" }
        text.block("extension \(SwiftNames.type(model.name, prefix: model.namePrefix))") { text in
            text.documentation("The package's model after the length rules, as canonical JSON.")
            text.line("static let modelJSON = \(marks)\"\"\"")
            for line in json.split(separator: "\n") { text.line("    \(line)") }
            text.line("    \"\"\"\(marks)")
        }
    }
}
