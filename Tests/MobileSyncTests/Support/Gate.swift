import Foundation

/// Holds threads until it is opened.
final class Gate: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var isOpen = false  // accessed only while the condition is locked

    func wait() {
        condition.lock()
        while !isOpen { condition.wait() }
        condition.unlock()
    }

    func open() {
        condition.lock()
        isOpen = true
        condition.broadcast()
        condition.unlock()
    }
}

/// A value that another thread sets.
final class Recorded<Value: Sendable>: Sendable {
    private let condition = NSCondition()
    private nonisolated(unsafe) var stored: Value?  // accessed only while the condition is locked

    var value: Value? {
        condition.lock()
        defer { condition.unlock() }
        return stored
    }

    func set(_ value: Value) {
        condition.lock()
        stored = value
        condition.unlock()
    }
}
