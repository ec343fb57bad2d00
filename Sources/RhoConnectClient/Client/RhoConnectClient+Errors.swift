internal import MobileStore

extension RhoConnectClient {
    /// The answer to a refused create.
    public enum CreateErrorAction: String, Sendable {
        /// Removes the object from the device.
        case delete
        /// Sends the object again with the next synchronization.
        case recreate
    }

    /// The answer to a refused update.
    public enum UpdateErrorAction: String, Sendable {
        /// Sends the change again with the next synchronization.
        case retry
        /// Writes the server's values to the device.
        case rollback
    }

    /// The answer to a refused deletion.
    public enum DeleteErrorAction: String, Sendable {
        /// Sends the deletion again with the next synchronization.
        case retry
    }

    /// Answers refused creates. Without an answer the objects stay on the device, and are never sent again. RhoConnect: `onCreateError:action:`.
    /// - Parameters:
    ///   - notify: the notification with the errors.
    ///   - action: the answer for all of them.
    /// - Throws: ``RhoConnectErrorCode/runtime``; nothing was changed in that case.
    public func onCreateError(_ notify: RhoConnectNotify, action: CreateErrorAction) throws(RhoConnectError) {
        try forEach(notify.serverErrors.create, \.create) { source, refusal, connection in
            // Linked meanwhile, or answered already: there is nothing to answer.
            guard let marker = try source.queue.marker(of: refusal.object, in: connection), marker.progress == .pending else { return }
            switch action {
            case .delete:
                try source.table.remove(refusal.object, in: connection)
                try source.queue.remove(refusal.object, in: connection)
            case .recreate:
                let exists = try source.table.attributes(of: refusal.object, in: connection) != nil
                try source.queue.recreate(refusal.object, exists: exists, in: connection)
            }
        }
    }

    /// Answers refused updates. Without an answer the device keeps its values, and the server its own. A newer change of the user that was not sent wins over
    /// both answers. RhoConnect: `onUpdateError:action:`.
    /// - Throws: as ``onCreateError(_:action:)``.
    public func onUpdateError(_ notify: RhoConnectNotify, action: UpdateErrorAction) throws(RhoConnectError) {
        switch action {
        case .retry:
            try forEach(notify.serverErrors.update, \.update) { source, refusal, connection in
                guard try source.table.attributes(of: refusal.object, in: connection) != nil else { return }
                let unsent = try source.queue.unsentAttributes(of: refusal.object, in: connection)
                let again = try ReservedNames.attributes(of: refusal.attributes).filter { !unsent.contains($0.key) }
                try source.queue.addUpdates(again, of: refusal.object, in: connection)
            }
        case .rollback:
            let refused = Dictionary(notify.serverErrors.update.map { ($0.object, $0.attributes) }) { $1 }
            let rollbacks = notify.serverErrors.rollback.filter { refused[$0.object] != nil }
            // A refusal without the server's values is answered as well: the server does not know the object.
            try forEach(rollbacks, \.update, answered: notify.serverErrors.update) { source, refusal, connection in
                guard let local = try source.table.attributes(of: refusal.object, in: connection) else { return }
                let unsent = try source.queue.unsentAttributes(of: refusal.object, in: connection), sent = refused[refusal.object] ?? [:]
                // A later page may have brought a newer value than the rollback has: only the refused values are taken back.
                let stale = refusal.attributes.filter { name, _ in
                    !unsent.contains(name) && (sent.isEmpty || local[name] == nil || sent[name] == local[name])
                }
                try source.table.put(stale, of: refusal.object, in: connection)
            }
        }
    }

    /// Answers refused deletions. Without an answer the objects stay deleted on the device, and exist on the server. RhoConnect: `onDeleteError:action:`.
    /// - Throws: as ``onCreateError(_:action:)``.
    public func onDeleteError(_ notify: RhoConnectNotify, action: DeleteErrorAction) throws(RhoConnectError) {
        try forEach(notify.serverErrors.delete, \.delete) { source, refusal, connection in
            // The object may be there again, or may have been destroyed again with newer values.
            guard !refusal.attributes.isEmpty, try source.table.attributes(of: refusal.object, in: connection) == nil,
                try !source.queue.isDestroyed(refusal.object, in: connection)
            else { return }
            try source.queue.addDelete(refusal.attributes, of: refusal.object, in: connection)
        }
    }

    /// Answers refusals. These, or the ones in `answered`, are then no longer stored.
    private func forEach(
        _ refusals: [RhoConnectServerErrors.Refusal], _ list: WritableKeyPath<RhoConnectServerErrors, [RhoConnectServerErrors.Refusal]> & Sendable,
        answered: [RhoConnectServerErrors.Refusal]? = nil, _ body: @escaping (Source, RhoConnectServerErrors.Refusal, Connection) throws -> Void
    ) throws(RhoConnectError) {
        let core = core
        try core.write("answer to errors") { connection in
            for refusal in refusals { try body(try core.source(named: refusal.sourceName), refusal, connection) }
            for (name, answered) in Dictionary(grouping: answered ?? refusals, by: \.sourceName) {
                try StoredErrors.remove(answered, from: list, of: try core.source(named: name), in: connection)
            }
        }
    }
}

extension ChangeQueue {
    /// The attributes of an object with a change that was not sent.
    fileprivate func unsentAttributes(of object: String, in connection: Connection) throws(StoreError) -> Set<String> {
        let rows = try connection.rows(
            "SELECT attrib FROM changed_values WHERE source_id = ?1 AND object = ?2 AND update_type = 'update' AND sent = 0",
            [Value(sourceID), .text(object)])
        return Set(rows.compactMap(\.first?.text))
    }
}
