import MobileStore

/// The server's answer to one operation.
package struct ReplayAnswer: Sendable, Equatable {
    /// The decision about an operation.
    package enum Decision: Sendable, Equatable {
        case accepted
        case rejected
        /// Rejected, because the row changed in the back end since the device last saw it: the back end's row, or nil if it is gone.
        case conflict(JSONObject?)
        /// Nothing was decided: the operation is sent again later.
        case deferred(ReplayDeferral)
    }

    /// The id of the operation.
    package var id: Int64
    package var decision: Decision
    /// Where an accepted operation is recorded; nil where the back end keeps no record.
    package var receipt: AcceptanceReceipt?
    package init(id: Int64, _ decision: Decision) { (self.id, self.decision) = (id, decision) }
    package init(id: Int64, isAccepted: Bool) { self.init(id: id, isAccepted ? .accepted : .rejected) }
}

/// The effect of an answer, for callbacks, counts and tests.
package struct ReplayOutcome: Sendable, Equatable {
    package var id: Int64
    /// The modelled name of the object.
    package var entity: String
    package var surrogateKey: Int64
    package var decision: ReplayAnswer.Decision
    /// Whether the answer is about the row's present state; false for an answer to an older submission, and for a row that was not pending any more.
    package var changedState: Bool

    package var isAccepted: Bool { decision == .accepted }
}

/// Settling: the server's answers meet what is pending now. See the table of events in `ReplayState`.
extension Transaction {
    /// Applies answers in their order, removes the operations from the outbox, and calls `onReplaySuccess` and `onReplayFailure`. Imports
    /// that belong to the answers must have been written before. An answer to an operation that is not in the outbox changes nothing. A deferred
    /// operation stays in the outbox, its row stays as it is, and `onReplayDeferred` is called.
    /// - Parameter decided: the rows that the download with the answers has decided about; default none.
    package func settle(_ results: [ReplayAnswer], decided: DecidedRows = DecidedRows()) throws -> [ReplayOutcome] {
        var refused: [Int64] = []
        let outcomes = try results.compactMap { try settle($0, decided, &refused) }
        if !refused.isEmpty {
            _ = try renumber(refused)
            database.hasRenumberedRows = true
        }
        return outcomes
    }

    /// - Parameter refused: receives the keys of new rows whose inherited creates were rejected: keys of another client, with which they cannot be sent again.
    private func settle(_ result: ReplayAnswer, _ decided: DecidedRows, _ refused: inout [Int64]) throws -> ReplayOutcome? {
        guard
            let row = try connection.storedRow(
                [OutboxColumn.entity, .key, .change, .submitted, .changed, .isImported, .client], "WHERE \"id\" = ?1", [.integer(result.id)])
        else { return nil }
        let entity = try metadata.entity(named: row.text(.entity)), key = try row.integer(.key)
        if case .deferred(let deferral) = result.decision { return try settle(result, deferral, entity, key) }
        if case .conflict(let row) = result.decision, try originalState(of: entity, key)?.replay.submitted == result.id {
            try noteConflict(row, of: entity, key)
        }
        let isAccepted = result.decision == .accepted
        if isAccepted, let receipt = result.receipt { try keepAccepted(result.id, receipt) }
        var record = SettledRecord(
            id: result.id, isCreate: try row.kind(.change, of: OutboxRecord.Change.self) == .create, submitted: try row.text(.submitted),
            changed: try row.changedValues(.changed), isImported: try row.flag(.isImported))
        var changedState = false
        if let original = try originalState(of: entity, key) {
            record.isImported = record.isImported || original.isImported
            let object = try objectForCallback(entity, key, original), owners = try owners(of: entity, key)
            changedState =
                try isAccepted
                ? accept(record, entity, key, original) : reject(record, entity, key, original)
            // Its parent in the server's version may be another one.
            try updateMarks(of: owners + self.owners(of: entity, key))
            if changedState, let object { notify(object, result.decision) }
        }
        try removeFromOutbox(result.id, of: entity, key)
        if !isAccepted, record.isCreate, try !row.text(.client).isEmpty, let original = try originalState(of: entity, key),
            original.replay.change == .create, original.server == .absent, try !hasUnansweredCreate(entity, key), !refused.contains(key)
        {
            refused.append(key)
        }
        if isAccepted {
            // The row may have got the number of another one, which is gone.
            if entity.hasGeneratedKey { expectRows(of: entity) }
            expectKeysOfParents(of: entity)
            try noteLast(result.id, of: entity, key)
            if !decided.contains(entity) { try noteUnconfirmed(entity, key) }
            try settleLogRecords(of: entity, key, upTo: result.id)
        }
        return ReplayOutcome(id: result.id, entity: entity.name, surrogateKey: key, decision: result.decision, changedState: changedState)
    }

    private func settle(_ result: ReplayAnswer, _ deferral: ReplayDeferral, _ entity: EntityMetadata, _ key: Int64) throws -> ReplayOutcome {
        try note(deferral, of: result.id)
        let original = try originalState(of: entity, key)
        let isLast = original?.replay.submitted == result.id
        if isLast, let original, let object = try objectForCallback(entity, key, original) { notify(object, result.decision) }
        return ReplayOutcome(id: result.id, entity: entity.name, surrogateKey: key, decision: result.decision, changedState: isLast)
    }

    private func accept(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws -> Bool {
        var replay = original.replay
        let counter = original.serverCounter != 0 ? original.serverCounter : clockSeconds
        let isComplete = try record.id != replay.submitted || replay.change == .delete || takeBackOvertaken(by: record, entity, key)
        switch replay.accept(id: record.id, serverCounter: counter, isComplete: isComplete) {
        case .older:
            // The row's marks stay. But a create that was changed and submitted again is an update from now on, regardless of the next answer.
            if record.isCreate { try forgetCreate(of: entity, key, original) }
            try noteAccepted(record, entity, key, original, counter)
            if !record.changed.isEmpty {
                replay.noteAccepted(record.id)
                try setReplayState(replay, of: entity, key)
            }
            return false
        case .changedSince:
            if record.isCreate { try forgetCreate(of: entity, key, original) }
            try noteAccepted(record, entity, key, original, counter)
            try setReplayState(replay, of: entity, key)
            return true
        case .settled:
            try settleRow(record, entity, key, original, replay)
            return true
        }
    }

    /// Takes back the submissions that an accepted one has overtaken: their late answers may be rejections.
    /// - Returns: whether no value of the row is pending apart from the accepted ones.
    private func takeBackOvertaken(by record: SettledRecord, _ entity: EntityMetadata, _ key: Int64) throws -> Bool {
        let accepted = UnansweredSubmission(id: record.id, changed: record.changed)
        let overtaken = try unanswered(of: entity, key, besides: record.id)
        for submission in overtaken { try takeBack(submission, overtaken + [accepted], of: entity, key) }
        if !overtaken.isEmpty { try letGoOfSubmissions(of: entity, key) }
        return try changedValues(of: entity, key).isEmpty
    }

    /// Ends the pending state of a row. It gets the server's version if an import brought one since the submit, otherwise the known version with the
    /// submitted values.
    private func settleRow(
        _ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64, _ original: OriginalState, _ settled: ReplayState
    ) throws {
        // An operation that is an object of its own is complete: the server has no row of it.
        if entity.otherOperation != nil { return try vanish(entity, key) }
        let owners = try owners(of: entity, key), wasPresent = original.replay.change != .delete
        try releaseLargeValues(of: entity, key)
        try keepSubmittedLargeValues(record, entity, key)
        if original.isImported && original.server == .present {
            try setServerVersion(.present, isImported: true, serverCounter: settled.counter, of: entity, key)
            var imported = original
            imported.serverCounter = settled.counter
            imported.replay.noteAccepted(record.id)
            try restoreServerVersion(entity, key, imported)
        } else if original.isImported || original.replay.change == .delete {
            try vanish(entity, key)
        } else {
            // The row has the submitted values: it was not changed since.
            let rest = original.server == .present ? ChangedValues.all.subtracting(record.changed, of: entity.sql.content.count) : .nothing
            try takeFromOriginal(rest.union(.only(Set(entity.largeAttributes))), entity, key)
            try connection.execute(entity.sql.setState, [.integer(key)] + settled.columns)
            try dropOriginalState(of: entity, key)
        }
        let replay = try replayState(of: entity, key)
        if var replay, try hasPendingChildren(entity, key) {
            replay.markAsParent()
            try setReplayState(replay, of: entity, key)
        }
        if replay != nil {
            try changeLogRecorder()?.updated(entity, key)
        } else if wasPresent {
            try changeLogRecorder()?.deleted(entity, key, owners: owners)
        }
    }

    private func reject(_ record: SettledRecord, _ entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws -> Bool {
        var replay = original.replay
        let rejection = replay.reject(id: record.id)
        if record.isCreate && replay.change == .delete && original.server == .absent {
            // The row was deleted here after the submit, and the server never had it: there is nothing left to send.
            try vanish(entity, key)
            return true
        }
        if record.isCreate, original.server == .absent, !record.changed.isEmpty {
            // The server has no row, so all values are to be sent again, also those of later submissions, which the server can only refuse.
            try noteChanged(.all, of: entity, key)
        } else {
            let submission = UnansweredSubmission(id: record.id, changed: record.changed)
            try takeBack(submission, try unanswered(of: entity, key, besides: record.id), of: entity, key)
        }
        guard rejection != .older else { return false }
        try setReplayState(replay, of: entity, key)
        return true
    }
}

extension Transaction {
    /// Returns the object of a pending row before its answer is applied; nil without a handler for it, and where it cannot be read: its answer counts
    /// nevertheless.
    private func objectForCallback(_ entity: EntityMetadata, _ key: Int64, _ original: OriginalState) throws -> Entity? {
        guard database.hasHandlers(for: entity) else { return nil }
        let isDelete = original.replay.change == .delete
        let table = isDelete ? entity.sql.originalTable : entity.sql.table
        let page = try connection.firstPage("SELECT \(entity.sql.columns) FROM \(table) WHERE \"_sk\" = ?1", [.integer(key)])
        let context = EntityContext(database, entity), type = database.objectClass(of: entity)
        guard let row = page?.first, let object = try? context.object(row, as: type) else { return nil }
        if isDelete { object.presence = .deleted }
        return object
    }

    private func notify(_ object: Entity, _ decision: ReplayAnswer.Decision) {
        database.notify(object.metadata, entityFirst: true) { handler in
            switch decision {
            case .accepted: handler.onReplaySuccess(object)
            case .rejected, .conflict: handler.onReplayFailure(object)
            case .deferred: handler.onReplayDeferred(object)
            }
        }
    }
}
