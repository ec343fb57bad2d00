import Foundation

/// The named sets of options that a project keeps for `mobile generate`, in the file `.mobile-generate.json` of its directory. A
/// configuration is copied by using it and saving it under another name. (SMP 2.3: the configurations of the code generation wizard.)
struct GenerationConfigurations: Codable, Equatable {
    /// The configuration that was used or saved last; `mobile generate` without arguments uses it again.
    var last: String?
    /// Options by name.
    var options: [String: GenerateOptions] = [:]

    static let fileName = ".mobile-generate.json"

    /// The names, for people.
    var names: String { options.isEmpty ? "no configurations" : options.keys.sorted().joined(separator: ", ") }

    init() {}

    /// Reads the configurations of the directory; none if it has no such file.
    /// - Throws: a decoding error if the file is damaged.
    init(in directory: URL) throws {
        let file = directory.appending(path: Self.fileName)
        guard FileManager.default.fileExists(atPath: file.path) else { return }
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: file))
    }

    /// Writes the configurations to the directory atomically.
    func write(to directory: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(self).write(to: directory.appending(path: Self.fileName), options: .atomic)
    }
}
