import Foundation
import MobileModelCommands
import MobileServer

/// `mobile generate`.
enum Generate {
    static let summary = "writes the Swift classes of a package model"

    /// - Parameter arguments: the arguments after `generate`.
    /// - Returns: the exit status.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        var bar = ProgressBar("generate")
        let command = GenerateCommand(
            checkBackEnds: { try PackageDeployment($0, backEnds: $2, directory: $1.relativePath).verify() },
            progress: { done, total in
                if done < total { bar.show(done, of: total, "of \(Format.count(total, "object"))") } else { _ = bar.finish() }
            },
            output: { print($0) }, errors: { Terminal.complain($0) })
        return command.run(arguments)
    }
}
