import Foundation
import MobileExecution

/// One end of the protocol.
protocol Role {
    /// Performs a command, and returns its answer.
    func perform(_ words: [String]) throws -> String
}

/// A command that a role does not know.
struct UnknownCommand: Error { let words: [String] }

/// The place at which a process is to be killed.
final class Killer: Sendable {
    private struct Order {
        var stage: String, passages: Int, process: pid_t
    }
    private let order = SystemLock<Order?>(nil)

    /// Sets or, for an unknown stage, removes the place: `die STAGE NUMBER PROCESS`.
    func set(_ words: [String]) {
        order.withLock { $0 = Order(stage: words[1], passages: Int(words[2]) ?? 1, process: pid_t(words[3]) ?? 0) }
    }

    /// Passes a stage.
    func pass(_ stage: String) {
        let victim = order.withLock { order -> pid_t? in
            guard order?.stage == stage else { return nil }
            order?.passages -= 1
            guard order?.passages == 0 else { return nil }
            defer { order = nil }
            return order?.process
        }
        if let victim { kill(victim == 0 ? getpid() : victim, SIGKILL) }
    }
}
