import MobileStore

/// Places of a list that are known: by how many rows stand before it, the values that the row before it is ordered by. Not more than
/// ``maximum``: a list of a million objects keeps fewer of them, and goes over some rows from the one before.
struct ListPlaces {
    static let maximum = 512

    private var places: [(position: Int, values: [Value])] = []
    /// Places are not nearer to each other than this.
    private var distance = 0

    /// The last known place at or before a position; nil where the beginning is nearest.
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

    /// Keeps every second one.
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
