import Foundation
import MobileStore

/// Says what happens, step by step, and counts the time.
struct Narrator {
    private let start = ContinuousClock.now
    private var step = 0

    /// The headline of the next step.
    mutating func begin(_ title: String) {
        step += 1
        Terminal.say("\n" + Terminal.bold("\(step). \(title)"))
    }

    func say(_ text: String) { Terminal.say("   " + text) }

    func lines(_ lines: [String]) { for line in lines { Terminal.say("   " + line) } }

    /// A claim that is looked at on the spot.
    /// - Throws: ``DemoFailure`` when it does not hold.
    func check(_ claim: String, _ holds: Bool, _ found: @autoclosure () -> String = "") throws {
        guard holds else { throw DemoFailure(["this does not hold: \(claim)", found()].filter { !$0.isEmpty }.joined(separator: "; ")) }
        say("checked: \(claim)")
    }

    var elapsed: Duration { ContinuousClock.now - start }

    /// What a process occupies, where the system tells.
    static func memory(of process: Int32? = nil) -> String { ProcessMemory.resident(of: process).map { Format.bytes($0) } ?? "unknown" }
}
