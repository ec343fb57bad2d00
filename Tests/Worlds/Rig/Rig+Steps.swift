internal import MobileObjects
internal import MobileSync
internal import TestSupport

/// The steps.
extension Rig {
    /// Takes a step.
    /// - Returns: what it did; nil if nothing was there to do.
    func take(_ step: Step) throws -> String? {
        var picks = Picks(step)
        let device = devices[step.device % devices.count]
        if Self.movesRows.contains(step.kind) { for device in devices { device.mayStartAgain = true } }
        switch step.kind {
        case .create, .edit, .touch, .moveRegion, .setReference, .delete, .rollBack:
            return try local(device) { try self.change(step.kind, device, &picks) }
        case .saveMany: return try local(device) { try self.saveMany(device, &picks) }
        case .refresh: return try local(device) { try self.refresh(device, &picks) }
        case .page: return try page(device, &picks)
        case .fillDisk: return try fillDisk(device, &picks)
        case .submitRow, .submitAll, .cancelRow, .cancelAll, .sendLost: return try local(device) { try self.pending(step.kind, device, &picks) }
        case .synchronize: return try synchronize(device, nil, nil)
        case .synchronizeGroup:
            // A group without objects is unknown to the package.
            let groups = Set(world.objects.map(\.group.rawValue)).sorted()
            return try synchronize(device, picks.next(of: groups), nil)
        case .loseUpload: return try synchronize(device, nil, .cutUpload(after: picks.next(400)))
        case .loseAnswer: return try synchronize(device, nil, .cutResponse)
        case .cutDownload: return try synchronize(device, nil, .cutDownload(after: picks.next(1000)))
        case .cancelSynchronization: return try cancelSynchronization(device, after: picks.next(12))
        case .sendAgain:
            guard device.network.sendAgain(picks.next(1000)) else { return nil }
            hasSentAgain = true
            return "device \(device.index)"
        case .subscribe: return try subscribe(device, &picks)
        case .upgrade: return try upgrade(device)
        case .reopen:
            try check(.deviceStuck, "device \(device.index) cannot open its database") { try device.reopen(version: device.version) }
            return "device \(device.index)"
        case .replaceDevice: return try replace(device)
        case .switchUser: return try switchUser(device)
        case .saveDevice:
            try check(.deviceStuck, "device \(device.index) cannot be saved") { try device.save(edits) }
            return "device \(device.index)"
        case .restoreDevice: return try restore(device)
        case .cloneDevice: return try clone(device)
        case .unsubscribe: return try unsubscribe(device)
        case .removeSubscription:
            return server is ServerBench ? try removeSubscription(device) : try processStep(step.kind, device, &picks)
        case .impersonate: return try impersonate(device, &picks)
        case .saveBackEnd, .restoreBackEnd: return try backEndStep(step.kind)
        case .foreignInsert, .foreignEdit, .foreignMove, .foreignReference, .foreignDelete: return try foreignStep(step.kind, &picks)
        case .loseState, .restoreState:
            if avoided.contains(.clockBehindKeys) { clock.set(max(clock.now, latest)) }
            let text = try serverStep(step.kind)
            if text != nil { lostStates += 1 }
            return text
        case .restartServer, .saveState, .prune: return try serverStep(step.kind)
        case .removeDevice:
            return server is ServerBench ? try removeDevice(device) : try processStep(step.kind, device, &picks)
        case .lockBackEnd: return try lockBackEnd(device)
        case .lock: return try lock(device, &picks)
        case .deploy: return try deploy()
        case .renameColumn: return try renameColumn(device, &picks)
        case .writeText: return try local(device) { try self.writeText(device, &picks) }
        case .killProcess, .stopProcess, .drainProcess, .cutConnections, .restartPostgreSQL:
            return try processStep(step.kind, device, &picks)
        case .passTime:
            let hours = [1, 30, 24 * 40, 24 * 500][picks.next(4)]
            if hours > 24 * 30 { lastLeap = self.step }
            clock.advance(by: .seconds(hours * 3600))
            return "\(hours) hours"
        case .turnBackClock:
            let hours = [1, 30, 24 * 40][picks.next(3)]
            latest = max(latest, clock.now)
            if hours > 24 * 30 { lastLeap = self.step }
            clock.set(clock.now - .seconds(hours * 3600))
            return "\(hours) hours"
        case .changeRights:
            let user = picks.next(rights.count), region = Region.allCases[picks.next(3)]
            try noteRights()
            if rights[user].remove(region) == nil { rights[user].insert(region) }
            lackedRights[user].insert(region)
            try check(.serverStuck, "rights of user \(user)") { try server.setRegions(rights[user], ofUser: user) }
            return "user \(user): \(rights[user].sorted().map(\.rawValue))"
        }
    }

    /// The steps after which rows may come to a device although their values have not changed.
    private static let movesRows: Set<Step.Kind> = [
        .moveRegion, .setReference, .saveMany, .rollBack, .subscribe, .unsubscribe, .upgrade, .replaceDevice, .switchUser, .turnBackClock, .deploy,
        .lock, .lockBackEnd, .fillDisk, .restoreDevice, .cloneDevice,
        .foreignMove,
        .foreignReference, .restoreBackEnd, .restartServer, .loseState, .restoreState, .prune, .passTime, .changeRights, .removeSubscription,
    ]

    /// Runs `body`; an error of it is a failure of this kind.
    func check<R>(_ kind: WorldFailure.Kind, _ text: String, _ body: () throws -> R) throws -> R {
        do { return try body() } catch let failure as WorldFailure { throw failure } catch { throw failure(kind, "\(text): \(error)") }
    }

    private func serverStep(_ kind: Step.Kind) throws -> String? {
        try check(.serverStuck, "\(kind)") {
            switch kind {
            case .loseState: try server.loseState()
            case .saveState: try server.saveState()
            case .restoreState: guard try server.restoreState() else { return nil }
            case .prune: try server.prune()
            default: try server.restart()
            }
            // Rights are in the state.
            for (user, regions) in rights.enumerated() { try server.setRegions(regions, ofUser: user) }
            return ""
        }
    }

    private func subscribe(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let region = Region.allCases[picks.next(3)], isOn = !device.subscribed.contains(region)
        guard isOn || device.subscribed.count > 1 else { return nil }
        if isOn { device.subscribed.insert(region) } else { device.subscribed.remove(region) }
        device.hasLeftRegions = device.hasLeftRegions || !isOn
        try check(.localFailure, "subscription") { try device.setSubscription(region, isOn) }
        return "device \(device.index): \(device.subscribed.sorted().map(\.rawValue))"
    }

    private func upgrade(_ device: DeviceBench) throws -> String? {
        guard device.version == 1 && isSecondDeployed else { return nil }
        do {
            try device.reopen(version: 2)
        } catch {
            // A change of what the new version does not have waits: the article says that the upgrade is refused.
            let hasRemoved = world.objects.contains { $0.attributes.contains { $0.inVersionTwo == .removed } }
            guard hasRemoved, waits(device) else { throw failure(.deviceStuck, "device \(device.index) cannot upgrade: \(error)") }
            try check(.deviceStuck, "device \(device.index) after a refused upgrade") { try device.openAgain() }
            return "device \(device.index): refused"
        }
        return "device \(device.index)"
    }

    private func waits(_ device: DeviceBench) -> Bool {
        edits.contains { edit in
            guard edit.device == device.id else { return false }
            if case .submitted = edit.fate { return true }
            return edit.isAlive
        }
    }
}
