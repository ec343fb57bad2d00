internal import Dispatch

/// Works on items one after the other, on a thread of its own.
///
///     add --some wait--> thread --each item--> body
///
/// A failure ends the work: the remaining items are dropped, and ``add(_:)`` and ``finish()`` throw it.
package final class ItemWorker<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var isEnded = false
        var failure: (any Error)?
    }

    private let state = SystemLock(State())
    /// Rung for each item, and for the end.
    private let bell = DispatchSemaphore(value: 0)
    /// Rung for each place of an item.
    private let places = DispatchSemaphore(value: 0)
    private let isDone = DispatchSemaphore(value: 0)

    /// Starts the thread. Fails if the system cannot start one more.
    /// - Parameters:
    ///   - capacity: the number of items that wait, at least 1.
    ///   - makeBody: makes the work on an item; both run on the thread.
    package init?(capacity: Int, _ makeBody: @escaping @Sendable () -> (Item) throws -> Void) {
        for _ in 0..<max(1, capacity) { places.signal() }
        guard SystemThread.start({ [self] in work(makeBody()) }) else { return nil }
    }

    private func work(_ body: (Item) throws -> Void) {
        while true {
            bell.wait()
            let (item, hasFailed) = state.withLock { state in (state.items.isEmpty ? nil : state.items.removeFirst(), state.failure != nil) }
            guard let item else { break }
            places.signal()
            guard !hasFailed else { continue }
            do { try body(item) } catch { state.withLock { $0.failure = error } }
        }
        isDone.signal()
    }

    /// Adds an item. Waits while too many others do. One thread adds items, and finishes.
    /// - Throws: the failure of a former item.
    package func add(_ item: Item) throws {
        // After the end, the thread takes no items.
        let isEnded = state.withLock { $0.isEnded }
        if !isEnded {
            places.wait()
            state.withLock { $0.items.append(item) }
            bell.signal()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Drops the items that wait, and those that are added from now on: as after a failure, a `CancellationError`.
    package func cancel() { state.withLock { $0.failure = $0.failure ?? CancellationError() } }

    /// Waits until all items are done, and ends the thread. Afterwards, items are dropped.
    /// - Throws: the failure of an item.
    package func finish() throws {
        let isFirst = state.withLock { state in
            defer { state.isEnded = true }
            return !state.isEnded
        }
        if isFirst {
            bell.signal()
            isDone.wait()
        }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }
}
