internal import MobileStore

/// Cleans a table of log records in short transactions, so that nobody who synchronizes meanwhile waits for more than one of them.
struct LogCleaning {
    let table: LogTable
    let database: Database
    /// Rows of one transaction.
    let portion: Int

    /// Marks records as deleted.
    /// - Parameter between: called behind each transaction with the number of rows so far, while none is open; what it throws ends the work,
    ///   and what is done stays done.
    /// - Returns: how many there were.
    func mark(_ expired: LogTable.Expired, between: (Int) throws -> Void) throws -> Int {
        try inPortions(between) { try table.mark(expired, limit: portion, in: $0) }
    }

    /// Removes marked records whose clients have followed.
    func removeMarked(between: (Int) throws -> Void) throws -> Int {
        try inPortions(between) { try table.removeMarked(limit: portion, in: $0) }
    }

    private func inPortions(_ between: (Int) throws -> Void, _ step: (Connection) throws -> Int) throws -> Int {
        var total = 0, count = 0
        repeat {
            count = try database.write(label: "cleaning of \(table.name)", step)
            total += count
            if count > 0 { try between(total) }
        } while count == portion
        return total
    }
}
