/// The differences of two snapshots of a list, by positions. A list on a screen that shows the former snapshot shows the present one after these steps: delete
/// ``removed`` (positions in the former list), insert ``inserted``, move ``moved``, reload ``updated`` (positions in the present list).
///
///     for try await step in crm.observe(Customer.all.sorted(by: \.name)).withChanges() {
///         print("\(step.changes.inserted.count) new, \(step.snapshot.count) in all")
///         if step.snapshot.isEmpty { break }  // ends the observation
///     }
public struct EntityChanges: Sendable, Hashable {
    /// An object that has another place among those that both lists have.
    public struct Move: Sendable, Hashable {
        /// The position in the former list.
        public let from: Int
        /// The position in the present list.
        public let to: Int
    }

    /// Positions in the former list of objects that the present one lacks, in rising order.
    public let removed: [Int]
    /// Positions in the present list of objects that the former one lacked, in rising order.
    public let inserted: [Int]
    /// Objects that have moved, in the order of the present list; as few as possible. A moved object may be among ``updated`` too.
    public let moved: [Move]
    /// Positions in the present list of objects whose rows have changed, in rising order.
    public let updated: [Int]

    /// Whether both lists show the same.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }
}

extension EntitySnapshot {
    /// Returns the differences of this snapshot from an earlier one of the same query. Objects are the same if they have the same surrogate key; of those that
    /// a query finds more than once, the first one counts.
    /// - Complexity: O(n log n) in the number of objects.
    public func changes(from former: EntitySnapshot) -> EntityChanges {
        let before = former.surrogateKeys, now = surrogateKeys
        let places = Dictionary(before.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
        var kept: [EntityChanges.Move] = [], inserted: [Int] = [], updated: [Int] = []
        var found: Set<Int> = []
        for (position, key) in now.enumerated() {
            guard let place = places[key], found.insert(place).inserted else {
                inserted.append(position)
                continue
            }
            kept.append(.init(from: place, to: position))
            if former.row(place) != row(position) { updated.append(position) }
        }
        let unmoved = Self.longestRise(kept.map(\.from))
        return EntityChanges(
            removed: before.indices.filter { !found.contains($0) }, inserted: inserted,
            moved: kept.enumerated().filter { !unmoved.contains($0.offset) }.map(\.element), updated: updated)
    }

    /// Returns the places of a longest rising subsequence: the objects that can stay where they are.
    private static func longestRise(_ numbers: [Int]) -> Set<Int> {
        // For each length, the place of the smallest number that ends a rise of this length; and each place's predecessor in its rise.
        var ends: [Int] = [], previous: [Int?] = []
        for (place, number) in numbers.enumerated() {
            var low = 0, high = ends.count
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            previous.append(low == 0 ? nil : ends[low - 1])
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var rise: Set<Int> = [], next = ends.last
        while let place = next {
            rise.insert(place)
            next = previous[place]
        }
        return rise
    }
}

/// The snapshots of an observed query, each with its differences from the previous one. Results that show the same as the previous one are left out, except
/// those of a query that reads relatives along, which are not compared. The first snapshot is all inserted.
public struct ChangeObservation<Root: Entity>: AsyncSequence, Sendable {
    /// A snapshot, and the way to it.
    public struct Element: Sendable {
        /// The objects now.
        public let snapshot: EntitySnapshot<Root>
        /// The differences from the previous snapshot.
        public let changes: EntityChanges
    }

    fileprivate let source: QueryObservation<EntitySnapshot<Root>>

    /// Begins to observe with the request of the first result.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source.makeAsyncIterator()) }

    /// Waits for commits, reads and compares.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate var source: QueryObservation<EntitySnapshot<Root>>.Iterator
        private var last: EntitySnapshot<Root>?

        fileprivate init(source: QueryObservation<EntitySnapshot<Root>>.Iterator) { self.source = source }

        /// Returns the next snapshot that differs; nil when the task is cancelled or the database was closed.
        /// - Throws: ``ObjectError``: as `PackageDatabase.executeQuery(_:)`.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Element? {
            while let snapshot = try await source.next(isolation: actor) {
                guard let last else {
                    last = snapshot
                    return Element(
                        snapshot: snapshot, changes: .init(removed: [], inserted: Array(0..<snapshot.count), moved: [], updated: []))
                }
                let changes = snapshot.changes(from: last)
                self.last = snapshot
                if !changes.isEmpty || snapshot.hasRelatives { return Element(snapshot: snapshot, changes: changes) }
            }
            return nil
        }
    }
}

extension QueryObservation {
    /// Gives each snapshot with its differences from the previous one: see ``EntityChanges``.
    public func withChanges<Root>() -> ChangeObservation<Root> where Element == EntitySnapshot<Root> { ChangeObservation(source: self) }
}
