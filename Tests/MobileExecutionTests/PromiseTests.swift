import Dispatch
import MobileExecution
import TestSupport
import Testing

/// A result that is given once, and reaches every kind of waiting caller.
@Suite struct PromiseTests {
    private struct Refused: Error, Equatable {
        let reason: String
    }

    @Test("threads, tasks and observers get the result, those that come before it and those that come after")
    func everybody() async throws {
        let promise = Promise<Int, Refused>(), observed = SystemLock<[Int]>([])
        promise.observe { result in observed.withLock { $0.append((try? result.get()) ?? -1) } }
        async let onThread = BlockingWork.run { try promise.wait() }
        async let inTime = BlockingWork.run { try promise.wait(timeout: .seconds(60)) }
        async let inTask = promise.value
        #expect(promise.result == nil)
        promise.resolve(.success(7))
        #expect(try await onThread == 7)
        #expect(try await inTime == 7)
        #expect(try await inTask == 7)
        promise.observe { result in observed.withLock { $0.append((try? result.get()) ?? -1) } }
        #expect(observed.withLock { $0 } == [7, 7])
        #expect(try await promise.value == 7)
    }

    @Test("a failure is thrown as it is, and what comes after the first result is ignored")
    func failure() async {
        let promise = Promise<Int, Refused>()
        promise.resolve(.failure(Refused(reason: "first")))
        promise.resolve(.success(1))
        let onThread = #expect(throws: Refused.self) { try promise.wait(timeout: .zero) }
        #expect(onThread?.reason == "first")
        let inTask = await #expect(throws: Refused.self) { try await promise.value }
        #expect(inTask?.reason == "first")
    }

    @Test(
        "the longest wait that a duration can name ends with the result",
        arguments: [Duration.seconds(Int64.max), .seconds(1 << 40), .seconds(-1 << 40)])
    func extremeTimeout(timeout: Duration) async throws {
        let promise = Promise<Int, Refused>()
        let waits = Task.detached(executorPreference: OwnThreads()) { try promise.wait(timeout: timeout) }
        if timeout < .zero { #expect(try await waits.value == nil) }
        promise.resolve(.success(3))
        if timeout > .zero { #expect(try await waits.value == 3) }
    }

    @Test("who waits for a limited time gets nil when it is over, and the result later")
    func timeout() throws {
        let promise = Promise<Int, Refused>()
        #expect(try promise.wait(timeout: .zero) == nil)
        #expect(try promise.wait(timeout: .milliseconds(1)) == nil)
        promise.resolve(.success(3))
        #expect(try promise.wait(timeout: .zero) == 3)
    }
}
