/// The eras of a back end's record of operations, with the last number of the record. A back end that was restored from an older backup has lost the end of
/// an era, so that a number that it cannot have reached shows the loss.
struct RecordHistory: Sendable {
    private let eras: [RecordEra]
    /// The last number of the record.
    let last: Int64

    init(_ records: any OperationRecords) throws { (eras, last) = (try records.eras(), try records.lastNumber()) }

    /// The first surrogate key that no server can have given before the last era began.
    var nextKey: Int64 { eras.map(\.nextKey).max() ?? 1 }

    /// Returns the last number that was recorded in an era; nil for an era that this back end does not know.
    func reached(in era: String) -> Int64? {
        guard let place = eras.firstIndex(where: { $0.name == era }) else { return nil }
        return place + 1 < eras.count ? eras[place + 1].first - 1 : last
    }

    /// Returns the era in which a number was recorded; empty for one from before the first era.
    func era(of number: Int64) -> String { eras.last { $0.first <= number }?.name ?? "" }

    /// Whether the record has everything up to a number that it had in an era.
    func holds(_ number: Int64, in era: String) -> Bool {
        if era.isEmpty { return number < eras.first?.first ?? .max && number <= last }
        return reached(in: era).map { number <= $0 } ?? false
    }
}
