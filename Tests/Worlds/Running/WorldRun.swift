internal import Foundation
internal import PostgreSQLTestSupport
internal import TestSupport

/// The result of a world.
package struct WorldRun: Sendable {
    /// Nil if everything was as it must be.
    package var failure: WorldFailure?
    /// A line for each step that did something.
    package var trace: [String]
    /// The kinds of steps that did something.
    var met: Set<Meeting>
    /// How often steps of each kind did something.
    var done: [Step.Kind: Int] = [:]

    /// Of a world that was not run.
    static let unrun = WorldRun(trace: [], met: [])

    private init(trace: [String], met: Set<Meeting>) { (failure, self.trace, self.met) = (nil, trace, met) }

    /// The reason why worlds with processes cannot run here; nil where they can.
    package static var missingForProcesses: String? {
        if PostgreSQLInstallation.programs == nil { return PostgreSQLInstallation.isMissing }
        if ServerArticle.nginx == nil { return ServerArticle.nginxIsMissing }
        let program = Program.built("mobile").path
        return FileManager.default.isExecutableFile(atPath: program) ? nil : "\(program) is not there; build the product mobile"
    }

    /// Of worlds that run at the same time: a test of many begins all at once, and their servers have limits of time.
    private static let places = DispatchSemaphore(value: 4)

    /// Runs a world on a thread of its own: its observers need those of Swift's pool.
    package static func apart(_ world: World, avoiding avoided: Set<KnownFault> = [], in stores: Stores = .sqlite) async -> WorldRun {
        await withCheckedContinuation { done in
            Thread.detachNewThread {
                places.wait()
                defer { places.signal() }
                done.resume(returning: WorldRun(world, avoiding: avoided, in: stores))
            }
        }
    }

    /// Runs a world until it fails, five times at most where it has processes: their history is another one each time.
    package static func repeated(_ world: World, avoiding avoided: Set<KnownFault>, in stores: Stores) async -> WorldRun {
        var run = await apart(world, avoiding: avoided, in: stores)
        for _ in 1..<5 where stores == .processes && run.failure == nil { run = await apart(world, avoiding: avoided, in: stores) }
        return run
    }

    /// Runs a world.
    package init(_ world: World, avoiding avoided: Set<KnownFault> = [], in stores: Stores = .sqlite) {
        (trace, met) = ([], [])
        do {
            let rig = try Rig(world, avoiding: avoided, in: stores)
            defer { rig.close() }
            do { try rig.run() } catch let found as WorldFailure { failure = found } catch {
                failure = WorldFailure(kind: .localFailure, text: "\(error)", step: rig.step)
            }
            (trace, met, done) = (rig.trace, rig.met, rig.done)
        } catch {
            failure = WorldFailure(kind: .serverStuck, text: "at the beginning: \(error)", step: -1)
        }
    }
}
