internal import Dispatch

/// Runs work that waits for files on a thread of its own: cooperative threads must never block.
package enum BlockingWork {
    package static func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
        }
    }
}
