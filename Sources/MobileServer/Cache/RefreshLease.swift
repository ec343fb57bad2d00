internal import Foundation
internal import MobileExecution
internal import MobileStore

/// The times and limits of refreshes.
package struct RefreshRules: Sendable {
    /// The time between two beats of a lease.
    var beat: Duration = .seconds(1)
    /// The time after which a lease without a beat counts as abandoned, on the clock of the process that waits for it.
    var patience: Duration = .seconds(5)
    /// The time between two looks at a lease of another process.
    var poll: Duration = .milliseconds(50)
    /// The time for which a request waits for another refresh.
    var wait: Duration = .seconds(120)
    /// The largest comparison in memory, in rows and bytes; a larger one is staged.
    package var rowsInMemory = 5000
    var bytesInMemory = 8 << 20
    /// The rows of a first load that are written at once: few bytes keep the memory small, and many rows the number of commits.
    var rowsInBlock = 4096, bytesInBlock = 1 << 20
}

/// The right of one process to load all rows of a back end into a package's cache. It saves work; no rule rests on it alone, because its holder may be
/// stopped at any time and continue when another one has it.
///
///     free --taken, number + 1--> held --ended--> free
///                                  | beat each second
///                                  +-- no beat for some seconds --> taken over, number + 1
///
/// Each commit under the lease demands its number. No clock of another machine is compared: who waits watches the number and the beat with its own.
final class RefreshLease: Sendable {
    private let place: Place
    private let number: Int64
    private let thread = RestartableThread()
    private let lost = SystemLock(false)

    /// The row of `_refresh`.
    struct Place: Sendable {
        let stateStore: any StateStore
        let package: Int64
        let backEnd: String

        fileprivate var row: [Value] { [.integer(package), .text(backEnd)] }
        fileprivate static let key = "package = ?1 AND name = ?2"
    }

    /// The lease is another process's by now.
    struct Lost: Error {}

    private struct Mark: Equatable {
        let number: Int64
        let beat: Int64
    }

    /// Takes the lease as soon as it is free, or abandoned.
    /// - Throws: ``RequestFailure`` when the deadline has passed.
    static func take(_ place: Place, _ rules: RefreshRules, until deadline: ContinuousClock.Instant) throws -> RefreshLease {
        var seen: (mark: Mark, since: ContinuousClock.Instant)?
        while true {
            let row = try place.stateStore.read { try $0.first("SELECT number, beat, held FROM _refresh WHERE \(Place.key)", place.row) }
            let mark = Mark(number: row?[0].integer ?? 0, beat: row?[1].integer ?? 0), isHeld = row?[2] == 1
            if seen?.mark != mark { seen = (mark, .now) }
            let isAbandoned = seen.map { .now - $0.since >= rules.patience } ?? false
            if !isHeld || isAbandoned, let lease = try take(place, mark, isHeld: isHeld, rules) { return lease }
            guard .now < deadline else { throw RequestFailure.loading }
            if isHeld { Thread.sleep(forTimeInterval: rules.poll / .seconds(1)) }
        }
    }

    /// Takes the lease if it is as it was seen.
    private static func take(_ place: Place, _ mark: Mark, isHeld: Bool, _ rules: RefreshRules) throws -> RefreshLease? {
        let isTaken = try place.stateStore.write(label: "lease of \(place.backEnd)", isolation: .locks) { connection in
            try connection.execute("INSERT INTO _refresh (package, name) VALUES (?1, ?2) ON CONFLICT (package, name) DO NOTHING", place.row)
            return try connection.execute(
                "UPDATE _refresh SET number = number + 1, beat = 0, held = 1 WHERE \(Place.key) AND number = ?3 AND beat = ?4 AND held = ?5",
                place.row + [.integer(mark.number), .integer(mark.beat), .integer(isHeld ? 1 : 0)]) == 1
        }
        return isTaken ? RefreshLease(place, number: mark.number + 1, rules) : nil
    }

    private init(_ place: Place, number: Int64, _ rules: RefreshRules) {
        (self.place, self.number) = (place, number)
        thread.start { [self] in
            while !thread.hasEnded() {
                thread.pause(rules.beat)
                guard thread.isWanted, !isLost else { continue }
                // A beat that fails comes with the next one, or the lease is lost.
                _ = try? place.stateStore.write(label: "beat", isolation: .locks) { try hold(in: $0) }
            }
        }
    }

    /// Whether another process is known to have the lease by now: further work would be in vain.
    var isLost: Bool { lost.withLock { $0 } }

    /// Raises the beat. Until the transaction ends, no other process can take the lease.
    /// - Throws: ``Lost``.
    func hold(in connection: any StateConnection) throws {
        let held = try connection.execute(
            "UPDATE _refresh SET beat = beat + 1 WHERE \(Place.key) AND number = ?3 AND held = 1", place.row + [.integer(number)])
        guard held == 1 else {
            lost.withLock { $0 = true }
            throw Lost()
        }
    }

    /// Gives the lease back. A process that cannot reach the store leaves it to be taken over.
    func end() {
        thread.close()
        _ = try? place.stateStore.write(label: "end of the lease", isolation: .locks) {
            try $0.execute("UPDATE _refresh SET held = 0 WHERE \(Place.key) AND number = ?3", place.row + [.integer(number)])
        }
    }

    // MARK: Around leases

    /// Ends the leases of processes that have gone, when a server opens a store that has one server at a time. One that still runs commits nothing any more
    /// under its lease, and begins again.
    static func endAll(in connection: any StateConnection) throws {
        guard !connection.dialect.isShared else { return }
        try connection.execute("UPDATE _refresh SET held = 0, number = number + 1 WHERE held = 1")
    }

    /// Returns the number of times that a row has got another surrogate key than it had.
    static func rekeyed(_ place: Place, in connection: any StateConnection) throws -> Int64 {
        try connection.optionalNumber("SELECT rekeyed FROM _refresh WHERE \(Place.key)", place.row) ?? 0
    }

    /// Counts a row that gets another surrogate key than it had.
    static func noteRekeyed(package: Int64, backEnd: String, in connection: any StateConnection) throws {
        try connection.execute(
            "INSERT INTO _refresh (package, name, rekeyed) VALUES (?1, ?2, 1) ON CONFLICT (package, name) DO UPDATE SET rekeyed = _refresh.rekeyed + 1",
            [.integer(package), .text(backEnd)])
    }
}
