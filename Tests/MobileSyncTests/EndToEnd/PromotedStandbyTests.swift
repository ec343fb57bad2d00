import Foundation
import MobileExecution
import MobileObjects
import PostgreSQLClient
import PostgreSQLTestSupport
import SampleCRM
import TestSupport
import Testing

/// Three processes whose state and back end are in one PostgreSQL. Its standby takes over while devices work, and lacks the last commits of both.
/// `SERVER_SOAK_DEVICES` gives it more devices.
@Suite(.enabled(if: PostgreSQLInstallation.runsTests && ServerFleet.nginx != nil, "PostgreSQL and nginx are needed; install Debian's packages"))
struct PromotedStandbyTests {
    private static let devices = ProcessInfo.processInfo.environment["SERVER_SOAK_DEVICES"].flatMap { Int($0) } ?? 8

    @Test("after the promotion of a standby with lost commits, devices have the rows of the back end, and know which of their operations it lacks")
    func lostCommits() throws {
        let directory = try TemporaryDirectory()
        let primary = try PostgreSQLServer(settings: ["idle_in_transaction_session_timeout": "2000"])
        let state = try primary.database(), backEnd = try primary.database()
        try backEnd.connect().run(script: CRMTables.postgreSQL)
        let fleet = try ServerFleet(directory, store: state.configuration.address, backEnd: Self.address(of: backEnd))
        defer { fleet.stop() }
        for index in 0..<fleet.count { try fleet.start(index, makesUser: index == 0) }
        try fleet.startProxy()
        let field = try (0..<Self.devices).map { try FieldWorker($0, directory, port: fleet.port) }
        try field.inParallel { try $0.begin() }

        let standby = try PostgreSQLServer(standbyOf: primary)
        for _ in 0..<3 { try field.inParallel { try $0.work() } }
        try Self.waitUntilReplayed(by: standby, primary)
        standby.stop()
        let kept = try Self.count(backEnd)
        for _ in 0..<3 { try field.inParallel { try $0.work() } }
        let committed = try Self.count(backEnd)

        // The devices continue while the primary dies and the standby takes its place.
        let isDone = SystemLock(false), failure = SystemLock<(any Error)?>(nil)
        Thread.detachNewThread {
            do {
                primary.kill()
                try standby.promote(inPlaceOf: primary)
            } catch { failure.withLock { $0 = error } }
            isDone.withLock { $0 = true }
        }
        repeat { try field.inParallel { try $0.work(mayLoseRows: true) } } while !isDone.withLock { $0 }
        if let error = failure.withLock({ $0 }) { throw error }
        #expect(kept < committed, "commits were lost")

        var known = Set<String>()
        let lost = try Self.check(field, backEnd) { worker, wrong in
            known.formUnion(try worker.explained())
            let unknown = wrong.filter { !known.contains($0) }
            let facts = try unknown.map(worker.facts)
            #expect(facts.isEmpty, "lost without a word")
        }
        #expect(lost > 0, "the lost commits contain operations of devices")
        // The devices submit them again, and nothing is missing then, except what depended on a row that had gone.
        let submitted = SystemLock(0)
        try field.inParallel { worker in
            let count = try worker.submitLostAgain()
            submitted.withLock { $0 += count }
        }
        let missing = try Self.check(field, backEnd) { worker, wrong in
            let unknown = wrong.filter { !known.contains($0) }
            let facts = try unknown.map(worker.facts)
            #expect(facts.isEmpty, "missing without a word")
        }
        #expect(missing < lost, "what was submitted again is there")
        print(
            "\(field.count) devices, \(lost) rows with lost changes, \(submitted.withLock { $0 }) operations submitted again, \(missing) rows differ since"
        )
    }

    /// Lets all devices settle, and compares each with the back end.
    /// - Parameter body: takes the names of a device's rows without its last change.
    /// - Returns: the number of such rows.
    private static func check(
        _ field: [FieldWorker], _ backEnd: PostgreSQLTestDatabase, _ body: (FieldWorker, _ wrong: [String]) throws -> Void
    ) throws -> Int {
        // The devices that were the first to settle do not have the rows of the others yet.
        for _ in 0..<2 { try field.inParallel { try $0.settle() } }
        let rows = try backEnd.connect().rows(BackEndCustomer.query).map {
            BackEndCustomer(id: $0[0].integer ?? 0, name: $0[1].text ?? "", city: $0[2].text ?? "")
        }
        var count = 0
        for worker in field {
            let wrong = try worker.check(rows)
            try body(worker, wrong)
            count += wrong.count
        }
        return count
    }

    private static func address(of database: PostgreSQLTestDatabase) -> String {
        "postgresql://postgres@/\(database.name)?host=\(database.server.folder)&port=\(database.server.port)"
    }

    private static func count(_ backEnd: PostgreSQLTestDatabase) throws -> Int64 {
        try backEnd.connect().first("SELECT max(seq) FROM mobile_processed_operation")?[0].integer ?? 0
    }

    private static func waitUntilReplayed(by standby: PostgreSQLServer, _ primary: PostgreSQLServer) throws {
        let position = try PostgreSQLConnection(primary.configuration(database: "postgres")).first("SELECT pg_current_wal_lsn()::text")?[0].text ?? ""
        let connection = try PostgreSQLConnection(standby.configuration(database: "postgres"))
        while try connection.first("SELECT pg_last_wal_replay_lsn() >= '\(position)'::pg_lsn") != [true] {}
    }
}
