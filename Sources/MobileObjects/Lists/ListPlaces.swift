import MobileStore

/// The known places of a list: the number of rows before each, and the values that order the row before it. There are at most ``maximum`` places: in
/// a list of a million objects they are further apart, and a reader iterates over some rows from the previous place.
struct ListPlaces {
    static let maximum = 512

    private var places: [(position: Int, values: [Value])] = []
    /// The minimum distance between two places.
    private var distance = 0

    /// Returns the last known place at or before a position; nil where the beginning is nearest.
    func nearest(_ position: Int) -> (position: Int, values: [Value])? {
        let end = firstIndex(behind: position)
        return end > 0 ? places[end - 1] : nil
    }

    mutating func insert(_ position: Int, _ values: [Value]) {
        let index = firstIndex(behind: position)
        if index > 0, position - places[index - 1].position < max(1, distance) { return }
        if index < places.count, places[index].position - position < distance { return }
        places.insert((position, values), at: index)
        if places.count > Self.maximum { thinOut() }
    }

    mutating func removeAll() {
        places = []
        distance = 0
    }

    var count: Int { places.count }

    /// Raises the minimum distance, and drops places that are too near to the previous one.
    private mutating func thinOut() {
        let span = (places.last?.position ?? 0) - (places.first?.position ?? 0)
        distance = max(1, distance * 2, 2 * span / Self.maximum)
        var last = -distance
        places = places.filter { place in
            guard place.position - last >= distance else { return false }
            last = place.position
            return true
        }
    }

    private func firstIndex(behind position: Int) -> Int {
        var low = 0, high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].position <= position { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
