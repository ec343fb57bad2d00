import Foundation
import PackagePlugin

/// Generates the typed classes of each `*.mbo.json` file in a target, before the target is compiled.
///
/// A build command must declare its outputs before it runs, so the plugin reads the names of objects and structures itself. The generator
/// reads all other parts of the model and reports its errors.
@main struct MobileGenPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) async throws -> [Command] {
        guard let target = target as? any SourceModuleTarget else { return [] }
        let sources = Set(target.sourceFiles.filter { $0.type == .source }.map(\.url.lastPathComponent))
        return try target.sourceFiles.map(\.url).filter { $0.lastPathComponent.hasSuffix(".mbo.json") }.map { model in
            let directory = context.pluginWorkDirectoryURL.appending(path: model.lastPathComponent.replacing(".mbo.json", with: ""))
            let names = ModelNames(of: model).files
            for name in names where sources.contains(name) {
                Diagnostics.error("\(model.path): error: the generated \(name) has the name of a file in the target; rename that file")
            }
            return .buildCommand(
                displayName: "Generating classes from \(model.lastPathComponent)",
                executable: try context.tool(named: "mobilegen").url,
                arguments: [model.path, "--output", directory.path],
                inputFiles: [model],
                outputFiles: names.map { directory.appending(path: $0) })
        }
    }
}

/// The names of the files that the generator makes from a model.
struct ModelNames {
    let files: [String]

    /// For a model that cannot be read, the files are those of an empty package: the generator runs, fails and reports the reason.
    init(of url: URL) {
        let document = (try? JSONSerialization.jsonObject(with: Data(contentsOf: url))) as? [String: Any] ?? [:]
        let prefix = document["namePrefix"] as? String ?? ""
        let database = prefix + Self.swiftName(document["name"] as? String ?? "Package")
        let types = Self.names(document["structures"]) + Self.names(document["objects"])
        let personalization = Self.names(document["personalizationKeys"]).isEmpty ? [] : [database + "+Personalization"]
        files = ([database, database + "+Model"] + personalization + types.map { prefix + $0 }).map { $0 + ".swift" }
    }

    private static func names(_ list: Any?) -> [String] {
        (list as? [[String: Any]] ?? []).compactMap { $0["name"] as? String }.map(swiftName)
    }

    /// The generator's rule: white space is removed, `.` becomes `_`.
    private static func swiftName(_ modelled: String) -> String {
        modelled.filter { !$0.isWhitespace }.replacing(".", with: "_")
    }
}
