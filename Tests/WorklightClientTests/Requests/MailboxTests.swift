import Dispatch
import MobileExecution
import TestSupport
import Testing

@testable import WorklightClient

/// The jobs of a client, and the work with which they end.
@Suite struct MailboxTests {
    /// Jobs that each end with work whose result is the next one.
    private final class Chain: Sendable {
        private let mailbox: Mailbox
        private let count = SystemLock(0)
        let mayEnd = SystemLock(false)
        let hasEnded = DispatchSemaphore(value: 0)

        init(_ mailbox: Mailbox) { self.mailbox = mailbox }

        var rounds: Int { count.withLock { $0 } }

        /// Goes round until it may end, and at most `limit` times.
        func start(limit: Int = .max) { mailbox.post { self.next(limit) } }

        private func next(_ limit: Int) -> Mailbox.Work? {
            let rounds = count.withLock { count in
                count += 1
                return count
            }
            guard rounds < limit, !mayEnd.withLock({ $0 }) else {
                hasEnded.signal()
                return nil
            }
            // The callback of a request that makes the next one.
            return { { self.mailbox.post { self.next(limit) } } }
        }
    }

    @Test("requests that follow one another leave threads to others", arguments: [1, 2])
    func fairness(threads: Int) {
        let work = BlockingWork(threads: threads, lingering: .microseconds(50)), mailbox = Mailbox(work)
        let endless = (0..<2).map { _ in Chain(mailbox) }, late = Chain(mailbox)
        for chain in endless { chain.start() }
        late.start(limit: 1000)
        #expect(late.hasEnded.wait(timeout: .now() + 20) == .success)
        for chain in endless {
            chain.mayEnd.withLock { $0 = true }
            #expect(chain.hasEnded.wait(timeout: .now() + 20) == .success && chain.rounds > 1)
        }
    }

    @Test func `a time that has come is not held up by requests that follow one another`() throws {
        let work = BlockingWork(threads: 1), mailbox = Mailbox(work), chain = Chain(mailbox), isDue = DispatchSemaphore(value: 0)
        chain.start()
        _ = try #require(work.start(after: .milliseconds(5)) { isDue.signal() })
        #expect(isDue.wait(timeout: .now() + 20) == .success)
        chain.mayEnd.withLock { $0 = true }
        #expect(chain.hasEnded.wait(timeout: .now() + 20) == .success)
    }

    @Test func `a long chain of requests takes no more of the stack than a short one`() {
        let mailbox = Mailbox(BlockingWork(threads: 2)), chain = Chain(mailbox)
        chain.start(limit: 200_000)
        #expect(chain.hasEnded.wait(timeout: .now() + 60) == .success)
        #expect(chain.rounds == 200_000)
    }

    @Test func `jobs of many threads run one at a time, each once, and so does their work`() {
        let mailbox = Mailbox(BlockingWork(threads: 8, lingering: .microseconds(50)))
        let state = SystemLock((running: 0, most: 0, jobs: 0, works: 0)), ended = DispatchSemaphore(value: 0)
        let enter: @Sendable () -> Void = {
            state.withLock { state in
                state.running += 1
                state.most = max(state.most, state.running)
                state.jobs += 1
            }
        }
        DispatchQueue.concurrentPerform(iterations: 4000) { number in
            let job: @Sendable () -> Mailbox.Work? = {
                enter()
                defer { state.withLock { $0.running -= 1 } }
                guard number.isMultiple(of: 2) else {
                    ended.signal()
                    return nil
                }
                return {
                    state.withLock { $0.works += 1 }
                    return {
                        enter()
                        state.withLock { $0.running -= 1 }
                        ended.signal()
                    }
                }
            }
            guard number.isMultiple(of: 5) else { return mailbox.post(job) }
            mailbox.later {
                enter()
                state.withLock { $0.running -= 1 }
                ended.signal()
            }
        }
        for _ in 0..<4000 { #expect(ended.wait(timeout: .now() + 20) == .success) }
        // Without the multiples of 5, half of the numbers end with work.
        let found = state.withLock { $0 }
        #expect(found.most == 1 && found.works == 1600 && found.jobs == 4000 + 1600)
    }
}
