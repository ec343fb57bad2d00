import Foundation
import MobileCore
import Synchronization
import Testing

/// A job for the core's threads, and what became of it.
private final class Job: Sendable {
    let mayEnd = DispatchSemaphore(value: 0), hasBegun = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
    let state = Mutex("waiting")

    var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }
    var outcome: String { state.withLock { $0 } }

    static let run: mc_job = { context in
        let job = Unmanaged<Job>.fromOpaque(context!).takeUnretainedValue()
        job.hasBegun.signal()
        job.mayEnd.wait()
        job.state.withLock { $0 = "done" }
        job.hasEnded.signal()
    }

    static let cancel: mc_job = { context in
        Unmanaged<Job>.fromOpaque(context!).takeUnretainedValue().state.withLock { $0 = "cancelled" }
    }
}

@Suite struct WorkersTests {
    private func create(_ limit: Int32) throws -> OpaquePointer {
        var workers: OpaquePointer?
        try CoreError.check { mc_workers_create(limit, &workers, $0) }
        return workers!
    }

    @Test func `as many jobs run at the same time as there may be threads, the next one after the first`() throws {
        let workers = try create(3)
        let jobs = (0..<4).map { _ in Job() }
        for job in jobs { try CoreError.check { mc_workers_run(workers, Job.run, job.context, $0) } }
        for job in jobs[..<3] { job.hasBegun.wait() }
        #expect(jobs.map(\.outcome) == ["waiting", "waiting", "waiting", "waiting"])
        jobs[1].mayEnd.signal()
        jobs[3].hasBegun.wait()
        for job in [jobs[0], jobs[2], jobs[3]] { job.mayEnd.signal() }
        for job in jobs { job.hasEnded.wait() }
        mc_workers_free(workers)
    }

    @Test func `what is queued at the release still runs, what is delayed is cancelled`() throws {
        let workers = try create(1)
        let first = Job(), queued = Job(), delayed = Job(), taken = Job()
        var number: UInt64 = 0
        try CoreError.check { mc_workers_run(workers, Job.run, first.context, $0) }
        try CoreError.check { mc_workers_run(workers, Job.run, queued.context, $0) }
        try CoreError.check { mc_workers_run_after(workers, .max, Job.run, Job.cancel, taken.context, &number, $0) }
        #expect(mc_workers_cancel(workers, number))
        #expect(!mc_workers_cancel(workers, number))
        #expect(taken.outcome == "cancelled")
        try CoreError.check { mc_workers_run_after(workers, .max, Job.run, Job.cancel, delayed.context, &number, $0) }
        mc_workers_free(workers)
        #expect(delayed.outcome == "cancelled")
        first.mayEnd.signal()
        queued.mayEnd.signal()
        queued.hasEnded.wait()
        #expect(first.outcome == "done")
    }

    @Test func `delayed jobs run in the order of their times`() throws {
        let workers = try create(1)
        let late = Job(), early = Job()
        for job in [late, early] { job.mayEnd.signal() }
        var number: UInt64 = 0
        // So far apart that the second call is made in time also where threads wait for a processor.
        try CoreError.check { mc_workers_run_after(workers, 300_000_000, Job.run, Job.cancel, late.context, &number, $0) }
        try CoreError.check { mc_workers_run_after(workers, 1_000_000, Job.run, Job.cancel, early.context, &number, $0) }
        late.hasEnded.wait()
        #expect(early.outcome == "done")
        mc_workers_free(workers)
    }

    @Test func `a delayed job does not wait for a long one that has come after it`() throws {
        for round in 0..<20 {
            let workers = try create(2)
            let first = Job(), delayed = Job(), long = Job()
            for job in [first, delayed] { job.mayEnd.signal() }
            var number: UInt64 = 0
            try CoreError.check { mc_workers_run_after(workers, 1, Job.run, Job.cancel, first.context, &number, $0) }
            first.hasEnded.wait()  // its thread waits for the next one from now on
            try CoreError.check { mc_workers_run_after(workers, 10_000_000, Job.run, Job.cancel, delayed.context, &number, $0) }
            try CoreError.check { mc_workers_run(workers, Job.run, long.context, $0) }
            let isInTime = delayed.hasEnded.wait(timeout: .now() + 10) == .success
            #expect(isInTime, "round \(round): the delayed job has waited for 10 s")
            long.mayEnd.signal()
            long.hasEnded.wait()
            if !isInTime { delayed.hasEnded.wait() }
            mc_workers_free(workers)
            if !isInTime { break }
        }
    }

    @Test func `delayed jobs that are due at the same time run at the same time`() throws {
        let workers = try create(3)
        let jobs = (0..<3).map { _ in Job() }
        var number: UInt64 = 0
        for job in jobs { try CoreError.check { mc_workers_run_after(workers, 5_000_000, Job.run, Job.cancel, job.context, &number, $0) } }
        for job in jobs { #expect(job.hasBegun.wait(timeout: .now() + 10) == .success) }
        for job in jobs { job.mayEnd.signal() }
        for job in jobs { job.hasEnded.wait() }
        mc_workers_free(workers)
    }

    @Test("a job runs at once while others are delayed, also on the only thread", arguments: [1, 2, 3])
    func beside(limit: Int32) throws {
        let workers = try create(limit)
        let delayed = (0..<2).map { _ in Job() }, jobs = (0..<4).map { _ in Job() }
        var number: UInt64 = 0
        try CoreError.check { mc_workers_run_after(workers, .max, Job.run, Job.cancel, delayed[0].context, &number, $0) }
        try CoreError.check { mc_workers_run_after(workers, 3_600_000_000_000, Job.run, Job.cancel, delayed[1].context, &number, $0) }
        for job in jobs {
            job.mayEnd.signal()
            try CoreError.check { mc_workers_run(workers, Job.run, job.context, $0) }
        }
        for job in jobs { #expect(job.hasEnded.wait(timeout: .now() + 10) == .success) }
        #expect(delayed.map(\.outcome) == ["waiting", "waiting"])
        // An earlier time than the one that is waited for.
        let early = Job()
        early.mayEnd.signal()
        try CoreError.check { mc_workers_run_after(workers, 1_000_000, Job.run, Job.cancel, early.context, &number, $0) }
        #expect(early.hasEnded.wait(timeout: .now() + 10) == .success)
        mc_workers_free(workers)
        #expect(delayed.map(\.outcome) == ["cancelled", "cancelled"])
    }

    @Test func `workers without a thread are refused`() {
        var workers: OpaquePointer?
        #expect(mc_workers_create(0, &workers, nil) == MC_ERROR_MISUSE)
    }
}
