import MobileStore

/// The surrogate keys of a row's references, by position of the reference column; 0 where a reference is empty.
/// The first two are in the object itself. Most rows have no more, and a list of objects then allocates nothing for them.
struct ReferenceKeys: Sendable, Equatable {
    private var first: Int64 = 0
    private var second: Int64 = 0
    private var others: [Int64]?

    init() {}

    subscript(index: Int) -> Int64 {
        get {
            switch index {
            case 0: first
            case 1: second
            default:
                if let others, index - 2 < others.count { others[index - 2] } else { 0 }
            }
        }
        set {
            switch index {
            case 0: first = newValue
            case 1: second = newValue
            default:
                var keys = others ?? []
                while keys.count <= index - 2 { keys.append(0) }
                keys[index - 2] = newValue
                others = keys
            }
        }
    }

    /// Reads `count` columns of `row` from `column` on.
    init(_ row: borrowing Row, at column: Int, count: Int) {
        for index in 0..<count { self[index] = row.integer(column + index) }
    }
}
