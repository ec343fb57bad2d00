import Foundation
import MobileGenerator
import MobileModel
import MobileServer

/// `mobile model`: a package model from the tables of a back end, or from a deployment unit.
enum ModelCommand {
    static let summary = "makes a package model from the tables of a database, or from a deployment unit"
    static let usage = """
        usage: mobile model --from PLACE [--name NAME] [--output FILE]

          --from PLACE    an SQLite file; a PostgreSQL database: postgresql://USER@HOST/DATABASE, whose password comes from PGPASSWORD or libpq's
                          password file; or a deployment unit (deployment_unit.xml, sup-db.xml)
          --name NAME     the name of the package, default Package; a deployment unit has its own
          --output FILE   the model file to write, such as sales.mbo.json; default: the standard output

        Each table with a primary key becomes an object that loads the whole table and can be created, changed and deleted; a foreign key becomes a
        relationship of both objects. Add synchronization parameters, groups and queries by hand. Parts that the model leaves out are listed on the
        standard error.
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
            Terminal.complain("\(error.message)\n\n\(usage)")
            return Command.usageStatus
        } catch {
            Terminal.complain("mobile model: \(Terminal.words(for: error))")
            return 1
        }
    }

    private static func options(_ arguments: [String]) throws(UsageError) -> [String: String] {
        var options: [String: String] = [:], rest = arguments[...]
        while let option = rest.popFirst() {
            guard ["--from", "--name", "--output"].contains(option), let value = rest.popFirst() else {
                throw UsageError(message: "model: \"\(option)\" is not an option with a value")
            }
            options[option] = value
        }
        guard options["--from"] != nil else { throw UsageError(message: "model: name a database or a deployment unit with --from") }
        return options
    }

    private static func write(_ options: [String: String]) throws {
        let place = options["--from"] ?? ""
        guard !place.hasSuffix(".xml") else { return try convert(place, options) }
        let schema = try SchemaModel(of: place, name: options["--name"] ?? "Package")
        for omission in schema.omissions { Terminal.complain("left out: \(omission)") }
        try write(schema.model, options)
        // The file is written all the same: a name that a model cannot have is changed there.
        try schema.model.validate()
    }

    private static func convert(_ unit: String, _ options: [String: String]) throws {
        guard options["--name"] == nil else { throw UsageError(message: "model: a deployment unit has a name of its own; omit --name") }
        let unit = try DeploymentUnit(contentsOf: URL(fileURLWithPath: unit))
        for remark in unit.remarks { Terminal.complain(remark.description) }
        try write(unit.model, options)
    }

    private static func write(_ model: PackageModel, _ options: [String: String]) throws {
        guard let output = options["--output"] else { return print(model.json) }
        try model.write(to: URL(fileURLWithPath: output))
        let relationships = model.objects.reduce(0) { $0 + $1.relationships.count }
        print("\(output): \(model.objects.count) objects, \(relationships) relationships. Next: mobile generate \(output)")
    }
}
