import Foundation
import MobileModelCommands
import MobileModel
import MobileServer

/// `mobile model`: a package model from the tables of a back end, or from a deployment unit.
enum ModelCommand {
    static let summary = "makes a package model from the tables of a database, or from a deployment unit"
    static let usage = """
        usage: mobile model --from PLACE [--name NAME] [--schema NAME]... [--output FILE [--force]]

          --from PLACE    an SQLite file; a PostgreSQL database: postgresql://USER@HOST/DATABASE, whose password comes from PGPASSWORD or libpq's
                          password file; or a deployment unit (deployment_unit.xml, sup-db.xml)
          --name NAME     the name of the package, default Package; a deployment unit has its own
          --schema NAME   a schema of a PostgreSQL database to read, also several times; default: the schemas of the search path
          --output FILE   the model file to write, such as sales.mbo.json; default: the standard output
          --force         overwrites the file

        Each table with a primary key becomes an object that loads the whole table and can be created, changed and deleted; a foreign key becomes a
        relationship of both objects. Add synchronization parameters, groups and queries by hand. Parts that the model leaves out, and columns whose
        rows need another type than the declared one, are listed on the standard error.
        """

    /// - Parameter arguments: the arguments after `model`.
    /// - Returns: the exit status: 0 success, 1 failure, 64 wrong arguments.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        if arguments.contains("--help") || arguments.contains("-h") {
            print(usage)
            return 0
        }
        do {
            try write(options(arguments))
            return 0
        } catch let error as UsageError {
            Terminal.refuse(error, of: "model")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile model: \(Terminal.words(for: error))")
            return 1
        }
    }

    private struct Options {
        var place = ""
        var name: String?
        var schemas: [String] = []
        var output: String?
        var isForced = false
    }

    private static func options(_ arguments: [String]) throws(UsageError) -> Options {
        var options = Options(), rest = arguments[...]
        while let option = rest.popFirst() {
            if option == "--force" {
                options.isForced = true
                continue
            }
            guard ["--from", "--name", "--schema", "--output"].contains(option), let value = rest.popFirst() else {
                throw UsageError(message: "model: \"\(option)\" is not an option with a value")
            }
            switch option {
            case "--from": options.place = value
            case "--name": options.name = value
            case "--schema": options.schemas.append(value)
            default: options.output = value
            }
        }
        guard !options.place.isEmpty else { throw UsageError(message: "model: name a database or a deployment unit with --from") }
        guard options.schemas.isEmpty || PostgreSQLPlace.isAddress(options.place) else {
            throw UsageError(message: "model: only a PostgreSQL database has schemas; omit --schema")
        }
        return options
    }

    /// A model that is not written.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private static func write(_ options: Options) throws {
        if let output = options.output, !options.isForced, FileManager.default.fileExists(atPath: output) {
            throw Refusal(
                description: "\(output): there is a file of this name, which may have been edited; name another one, or overwrite it with --force")
        }
        guard !options.place.hasSuffix(".xml") else { return try convert(options.place, options) }
        let schema = try SchemaModel(of: options.place, name: options.name ?? "Package", schemas: options.schemas)
        for omission in schema.omissions { Terminal.complain("left out: \(omission)") }
        for remark in schema.remarks { Terminal.complain("note: \(remark)") }
        guard !schema.model.objects.isEmpty else {
            throw Refusal(description: "\(options.place): there is no table with a primary key, so there is nothing for a model")
        }
        try schema.model.validate()
        try write(schema.model, options)
    }

    private static func convert(_ unit: String, _ options: Options) throws {
        guard options.name == nil else { throw UsageError(message: "model: a deployment unit has a name of its own; omit --name") }
        let unit = try DeploymentUnit(contentsOf: URL(fileURLWithPath: unit))
        for remark in unit.remarks { Terminal.complain(remark.description) }
        try write(unit.model, options)
    }

    private static func write(_ model: PackageModel, _ options: Options) throws {
        guard let output = options.output else { return print(model.json) }
        try model.write(to: URL(fileURLWithPath: output))
        let relationships = model.objects.reduce(0) { $0 + $1.relationships.count }
        print(
            "\(output): \(model.objects.count) objects, \(relationships) relationships. Next: put it into a target with MobileGenPlugin, or run mobile generate \(output)"
        )
    }
}
