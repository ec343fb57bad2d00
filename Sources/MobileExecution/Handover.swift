internal import Synchronization

/// A value that goes from one isolation to another, once. It need not be `Sendable`: the giver has given it up.
package final class Handover<Value>: Sendable {
    private let value: Mutex<Value?>

    package init(_ value: consuming sending Value) { self.value = Mutex(value) }

    /// Takes the value; nil if it was taken before.
    package func take() -> sending Value? { value.withLock { $0.take() } }
}
