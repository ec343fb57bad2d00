public import Foundation
import MobileGenerator
public import MobileModel

/// `mobile generate`: writes the classes of a model. Independent of a terminal, so that tests can run it.
public struct GenerateCommand {
    /// The usage of the command, for people.
    public static let usage = """
        usage: mobile generate MODEL.mbo.json [--output DIRECTORY] [--page-size BYTES] [--clean] [--objects NAME,...] [--group NAME,...]
                               [--check-back-ends [--backend NAME=PLACE ...]] [--save NAME]
               mobile generate [--configuration NAME] [options as above]
               mobile generate --diff OLD.mbo.json NEW.mbo.json
               mobile generate --schema

        Writes the typed Swift classes of a package model, one file per object.
          --output DIRECTORY    where to write; genfiles by default, created if missing
          --page-size BYTES     the page size of the length rules, in place of the model's: 1024, 2048, ... 65536
          --clean               removes the generated files of objects that are no longer generated
          --objects NAME,...    only these objects, and those that their relationships and queries lead to
          --group NAME,...      the objects of these synchronization groups, and those that they lead to
          --check-back-ends     opens the back ends first; their tables, columns and statements must match the model
          --backend NAME=PLACE  the SQLite file or the address (postgresql://USER@HOST/DATABASE) of a back end, over the path in the model
          --save NAME           keeps the options as a configuration in .mobile-generate.json of the working directory
          --configuration NAME  begins with the options of a configuration; without any argument, with those of the last one
          --diff OLD NEW        reports the changes to databases of an older model when the newer one opens them, and the changes
                                with a loss of data; exit status 1 if the databases cannot be opened
          --schema              prints the JSON Schema of model files, for editors

        Targets of a Swift package need no command: the plugin MobileGenPlugin generates while it builds.
        """

    /// Takes a line of the command's output.
    public typealias Printer = (String) -> Void
    /// Compares a model with its back ends. The URL is the directory that the model's paths are relative to, the dictionary has the places of back
    /// ends that replace those in the model, by their names. Throws an error for a mismatch.
    public typealias BackEndCheck = (PackageModel, URL, [String: String]) throws -> Void

    /// Takes the number of objects whose classes are made, and that of all.
    public typealias ProgressReport = (Int, Int) -> Void

    private let directory: URL
    private let checkBackEnds: BackEndCheck?
    private let progress: ProgressReport
    private let output: Printer
    private let errors: Printer

    /// - Parameters:
    ///   - directory: the directory of the configurations. Default: the working directory.
    ///   - checkBackEnds: runs for `--check-back-ends`; without it the option is refused.
    ///   - progress: called after each object; default: nothing.
    ///   - output: takes the lines about the command's actions.
    ///   - errors: takes warnings and errors.
    public init(
        directory: URL = URL(filePath: ".", directoryHint: .isDirectory), checkBackEnds: BackEndCheck? = nil,
        progress: @escaping ProgressReport = { _, _ in }, output: @escaping Printer, errors: @escaping Printer
    ) {
        (self.directory, self.checkBackEnds, self.progress) = (directory, checkBackEnds, progress)
        (self.output, self.errors) = (output, errors)
    }

    /// Runs the command.
    /// - Returns: the exit status: 0; 1 for an error in the model or a directory; 64 for an error in the arguments.
    public func run(_ arguments: [String]) -> Int32 {
        if arguments == ["--schema"] {
            output(PackageModel.schema)
            return 0
        }
        if arguments.contains("--help") {
            output(Self.usage)
            return 0
        }
        if arguments.contains("--diff") { return ModelDiffCommand(output: output, errors: errors).run(arguments) }
        do {
            var configurations = try GenerationConfigurations(in: directory)
            let call = try GenerateArguments(arguments, configurations: configurations)
            try generate(call.options)
            guard let name = call.savedName ?? call.configuration else { return 0 }
            configurations.last = name
            if call.savedName != nil { configurations.options[name] = call.options }
            try configurations.write(to: directory)
            return 0
        } catch let error as GenerateArguments.Failure {
            errors(error.message + "\n\"mobile generate --help\" shows the options")
            return 64
        } catch {
            for line in PackageGenerator.diagnostics(of: error) { errors(line) }
            return 1
        }
    }

    private func generate(_ options: GenerateOptions) throws {
        let source = URL(filePath: options.model)
        let directory = URL(filePath: options.directory, directoryHint: .isDirectory)
        var warnings: [ModelProblem] = []
        var model = try PackageModel(contentsOf: source, pageSize: options.pageSize, warnings: &warnings)
        for warning in warnings { errors(warning.diagnostic) }
        if !options.objects.isEmpty || !options.groups.isEmpty {
            model = try model.selecting(objects: options.objects, groups: options.groups)
        }
        let generator = PackageGenerator(model, source: source.lastPathComponent)
        try generator.requireObjects()
        if options.checksBackEnds {
            guard let checkBackEnds else { throw GenerateArguments.Failure(message: "--check-back-ends: this tool opens no back ends") }
            try checkBackEnds(model, source.deletingLastPathComponent(), options.backEnds ?? [:])
        }
        let files = try generator.write(to: directory, progress: progress)
        for (file, isWritten) in files { list(file.name, isWritten ? "written  " : "unchanged", directory) }
        if options.removesOthers {
            for name in try GeneratedFile.removeOthers(than: files.map(\.file), in: directory) { list(name, "removed  ", directory) }
        }
    }

    private func list(_ name: String, _ event: String, _ directory: URL) {
        output("\(event) \(directory.relativePath)/\(name)")
    }
}
