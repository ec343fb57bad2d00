internal import MobileStore

/// The place in a back end's record of operations up to which a cache has the keys of new rows.
struct AppliedPosition: Sendable, Equatable {
    let number: Int64
    /// The era of the number; empty for one from before the first era.
    let era: String
}

/// The outcomes that one read of a back end has found in its record of operations beyond those that the cache has. They are read before anything is
/// written, and applied in a short transaction.
struct RecordImport {
    /// The position of the cache when the read began.
    private(set) var known: AppliedPosition
    let history: RecordHistory
    /// The outcomes of all versions of this package, by their numbers.
    private(set) var outcomes: [(number: Int64, client: String, outcome: OperationOutcome)] = []
    /// The last number that was read, also of another package's operation; nil if there is none.
    private(set) var last: Int64?

    /// The maximum number of outcomes in memory. Before there are more, they are applied.
    static let portion = 1000

    /// The cache was changed by another import meanwhile: the record must be read again.
    struct Moved: Error {}

    /// Reads the record.
    /// - Parameters:
    ///   - source: the read of the back end in which rows are loaded afterwards. A row is therefore never seen before its key.
    ///   - known: the position of the cache, read before `source` began.
    ///   - package: the name of the package, without a version.
    ///   - apply: applies a full portion, and returns false if the cache has another position by now.
    /// - Returns: nil if the cache has everything.
    static func read(
        _ source: any BackEndSnapshot, of backEnd: ServedBackEnd, after known: AppliedPosition, package: String, apply: (RecordImport) throws -> Bool
    ) throws -> RecordImport? {
        guard !backEnd.isIdempotent, let records = try source.records() else { return nil }
        var found = RecordImport(known: known, history: try RecordHistory(records))
        guard found.isRestored || found.history.last != known.number else { return nil }
        try records.forEachOutcome(after: found.start) { number, client, text in
            if found.outcomes.count == Self.portion, let last = found.last {
                guard try apply(found) else { throw Moved() }
                found = RecordImport(known: AppliedPosition(number: last, era: found.history.era(of: last)), history: found.history)
            }
            found.last = number
            let outcome = try OperationOutcome(json: JSONValue(parsing: text))
            guard PackageName(outcome.package).name == package else { return }
            found.outcomes.append((number, client, outcome))
        }
        // The records at the end may be settled and gone: the number says how far the record had come all the same.
        found.last = max(found.last ?? 0, found.history.last)
        return found
    }

    /// Whether the record has lost what the cache has applied, because the back end was restored from an older backup. All of it is read then.
    var isRestored: Bool { start != known.number }

    /// The number after which outcomes were read.
    private var start: Int64 { history.holds(known.number, in: known.era) ? known.number : 0 }

    /// The position after the import.
    var end: AppliedPosition {
        let number = last ?? 0
        return AppliedPosition(number: number, era: history.era(of: number))
    }

    /// Returns the outcomes that a cache lacks whose position may have moved since the read.
    /// - Returns: none after an import that has read more; nil if the record must be read again.
    func missing(at present: AppliedPosition) -> ArraySlice<(number: Int64, client: String, outcome: OperationOutcome)>? {
        guard present != known else { return outcomes[...] }
        // Another import has found a restored back end, or read one that was restored since.
        guard !isRestored, present.number >= known.number else { return nil }
        guard history.holds(present.number, in: present.era) else { return [] }
        return outcomes.drop { $0.number <= present.number }
    }
}
