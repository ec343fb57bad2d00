/// A set of attributes and references of an object, by position: a bit for each. It allocates nothing up to 64 positions.
struct PositionSet: Sendable, Equatable {
    private var low: UInt64 = 0
    /// Nil, not empty, so that most objects have no memory to release here at their end.
    private var high: Set<Int>?

    init() {}

    init(_ positions: some Sequence<Int>) { for position in positions { insert(position) } }

    var isEmpty: Bool { low == 0 && high == nil }

    mutating func insert(_ index: Int) {
        if index < 64 { low |= 1 << UInt64(index) } else { high = (high ?? []).union([index]) }
    }

    mutating func remove(_ index: Int) {
        if index < 64 {
            low &= ~(1 << UInt64(index))
        } else {
            high?.remove(index)
            if high?.isEmpty == true { high = nil }
        }
    }

    func contains(_ index: Int) -> Bool {
        index < 64 ? low & (1 << UInt64(index)) != 0 : high?.contains(index) ?? false
    }

    mutating func removeAll() {
        low = 0
        high = nil
    }

    mutating func formUnion(_ other: PositionSet) {
        low |= other.low
        if let more = other.high { high = more.union(high ?? []) }
    }
}
