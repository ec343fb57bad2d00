internal import MobileStore

/// Cleans a table of log records in short transactions, so that a concurrent synchronization waits for at most one of them.
struct LogCleaning {
    let table: LogTable
    let stateStore: any StateStore
    /// The maximum number of rows of one transaction.
    let portion: Int

    /// Marks records as deleted.
    /// - Parameter between: called after each transaction, while none is open, with the number of rows so far. An error that it throws ends the work;
    ///   the changes so far stay.
    /// - Returns: the number of marked records.
    func mark(_ expired: LogTable.Expired, between: (Int) throws -> Void) throws -> Int {
        try inPortions(between) { try table.mark(expired, limit: portion, in: $0) }
    }

    /// Removes the marked records that their clients have deleted as well, or whose clients have unsubscribed.
    func removeMarked(between: (Int) throws -> Void) throws -> Int {
        try inPortions(between) { try table.removeMarked(limit: portion, in: $0) }
    }

    private func inPortions(_ between: (Int) throws -> Void, _ step: (any StateConnection) throws -> Int) throws -> Int {
        var total = 0, count = 0
        repeat {
            count = try stateStore.write(label: "cleaning of \(table.name)", step)
            total += count
            if count > 0 { try between(total) }
        } while count == portion
        return total
    }
}
