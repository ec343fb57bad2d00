import MobileExecution

/// Something that happens once, awaited by any number of threads and tasks.
final class Signal: Sendable {
    private let promise = Promise<Bool, any Error>()

    func fire() { promise.resolve(.success(true)) }
    /// Waits without a thread.
    func happened() async { _ = try? await promise.value }
    /// Blocks the calling thread.
    func block() { _ = try? promise.wait() }
}
