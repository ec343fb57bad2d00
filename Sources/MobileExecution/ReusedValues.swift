/// Values whose memory is worth keeping, such as arrays of many bytes, for threads that hand them to each other. Memory that is freed and taken again costs as
/// much as what is written to it.
///
///     take --> fill --> other thread: use, empty --> give back
package final class ReusedValues<Value: Sendable>: Sendable {
    private let spares = SystemLock<[SystemLock<Value>]>([])
    private let make: @Sendable () -> Value

    /// - Parameter make: makes one more value.
    package init(_ make: @escaping @Sendable () -> Value) { self.make = make }

    /// Returns a value that no one uses: one that was given back, as it was then, or a new one.
    package func take() -> SystemLock<Value> { spares.withLock { $0.popLast() } ?? SystemLock(make()) }

    /// Gives a value back.
    package func giveBack(_ value: SystemLock<Value>) { spares.withLock { $0.append(value) } }
}
