import Foundation
import MobileGenerator

/// `mobile generate`.
enum Generate {
    static let summary = "writes the Swift classes of a package model"

    /// - Parameter arguments: what stands behind `generate`.
    /// - Returns: the exit status.
    @Sendable static func run(_ arguments: [String]) -> Int32 {
        GenerateCommand(output: { print($0) }, errors: { FileHandle.standardError.write(Data(($0 + "\n").utf8)) }).run(arguments)
    }
}
