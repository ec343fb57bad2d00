internal import Foundation
internal import PostgreSQLClient

extension PostgreSQLPool {
    /// Returns the engine's record of a transaction whose COMMIT was not answered: `committed`, `aborted` or `in progress`; nil without a record.
    /// - Parameter transaction: its number; nil for one that has changed nothing, which counts as committed.
    func recordedOutcome(of transaction: Int64?, until deadline: ContinuousClock.Instant) throws -> String? {
        guard let transaction else { return "committed" }
        while true {
            do {
                let row = try withConnection(deadline: deadline) { try $0.first("SELECT txid_status(?1)", [.integer(transaction)]) ?? [] }
                guard row.first?.text == "in progress", ContinuousClock.now < deadline else { return row.first?.text }
            } catch let error as PostgreSQLError where error.canBeRepeated && ContinuousClock.now < deadline {}
            Thread.sleep(forTimeInterval: 0.005)
        }
    }
}
