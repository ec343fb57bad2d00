internal import MobileObjects
internal import MobileSync

/// Steps of operators that change no state of the server for good, and deployments.
extension Rig {
    /// An operator locks a user, a device or a subscription for a moment. Changes that wait on the device stay there.
    func lock(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        guard let server = server as? ServerBench, let lock = picks.next(of: ServerBench.Lock.allCases) else { return nil }
        // The device registers and subscribes where the server has forgotten it.
        try healing(device) { try device.package.synchronize() }
        try noteAnswers(device)
        try check(.serverStuck, "lock of a \(lock)") { try server.setLocked(true, lock, of: device) }
        if picks.isOne(of: 2) { note("  \(try local(device) { try self.change(.edit, device, &picks) } ?? "")") }
        try check(.localFailure, "submitting all") { try device.package.submitPendingOperations() }
        try noteOutbox(device)
        do {
            try device.package.synchronize()
            throw failure(.notAllowed, "device \(device.index): its \(lock) is locked, and it synchronizes")
        } catch let error as SyncError {
            guard error.code == .notAuthorized else {
                throw failure(.deviceStuck, "device \(device.index): its \(lock) is locked, and it gets \(error)")
            }
        }
        try noteAnswers(device)
        try checkEdits(device)
        try check(.serverStuck, "end of a lock") { try server.setLocked(false, lock, of: device) }
        _ = try synchronize(device, nil, nil)
        return "\(lock) of device \(device.index)"
    }

    /// Another application keeps the back end locked for a moment. Operations wait meanwhile, and none is refused.
    func lockBackEnd(_ device: DeviceBench) throws -> String? {
        // PostgreSQL lets the operation wait for the lock, and the only thread of the world would wait with it.
        guard stores == .sqlite else { return nil }
        try check(.localFailure, "submitting all") { try device.package.submitPendingOperations() }
        try noteOutbox(device)
        try enterprise.run("BEGIN IMMEDIATE")
        var text = "device \(device.index)"
        do { try device.package.synchronize() } catch { text += ": \(error)" }
        try enterprise.run("ROLLBACK")
        try noteAnswers(device)
        try checkEdits(device)
        return text
    }

    /// An operator removes a device. It has to register again, and its user's changes stay on it.
    func removeDevice(_ device: DeviceBench) throws -> String? {
        guard let server = server as? ServerBench else { return nil }
        try healing(device) { try device.package.synchronize() }
        try noteAnswers(device)
        try check(.serverStuck, "removal of a device") { try server.removeDevice(device) }
        do {
            try device.package.synchronize()
            throw failure(.notAllowed, "device \(device.index) was removed, and synchronizes")
        } catch let error as SyncError {
            guard Self.asksForRegistration(error) else { throw failure(.deviceStuck, "device \(device.index) was removed, and gets \(error)") }
        }
        _ = try synchronize(device, nil, nil)
        return "device \(device.index)"
    }

    /// The second versions of the packages are deployed.
    func deploy() throws -> String? {
        guard !isSecondDeployed, let server = server as? ServerBench else { return nil }
        try check(.serverStuck, "deployment") { try server.deploySecond() }
        isSecondDeployed = true
        return ""
    }
}
