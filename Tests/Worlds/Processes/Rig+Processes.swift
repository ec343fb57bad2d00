internal import Foundation
internal import MobileExecution
internal import MobileObjects
internal import MobileSync
internal import PostgreSQLTestSupport
internal import TestSupport

/// Steps about processes. In worlds without processes they do nothing.
extension Rig {
    func processStep(_ kind: Step.Kind, _ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        guard let server = server as? ServerProcesses, let network = device.network as? HTTPNetwork else { return nil }
        switch kind {
        case .removeDevice:
            // The server may not know it: it was removed before, or a state from before its registration was restored.
            return try check(.serverStuck, "removal of device \(device.index)") {
                do { try server.administrate(["devices", "remove", "World", device.name]) } catch let error
                    as ServerProcesses.Failure
                {
                    guard error.description.contains("there is no device") else { throw error }
                    return nil
                }
                return "device \(device.index)"
            }
        case .removeSubscription: return try removeSubscription(server, &picks)
        case .drainProcess: return try drain(server, &picks)
        case .stopProcess: return try stop(server, device, network, &picks)
        default: return try disturb(kind, server, device, network, &picks)
        }
    }

    private func removeSubscription(_ server: ServerProcesses, _ picks: inout Picks) throws -> String? {
        let text = try check(.serverStuck, "list of subscriptions") { try server.administrate(["--json", "subscriptions"]) }
        guard let list = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [[String: Any]] else {
            throw failure(.serverStuck, "the list of subscriptions: \(text)")
        }
        let known = list.compactMap { entry -> (package: String, client: String)? in
            guard let package = entry["package"] as? String, let client = entry["client"] as? String else { return nil }
            return (package, client)
        }
        guard let chosen = picks.next(of: known.sorted { ($0.package, $0.client) < ($1.package, $1.client) }) else { return nil }
        try check(.serverStuck, "removal of a subscription") {
            _ = try server.administrate(["subscriptions", "remove", chosen.package, chosen.client])
        }
        return chosen.package
    }

    // MARK: Disturbances

    /// A device synchronizes, and at a moment of this a process is killed, the proxy cuts all connections, or PostgreSQL is killed. Then everything runs again.
    private func disturb(
        _ kind: Step.Kind, _ server: ServerProcesses, _ device: DeviceBench, _ network: HTTPNetwork, _ picks: inout Picks
    ) throws -> String? {
        let moment = Moment.allCases[picks.next(Moment.allCases.count)], process = picks.next(server.count)
        let problem = SystemLock<(any Error)?>(nil)
        let action: @Sendable () -> Void = {
            do {
                switch kind {
                case .killProcess: server.kill(process)
                case .cutConnections: try server.cutConnections()
                default: try server.ground.postgreSQL.restartAtOnce()
                }
            } catch { problem.withLock { $0 = error } }
        }
        let text = "device \(device.index), at \(moment)\(kind == .killProcess ? " of process \(process)" : "")"
        let error = try synchronize(device, network, at: moment, server, action)
        if let error = problem.withLock({ $0 }) { throw failure(.serverStuck, "\(kind): \(error)") }
        if kind == .restartPostgreSQL {
            try check(.serverStuck, "PostgreSQL after its restart") { try (enterprise as? PostgreSQLEnterprise)?.reconnect() }
        }
        try check(.serverStuck, "\(kind)") { try server.repair() }
        try noteAnswers(device)
        try checkEdits(device)
        return text + (error.map { ": \($0)" } ?? "")
    }

    /// Synchronizes once; `action` happens at a moment of it, or at its end if the moment does not come.
    /// - Returns: the code of the device's error.
    private func synchronize(
        _ device: DeviceBench, _ network: HTTPNetwork, at moment: Moment, _ server: ServerProcesses, _ action: @escaping @Sendable () -> Void
    ) throws -> SyncError.Code? {
        var code: SyncError.Code?
        if moment == .transaction { network.begin() } else { network.begin(moment, action) }
        let watch = moment == .transaction ? TransactionWatch(server, backEnd: enterpriseName, action) : nil
        do { try device.package.synchronize(nil) } catch { code = error.code }
        if !(watch?.end() ?? network.end()) { action() }
        try requireEnd(device)
        return code
    }

    /// A device synchronizes, and at a moment of this a process is stopped (SIGSTOP). Another device synchronizes meanwhile. The process continues when nothing
    /// moves any more; before, PostgreSQL may end its transactions, as it does after some seconds.
    private func stop(_ server: ServerProcesses, _ device: DeviceBench, _ network: HTTPNetwork, _ picks: inout Picks) throws -> String? {
        let moments = Moment.allCases.filter { $0 != .transaction }
        let moment = moments[picks.next(moments.count)], process = picks.next(server.count), endsTransactions = picks.isOne(of: 2)
        let other = picks.next(of: devices.filter { $0 !== device })
        network.begin(moment) { server.signal(process, SIGSTOP) }
        other?.network.begin()
        let works = ParallelWork()
        works.start(device)
        if let other { works.start(other) }
        try check(.serverStuck, "a stopped process") {
            let watch = try SessionWatch(server, backEnd: enterpriseName)
            try watch.waitUntilStill { works.isOver }
            if endsTransactions {
                try watch.endTransactions()
                try watch.waitUntilStill { works.isOver }
            }
        }
        server.signal(process, SIGCONT)
        let codes = works.errors().map { $0?.code }, involved = [device] + (other.map { [$0] } ?? [])
        _ = network.end()
        try check(.serverStuck, "a process that continues") { try server.repair() }
        for device in involved {
            try noteAnswers(device)
            try checkEdits(device)
        }
        return "process \(process) at \(moment) of device \(device.index)\(other.map { " with device \($0.index)" } ?? "")"
            + (codes.compactMap { $0 }.isEmpty ? "" : ": \(codes.map { $0.map { "\($0)" } ?? "done" })")
    }

    // MARK: Leaving

    /// A process leaves (SIGTERM) while as many devices as there are processes wait for the back end, and others synchronize: no device may see it where there
    /// are other processes.
    private func drain(_ server: ServerProcesses, _ picks: inout Picks) throws -> String? {
        let process = picks.next(server.count)
        var helpers: [DeviceBench] = []
        if server.count > 1 {
            for _ in 0..<max(0, 3 * server.count - devices.count) { helpers.append(try newDevice(picks.next(world.devices.count))) }
        }
        defer { for helper in helpers { try? helper.close() } }
        let all = devices + helpers, works = ParallelWork()
        for device in all { device.network.begin() }
        try check(.serverStuck, "a process that leaves") {
            let watch = try SessionWatch(server, backEnd: enterpriseName)
            // Devices wait for this lock, each at another process.
            try enterprise.run("BEGIN; LOCK TABLE \(World.table(0)) IN ACCESS EXCLUSIVE MODE")
            defer { try? enterprise.run("ROLLBACK") }
            let held = Array(all.prefix(server.count)), rest = all.dropFirst(server.count)
            for device in held {
                works.start(device)
                try watch.waitUntilStill { false }
            }
            server.signal(process, SIGTERM)
            for device in rest { works.start(device) }
            try watch.waitUntilStill { false }
        }
        let errors = works.errors()
        try check(.serverStuck, "a process that leaves") {
            try server.finishDrain(process)
            try server.repair()
        }
        for device in devices {
            try noteAnswers(device)
            try checkEdits(device)
        }
        let texts = errors.compactMap { $0 }.filter { !Self.asksForRegistration($0) }.map { "\($0)" }
        if let first = texts.first, server.count > 1, !avoided.contains(.drainDisturbs) {
            throw failure(.disturbed, "\(texts.count) of \(all.count) devices, while process \(process) of \(server.count) left: \(first)")
        }
        return "process \(process)" + (texts.isEmpty ? "" : ": \(texts.count) of \(all.count) devices got an error")
    }

    private var enterpriseName: String { database?.name ?? "" }
}

/// Synchronizations of devices on other threads, while the rig waits.
private final class ParallelWork {
    private let running = SystemLock(0)
    private var waits: [() -> SyncError?] = []

    /// Sound because the rig does not use the device before ``errors()``.
    private struct Borrowed: @unchecked Sendable {
        let device: DeviceBench
    }

    func start(_ device: DeviceBench) {
        let borrowed = Borrowed(device: device), running = running
        running.withLock { $0 += 1 }
        waits.append(
            concurrently {
                defer { running.withLock { $0 -= 1 } }
                do throws(SyncError) { try borrowed.device.package.synchronize(nil) } catch { return error }
                return nil
            })
    }

    var isOver: Bool { running.withLock { $0 == 0 } }

    /// Waits for all.
    func errors() -> [SyncError?] { waits.map { $0() } }
}
