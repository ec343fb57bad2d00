internal import MobileProtocol

/// The state of the back ends' records of operations when the device of an upload was sent its rows. It shows whether one of them was restored since: then
/// the back end lacks operations whose rows the device may have.
///
/// A restored back end gives generated primary keys again. Where the server does not know a row, the primary key that the device has for it may be that
/// of another row then. Where only the server's own state was lost, the key is right, and it is all that is left.
final class SeenRecords {
    /// The record of the back end that a batch is on, in the batch's transaction.
    struct Present {
        let backEnd: String
        let records: any OperationRecords
        /// The life of the data, as in ``BackEndPosition/historyID``; nil for a back end that does not know it.
        let life: String?
    }

    private let seen: [String: Int64]
    private let receipts: ReceiptCheck
    /// The decisions so far, by back end, each with the life of the data that it holds for.
    private var decisions: [String: (life: String, isRestored: Bool)] = [:]

    init(_ header: SynchronizeHeader, _ receipts: ReceiptCheck) {
        seen = header.seen.merging(header.receipts) { max($0, $1) }
        self.receipts = receipts
    }

    /// Whether a back end was restored since the device saw its rows.
    /// - Parameter present: the record of the batch's own back end. It is read in the transaction: a restore between two reads would not be seen.
    /// - Throws: ``Rejection`` as a deferral, if another back end cannot be reached that may explain what the device has seen.
    func isRestored(_ backEnd: String, _ present: Present?) throws -> Bool {
        guard !seen.isEmpty else { return false }
        guard let present, present.backEnd == backEnd else {
            guard let history = try receipts.history(ofBackEnd: backEnd) else { return false }
            return try lacksSeen(history, backEnd)
        }
        if let life = present.life, let decision = decisions[backEnd], decision.life == life { return decision.isRestored }
        let isRestored = try lacksSeen(RecordHistory(present.records), backEnd)
        if let life = present.life { decisions[backEnd] = (life, isRestored) }
        return isRestored
    }

    private func lacksSeen(_ history: RecordHistory, _ backEnd: String) throws -> Bool {
        for (era, number) in seen {
            if let reached = history.reached(in: era) {
                if reached < number { return true }
            } else if try !receipts.isOfAnother(era, than: backEnd) {
                return true
            }
        }
        return false
    }
}
