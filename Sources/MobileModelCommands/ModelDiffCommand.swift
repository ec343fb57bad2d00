import Foundation
import MobileModel

/// `mobile generate --diff OLD NEW`: reports the effects of an application's update on existing databases.
struct ModelDiffCommand {
    let output: GenerateCommand.Printer
    let errors: GenerateCommand.Printer

    /// - Parameter arguments: those of `mobile generate`, in this or another order: `--diff OLD.mbo.json NEW.mbo.json`.
    /// - Returns: the exit status: 0; 1 if a database of the old model cannot be opened with the new one, or if a file is not a model; 64 for
    ///   an error in the arguments.
    func run(_ arguments: [String]) -> Int32 {
        var rest = arguments
        guard let place = rest.firstIndex(of: "--diff"), place + 1 < rest.count else { return misuse("--diff: the file of the old model is missing") }
        let old = rest[place + 1]
        rest.removeSubrange(place...place + 1)
        if let option = ([old] + rest).first(where: { $0.hasPrefix("-") }) {
            return misuse("\(option): --diff takes two model files and no other option")
        }
        guard let new = rest.first, rest.count == 1 else { return misuse("--diff takes two model files, the old one and the new one") }
        do {
            let upgrade = ModelUpgrade(from: try PackageModel(earlier: URL(filePath: old)), to: try PackageModel(contentsOf: URL(filePath: new)))
            report(upgrade)
            return upgrade.isPossible ? 0 : 1
        } catch {
            for problem in error.problems { errors(problem.diagnostic) }
            return 1
        }
    }

    private func report(_ upgrade: ModelUpgrade) {
        for change in upgrade.changes {
            output(change.kind.words.padding(toLength: 11, withPad: " ", startingAt: 0) + " " + change.description)
        }
        let counts = ModelChange.Kind.allCases.compactMap { kind -> String? in
            let count = upgrade.changes.count { $0.kind == kind }
            return count == 0 ? nil : "\(count) \(kind.words)"
        }
        guard !counts.isEmpty else { return output("no difference: databases stay as they are") }
        output(
            counts.joined(separator: ", ") + ": databases of the old model "
                + (upgrade.isPossible ? "are upgraded when they are opened" : "cannot be opened with the new one"))
    }

    private func misuse(_ message: String) -> Int32 {
        errors(message + "\n\"mobile generate --help\" shows the options")
        return 64
    }
}

extension ModelChange.Kind {
    fileprivate var words: String {
        switch self {
        case .safe: "safe"
        case .migration: "migrates"
        case .losesData: "loses data"
        case .impossible: "impossible"
        }
    }
}
