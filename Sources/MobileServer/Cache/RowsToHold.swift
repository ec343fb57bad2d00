internal import MobileModel
internal import MobileStore

/// Rows that a load or its comparison has found, and that no attribute holds back by itself: several rows with one key, or a large text that is not UTF-8.
/// The refresh looks again, and holds them back then (see ``Quarantine``).
///
/// **All rows with one key are held back.** Why: no one of them is the right one, and a device that got one would write to another. If you break it:
/// `DoubledKeyTests` fail.
struct RowsToHold: Error {
    let partition: Int64
    /// The reasons, by the keys of the rows.
    let rows: [KeyText: UnfitRow]
    /// The error of a load with more of them: then its statement is at fault.
    let failure: ServerError

    /// The number of rows of a partition that are held back so.
    static let limit = 10_000
}

/// A load has several rows with one key. Which ones, its temporary table says.
struct KeyTwice: Error {
    /// The error of a load for which nothing says it.
    let failure: ServerError
}

/// The packed rows of a first load have one key several times: the load is staged, so that a table says which.
struct FirstLoadNotPossible: Error {
    let partition: Int64
}

extension UnfitRow {
    /// A row whose key other rows have as well.
    init(doubled key: KeyText, _ object: ObjectPlan) {
        let value = key.value ?? .text(key.text)
        self.init(
            object, key: key, shownKey: value, attributes: object.keyAttributes, form: nil, value: value, expected: "a key that no other row has")
    }
}

extension ObjectPlan {
    func keyTwice(cause: (any Error)? = nil) -> KeyTwice { KeyTwice(failure: loadError("one key twice", cause: cause)) }
}
