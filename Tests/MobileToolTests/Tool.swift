import Foundation
import TestSupport

/// The tool that was built with the tests.
enum Tool {
    static let executable = Program.built("mobile")

    /// Runs the tool to its end.
    /// - Parameter input: its standard input; nil (default): no input.
    static func run(_ arguments: [String], input: Pipe? = nil) throws -> (status: Int32, output: String) {
        try Program.run(executable, arguments, input: input)
    }
}
