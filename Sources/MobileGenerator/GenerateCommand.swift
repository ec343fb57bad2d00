import Foundation
import MobileModel

/// `mobile generate`: writes the classes of a model. Without a terminal of its own, so that tests can run it.
public struct GenerateCommand {
    /// What the command can do, for people.
    public static let usage = """
        usage: mobile generate MODEL.mbo.json [--output DIRECTORY] [--page-size BYTES] [--clean]
               mobile generate --schema

        Writes the typed Swift classes of a package model, one file per object.
          --output DIRECTORY  where to write; genfiles by default, made where it is not there
          --page-size BYTES   the page size of the length rules, in place of the model's: 1024, 2048, ... 65536
          --clean             removes the generated files of objects that the model no longer has
          --schema            prints the JSON Schema of model files, for editors

        Targets of a Swift package need no command: the plugin MobileGenPlugin generates while it builds.
        """

    /// Takes a line of what the command says.
    public typealias Printer = (String) -> Void
    private let listsFiles: Bool
    private let output: Printer
    private let errors: Printer

    /// - Parameter listsFiles: whether the command names each file with what happened to it. Default true.
    public init(listsFiles: Bool = true, output: @escaping Printer, errors: @escaping Printer) {
        (self.listsFiles, self.output, self.errors) = (listsFiles, output, errors)
    }

    /// What the arguments ask for.
    struct Options: Equatable {
        var model = ""
        var directory = "genfiles"
        var pageSize: Int?
        var removesOthers = false
    }

    /// Runs the command.
    /// - Returns: the exit status: 0; 1 where the model or the directory is at fault; 64 where the arguments are.
    public func run(_ arguments: [String]) -> Int32 {
        if arguments == ["--schema"] {
            output(PackageModel.schema)
            return 0
        }
        if arguments.contains("--help") {
            output(Self.usage)
            return 0
        }
        do {
            try generate(try Self.options(arguments))
            return 0
        } catch let error as UsageError {
            errors(error.message + "\n\n" + Self.usage)
            return 64
        } catch let error as ModelError {
            for problem in error.problems { errors(problem.diagnostic) }
            return 1
        } catch {
            errors("error: \(error.localizedDescription)")
            return 1
        }
    }

    struct UsageError: Error { let message: String }

    static func options(_ arguments: [String]) throws(UsageError) -> Options {
        var options = Options()
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--output":
                guard let directory = rest.popFirst() else { throw UsageError(message: "--output: a directory is missing") }
                options.directory = directory
            case "--page-size":
                let text = rest.popFirst() ?? ""
                guard let size = Int(text) else { throw UsageError(message: "--page-size \"\(text)\": expected a number of bytes") }
                options.pageSize = size
            case "--clean": options.removesOthers = true
            case _ where argument.hasPrefix("-"): throw UsageError(message: "\(argument): there is no such option")
            case _ where !options.model.isEmpty: throw UsageError(message: "\(argument): there is a model already, \(options.model)")
            default: options.model = argument
            }
        }
        guard !options.model.isEmpty else { throw UsageError(message: "a model file is missing") }
        return options
    }

    private func generate(_ options: Options) throws {
        let source = URL(filePath: options.model)
        let directory = URL(filePath: options.directory, directoryHint: .isDirectory)
        var warnings: [ModelProblem] = []
        let model = try PackageModel(contentsOf: source, pageSize: options.pageSize, warnings: &warnings)
        for warning in warnings { errors(warning.diagnostic) }
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let files = PackageGenerator(model, source: source.lastPathComponent).files
        for file in files { list(file.name, try file.write(to: directory) ? "written  " : "unchanged", directory) }
        if options.removesOthers {
            for name in try GeneratedFile.removeOthers(than: files, in: directory) { list(name, "removed  ", directory) }
        }
    }

    private func list(_ name: String, _ event: String, _ directory: URL) {
        if listsFiles { output("\(event) \(directory.relativePath)/\(name)") }
    }
}
