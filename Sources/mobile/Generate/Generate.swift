import Foundation
import MobileGenerator
import MobileServer

/// `mobile generate`.
enum Generate {
    static let summary = "writes the Swift classes of a package model"

    /// - Parameter arguments: the arguments after `generate`.
    /// - Returns: the exit status.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        let command = GenerateCommand(
            checkBackEnds: { try PackageDeployment($0, backEnds: $2, directory: $1.relativePath).verify() }, output: { print($0) },
            errors: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) })
        return command.run(arguments)
    }
}
