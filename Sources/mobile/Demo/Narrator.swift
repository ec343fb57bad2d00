import Foundation
import MobileStore

/// Reports the demonstration step by step, and measures the time.
struct Narrator {
    private let start = ContinuousClock.now
    private var step = 0

    /// Prints the headline of the next step.
    mutating func begin(_ title: String) {
        step += 1
        Terminal.say("\n" + Terminal.bold("\(step). \(title)"))
    }

    func say(_ text: String) { Terminal.say("   " + text) }

    func lines(_ lines: [String]) { for line in lines { Terminal.say("   " + line) } }

    /// Prints a claim that has been checked.
    /// - Throws: ``DemoFailure`` if it does not hold.
    func check(_ claim: String, _ holds: Bool, _ found: @autoclosure () -> String = "") throws {
        guard holds else { throw DemoFailure(["this does not hold: \(claim)", found()].filter { !$0.isEmpty }.joined(separator: "; ")) }
        say("checked: \(claim)")
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// The memory that a process occupies, if the system reports it.
    static func memory(of process: Int32? = nil) -> String { ProcessMemory.resident(of: process).map { Format.bytes($0) } ?? "unknown" }
}
