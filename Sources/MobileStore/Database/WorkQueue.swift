private import Dispatch

/// Threads for work that blocks, so that none of Swift's cooperative threads does. Jobs run at the same time.
struct WorkQueue: Sendable {
    private let queue: DispatchQueue

    init(label: String) {
        queue = DispatchQueue(label: label, attributes: .concurrent)
    }

    func run(_ job: @escaping @Sendable () -> Void) { queue.async(execute: job) }

    /// Runs `job` after a span of time on the monotonic clock, unless what it returns is called before.
    func run(after span: Duration, _ job: @escaping @Sendable () -> Void) -> Timer {
        let item = DispatchWorkItem(block: job)
        let nanoseconds = Int(clamping: span.nanoseconds)
        queue.asyncAfter(deadline: .now() + .nanoseconds(nanoseconds), execute: item)
        return Timer(item)
    }

    /// A job that waits for its time.
    final class Timer: @unchecked Sendable {  // a work item may be cancelled on any thread
        private let item: DispatchWorkItem
        fileprivate init(_ item: DispatchWorkItem) { self.item = item }
        func cancel() { item.cancel() }
    }
}
