import MobileStore
import Testing

@testable import MobileObjects

/// The places of a list that are remembered.
@Suite struct ListPlacesTests {
    @Test("places of a list are found again, and not more are kept than the list needs", arguments: [100, 10_000, 1_000_000])
    func places(count: Int) {
        var places = ListPlaces()
        for position in stride(from: 100, through: count, by: 100) { places.insert(position, [.integer(Int64(position))]) }
        #expect(places.count <= ListPlaces.maximum && places.count >= min(count / 100, ListPlaces.maximum / 4))
        for position in [100, 150, count / 2, count, count + 1000] where position <= count {
            guard let found = places.nearest(position) else { continue }
            #expect(found.position <= position && position - found.position <= max(100, 8 * count / ListPlaces.maximum))
            #expect(found.values == [.integer(Int64(found.position))])
        }
        #expect(places.nearest(99) == nil)
        places.removeAll()
        #expect(places.nearest(count) == nil && places.count == 0)
    }
}
