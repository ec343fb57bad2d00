import Dispatch
import Foundation
import MobileExecution
import Synchronization
import TestSupport
import Testing

/// The threads of ``BlockingWork``: the number of concurrent jobs, and the time of delayed ones.
@Suite struct WorkThreadsTests {
    /// A job that runs until it may end.
    private final class Job: Sendable {
        let mayEnd = DispatchSemaphore(value: 0), hasBegun = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
        private let done = Atomic(false)

        var isDone: Bool { done.load(ordering: .sequentiallyConsistent) }

        func run() {
            hasBegun.signal()
            mayEnd.wait()
            done.store(true, ordering: .sequentiallyConsistent)
            hasEnded.signal()
        }
    }

    /// The times for which a thread without work stays awake.
    private static let lingerings: [Duration] = [.zero, .microseconds(50), .milliseconds(5), .seconds(60)]

    @Test("as many jobs run at the same time as there may be threads, the next one after the first", arguments: lingerings)
    func limit(lingering: Duration) {
        let work = BlockingWork(threads: 3, lingering: lingering), first = Job(), jobs = (0..<4).map { _ in Job() }
        first.mayEnd.signal()
        work.start { first.run() }
        first.hasEnded.wait()  // one thread, which is about to be without work, must do one of the jobs and not more
        for job in jobs { work.start { job.run() } }
        for job in jobs[..<3] { #expect(job.hasBegun.wait(timeout: .now() + 10) == .success) }
        #expect(jobs.allSatisfy { !$0.isDone })
        jobs[1].mayEnd.signal()
        #expect(jobs[3].hasBegun.wait(timeout: .now() + 10) == .success)
        for job in [jobs[0], jobs[2], jobs[3]] { job.mayEnd.signal() }
        for job in jobs { #expect(job.hasEnded.wait(timeout: .now() + 10) == .success) }
    }

    @Test("what is queued when the work is let go still runs, what is delayed is let go", arguments: lingerings)
    func letGo(lingering: Duration) {
        var work: BlockingWork? = BlockingWork(threads: 1, lingering: lingering)
        let first = Job(), queued = Job()
        work?.start { first.run() }
        work?.start { queued.run() }
        var delayed: Job? = Job(), taken: Job? = Job()
        let timer = work?.start(after: .seconds(Int64.max)) { [taken] in taken?.run() }
        let other = work?.start(after: .seconds(3600)) { [delayed] in delayed?.run() }
        weak let released = delayed
        weak let cancelled = taken
        (delayed, taken) = (nil, nil)
        #expect(cancelled != nil && released != nil)
        #expect(other != nil && timer?.cancel() == true)
        #expect(cancelled == nil)
        #expect(timer?.cancel() == false)
        work = nil
        #expect(released == nil)
        first.mayEnd.signal()
        queued.mayEnd.signal()
        queued.hasEnded.wait()
        #expect(first.isDone)
    }

    @Test func `delayed jobs run in the order of their times`() throws {
        let work = BlockingWork(threads: 1), late = Job(), early = Job()
        for job in [late, early] { job.mayEnd.signal() }
        // The times are far apart, so that the second call is made in time even when threads wait for a processor.
        _ = try #require(work.start(after: .milliseconds(300)) { late.run() })
        _ = try #require(work.start(after: .milliseconds(1)) { early.run() })
        late.hasEnded.wait()
        #expect(early.isDone)
    }

    @Test("a delayed job does not wait for a long one that has come after it", arguments: lingerings)
    func longJob(lingering: Duration) throws {
        for round in 0..<20 {
            let work = BlockingWork(threads: 2, lingering: lingering), first = Job(), delayed = Job(), long = Job()
            for job in [first, delayed] { job.mayEnd.signal() }
            _ = try #require(work.start(after: .nanoseconds(1)) { first.run() })
            first.hasEnded.wait()  // its thread waits for the next one from now on
            _ = try #require(work.start(after: .milliseconds(10)) { delayed.run() })
            work.start { long.run() }
            let isInTime = delayed.hasEnded.wait(timeout: .now() + 10) == .success
            long.mayEnd.signal()
            long.hasEnded.wait()
            try #require(isInTime, "round \(round): the delayed job has waited for 10 s")
        }
    }

    @Test("delayed jobs that are due at the same time run at the same time", arguments: lingerings)
    func sameTime(lingering: Duration) throws {
        let work = BlockingWork(threads: 3, lingering: lingering), jobs = (0..<3).map { _ in Job() }
        for job in jobs { _ = try #require(work.start(after: .milliseconds(5)) { job.run() }) }
        for job in jobs { #expect(job.hasBegun.wait(timeout: .now() + 10) == .success) }
        for job in jobs { job.mayEnd.signal() }
        for job in jobs { job.hasEnded.wait() }
    }

    @Test("a job runs at once while others are delayed, also on the only thread", arguments: [1, 2, 3], lingerings)
    func beside(limit: Int, lingering: Duration) throws {
        let work = BlockingWork(threads: limit, lingering: lingering), delayed = (0..<2).map { _ in Job() }, jobs = (0..<4).map { _ in Job() }
        _ = try #require(work.start(after: .seconds(Int64.max)) { delayed[0].run() })
        _ = try #require(work.start(after: .seconds(3600)) { delayed[1].run() })
        for job in jobs {
            job.mayEnd.signal()
            work.start { job.run() }
        }
        for job in jobs { #expect(job.hasEnded.wait(timeout: .now() + 10) == .success) }
        // This time is earlier than the one for which the thread waits.
        let early = Job()
        early.mayEnd.signal()
        _ = try #require(work.start(after: .milliseconds(1)) { early.run() })
        #expect(early.hasEnded.wait(timeout: .now() + 10) == .success)
        #expect(delayed.allSatisfy { !$0.isDone })
    }

    @Test func `a thread that stays awake does not sleep between jobs that follow one another`() {
        let work = BlockingWork(threads: 8, lingering: .seconds(60)), ended = DispatchSemaphore(value: 0)
        // On a busy machine a job may come before the thread is without work, and another thread does it.
        var last = (thread: pthread_self(), sleeps: 0), inARow = 0, jobs = 0
        while inARow < 100, jobs < 100_000 {
            let now = SystemLock(last)
            work.start {
                now.withLock { $0 = (pthread_self(), SleepCount.ofThread) }
                ended.signal()
            }
            ended.wait()
            let next = now.withLock { $0 }
            // A thread that rests sleeps before each job.
            inARow = next == last ? inARow + 1 : 0
            (last, jobs) = (next, jobs + 1)
        }
        #expect(inARow == 100)
    }

    @Test func `a thread that stays awake leaves when the work is let go`() throws {
        let ended = DispatchSemaphore(value: 0)
        for _ in 0..<20 {
            var work: BlockingWork? = BlockingWork(threads: 2, lingering: .seconds(3600))
            let first = Job()
            first.mayEnd.signal()
            work?.start {
                ThreadEnd.signal(ended)
                first.run()
            }
            first.hasEnded.wait()
            work = nil
            try #require(ended.wait(timeout: .now() + 10) == .success)
        }
    }

    @Test func `one thread at most stays awake`() throws {
        let work = BlockingWork(threads: 8, lingering: .seconds(3600)), threads = SystemLock<Set<pthread_t>>([])
        for _ in 0..<30 {
            let jobs = (0..<200).map { _ in Job() }
            for job in jobs { job.mayEnd.signal() }
            DispatchQueue.concurrentPerform(iterations: jobs.count) { number in
                work.start {
                    _ = threads.withLock { $0.insert(pthread_self()) }
                    jobs[number].run()
                }
            }
            for job in jobs { job.hasEnded.wait() }
            // They live as long as the work.
            let all = threads.withLock { Array($0) }
            try #require(eventually { ThreadTime.busy(all) <= 1 })
        }
        withExtendedLifetime(work) {}
    }

    @Test("jobs and timers from many threads all run, each once", arguments: [1, 2, 8], lingerings)
    func crowd(limit: Int, lingering: Duration) async throws {
        let work = BlockingWork(threads: limit, lingering: lingering), runs = Atomic(0), cancelled = Atomic(0), ended = DispatchSemaphore(value: 0)
        let count = 300
        DispatchQueue.concurrentPerform(iterations: count) { number in
            work.start {
                runs.add(1, ordering: .sequentiallyConsistent)
                ended.signal()
            }
            let timer = work.start(after: .microseconds(number * 7)) {
                runs.add(1, ordering: .sequentiallyConsistent)
                ended.signal()
            }
            if number.isMultiple(of: 3), timer?.cancel() == true {
                cancelled.add(1, ordering: .sequentiallyConsistent)
                ended.signal()
            }
        }
        for _ in 0..<2 * count { #expect(ended.wait(timeout: .now() + 30) == .success) }
        // A job that runs twice would do so before a job that is queued now.
        try await work.run {}
        #expect(runs.load(ordering: .sequentiallyConsistent) + cancelled.load(ordering: .sequentiallyConsistent) == 2 * count)
    }
}

/// The number of times that the calling thread has given up the processor to wait for something.
private enum SleepCount {
    static var ofThread: Int {
        var usage = rusage()
        precondition(getrusage(1, &usage) == 0)  // RUSAGE_THREAD, whose macro Swift does not import
        return usage.ru_nvcsw
    }
}

/// The processor time of threads.
private enum ThreadTime {
    private static func milliseconds(_ thread: pthread_t) -> Int {
        var clock = clockid_t(), time = timespec()
        precondition(pthread_getcpuclockid(thread, &clock) == 0 && clock_gettime(clock, &time) == 0)
        return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
    }

    /// The number of threads that use a processor while the calling thread uses one for 20 ms.
    static func busy(_ threads: [pthread_t]) -> Int {
        let before = threads.map(milliseconds), own = milliseconds(pthread_self())
        while milliseconds(pthread_self()) < own + 20 {}
        return zip(threads, before).count { milliseconds($0) > $1 + 1 }
    }
}

/// Signals at the end of a thread.
private enum ThreadEnd {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        let status = pthread_key_create(&key) { context in
            if let context { Unmanaged<DispatchSemaphore>.fromOpaque(context).takeRetainedValue().signal() }
        }
        precondition(status == 0)
        return key
    }()

    /// Has a semaphore signalled when the calling thread ends.
    static func signal(_ ended: DispatchSemaphore) { pthread_setspecific(key, Unmanaged.passRetained(ended).toOpaque()) }
}
