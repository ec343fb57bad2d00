internal import MobileObjects
internal import MobileSync
internal import TestSupport

/// Devices that are lost, copied and restored, and subscriptions that end.
extension Rig {
    /// The database of the device is replaced by its backup.
    func restore(_ device: DeviceBench) throws -> String? {
        guard let saved = device.saved else { return nil }
        try check(.deviceStuck, "device \(device.index) cannot open its restored database") { try device.restore() }
        var again: Set<String> = []
        for place in edits.indices where edits[place].device == device.id {
            let former = place < saved.edits.count ? saved.edits[place] : nil, isAlive = former?.isAlive ?? false
            if former == edits[place] {
                // The changes of a row stay in their order.
                guard isAlive, again.contains(edits[place].tag) else { continue }
                edits.append(edits[place])
                edits[place].fate = .replaced
                continue
            }
            // The device has the change as it was; its later fate is that of the operation that was sent.
            var repeated = former ?? edits[place]
            switch edits[place].fate {
            case .open: edits[place].fate = .cancelled
            case .submitted(let id): edits[place].fate = .unknown(id)
            default:
                edits[place].isTakenBack = true
                // The backup has no record of an operation that was accepted after it.
                if former?.operation != edits[place].operation || isAlive { edits[place].isForgotten = true }
            }
            if isAlive {
                repeated.mayRepeat = true
                edits[place].mayRepeat = true
                edits.append(repeated)
                again.insert(repeated.tag)
            }
        }
        return "device \(device.index)"
    }

    /// The device is lost, and its user gets another one.
    func replace(_ device: DeviceBench) throws -> String? {
        try? device.close()
        forget(device)
        devices[device.index] = try newDevice(device.index, version: device.version)
        return "device \(device.index)"
    }

    /// The user of the device logs off, and another one logs in: on the same device, with a database of his own.
    func switchUser(_ device: DeviceBench) throws -> String? {
        // Without a session there is no registration to give back.
        try healing(device) { try device.package.synchronize() }
        try check(.deviceStuck, "device \(device.index) cannot log off") { try device.application.unregister(timeout: .seconds(60)) }
        try? device.close()
        forget(device)
        devices[device.index] = try newDevice(device.index, version: device.version, after: device)
        return "device \(device.index): user \(1 - device.user)"
    }

    /// Another device gets a copy of the database.
    func clone(_ device: DeviceBench) throws -> String? {
        // A new row that was not submitted yet would be made by both.
        let new = try device.shown().filter { $0.change == .create }, created = Set(new.map(\.tag))
        // One that was rejected would be made by both when they submit it again; the back end refuses the second one where it has the same key.
        guard !new.contains(where: { world.objects[$0.object].key == .generated }) else { return nil }
        guard devices.count < 4, !edits.contains(where: { $0.device == device.id && $0.fate == .open && created.contains($0.tag) }) else {
            return nil
        }
        let copy = try check(.deviceStuck, "a copy of device \(device.index)") {
            let copy = try device.whileClosed {
                try bench(
                    devices.count, user: device.user, regions: device.subscribed, version: device.version, package: device.packageName,
                    copying: device)
            }
            try copy.application.register(timeout: .seconds(60))
            return copy
        }
        devices.append(copy)
        for place in edits.indices where edits[place].device == device.id && edits[place].isAlive {
            edits[place].mayRepeat = true
            var edit = edits[place]
            edit.device = copy.id
            edits.append(edit)
        }
        (copy.tags, copy.plannedKeys) = (device.tags, device.plannedKeys)
        return "device \(device.index) as device \(copy.index)"
    }

    // MARK: Subscriptions that end

    /// The user ends his subscription, and begins another one.
    func unsubscribe(_ device: DeviceBench) throws -> String? {
        try healing(device) { try device.package.unsubscribe(discardingPending: true) }
        try subscribeAgain(device)
        return "device \(device.index)"
    }

    /// An operator ends the subscription of a device. It loses its rows then, and may subscribe again.
    func removeSubscription(_ device: DeviceBench) throws -> String? {
        guard !avoided.contains(.removedSubscription), let server = server as? ServerBench else { return nil }
        let package = "\(device.packageName):\(device.version).0"
        try check(.serverStuck, "removal of a subscription") {
            try server.removeSubscription(client: device.package.clientID, package: package)
        }
        do { try device.package.synchronize() } catch {
            note("  device \(device.index): \(error)")
        }
        guard try !device.package.isSubscribed() else {
            throw failure(.deviceStuck, "device \(device.index): its subscription was removed, and it is still subscribed")
        }
        try subscribeAgain(device)
        return "device \(device.index)"
    }

    private func subscribeAgain(_ device: DeviceBench) throws {
        guard try device.shown().isEmpty else { throw failure(.ghostRow, "device \(device.index) is not subscribed, and has rows") }
        forget(device)
        try check(.deviceStuck, "device \(device.index) cannot subscribe again") {
            for region in device.subscribed.sorted() { try device.setSubscription(region, true) }
            try device.package.subscribe()
        }
    }

    /// The device does not have the changes of its user any more.
    func forget(_ device: DeviceBench) {
        device.mayStartAgain = true
        for place in edits.indices where edits[place].device == device.id {
            switch edits[place].fate {
            case .open: edits[place].fate = .cancelled
            case .submitted(let id): edits[place].fate = .unknown(id)
            default: break
            }
            (edits[place].isTakenBack, edits[place].isForgotten) = (true, true)
        }
    }

    /// Another user names the client of a device in his own messages.
    func impersonate(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        // The id of a client that has never come is no one's yet.
        let others = try devices.filter { other in
            guard other.user != device.user, let network = other.network as? WorldNetwork else { return false }
            return try network.hasSent(as: other.package.clientID)
        }
        guard !avoided.contains(.foreignClient), let network = device.network as? WorldNetwork, let victim = picks.next(of: others) else {
            return nil
        }
        let version = 1 + picks.next(2), floor: Int64 = [0, 3, 1 << 40][picks.next(3)], client = try victim.package.clientID
        guard try network.impersonate(client: client, package: "\(victim.packageName):\(version).0", settledBelow: floor) else { return nil }
        return "device \(device.index) as device \(victim.index), version \(version), settled below \(floor)"
    }

    // MARK: Backups of the back end

    func backEndStep(_ kind: Step.Kind) throws -> String? {
        // The other processes would see two lives of the back end at a time.
        guard server is ServerBench else { return nil }
        guard kind == .restoreBackEnd else {
            try check(.serverStuck, "backup of the back end") { try saveBackEnd() }
            return ""
        }
        let former = try Truth.ledger(enterprise)
        guard try check(.serverStuck, "restore of the back end", restoreBackEnd) else { return nil }
        undone += former.filter { $0.sequence > seenLedger }
        let truth = try Truth(enterprise, world), done = Set(try Truth.ledger(enterprise).compactMap(\.after))
        for place in edits.indices {
            // An operation that a copy has inherited may never have been done.
            guard case .accepted(let id) = edits[place].fate, !edits[place].mayRepeat else { continue }
            let isUndone =
                edits[place].change == .delete
                ? truth.rows[edits[place].tag] != nil : !edits[place].stamp.isEmpty && !done.contains(edits[place].stamp)
            // A delete of a row that the user may not have counts as done.
            guard isUndone, edits[place].change != .delete || world.objects[edits[place].object].partition != .bound else { continue }
            edits[place].fate = .lost(id)
            // The same stamp may come again with the operation that had it.
            edits[place].mayRepeat = true
        }
        return ""
    }

    /// Accepted operations that a restored back end does not have are listed by the devices that made them.
    func compareLost() throws {
        for device in devices {
            let listed = Set(try device.package.lostOperations().map(\.id))
            // The device keeps accepted operations for 30 days.
            for edit in edits where edit.device == device.id && !edit.isForgotten && edit.step >= lastLeap {
                guard case .lost(let id) = edit.fate, !listed.contains(id) else { continue }
                throw failure(.unreportedLoss, "device \(device.index): \(edit.change) of \(edit.tag) (\(edit.stamp), step \(edit.step)) was lost")
            }
        }
    }
}
