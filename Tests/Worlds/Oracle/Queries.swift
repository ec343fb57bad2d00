internal import MobileObjects

/// Queries, pages, lists and searches find what all rows show.
extension Rig {
    func compareQueries(_ device: DeviceBench, _ shown: [ShownRow], _ place: String) throws {
        for object in world.objects.indices {
            let rows = shown.filter { $0.object == object }, entity = try device.package.entity(World.name(object))
            func require(_ found: [String], _ expected: [String], _ text: String) throws {
                guard found != expected else { return }
                throw failure(.wrongQuery, "\(place): \(text) of \(World.name(object)) finds \(found) instead of \(expected)")
            }
            func tags(_ objects: some Sequence<GenericEntity>) throws -> [String] { try objects.map { try $0.value("tag").description } }
            let stamps = Dictionary(uniqueKeysWithValues: rows.map { ($0.tag, $0.values["stamp"] ?? "") })
            if let observer = device.observers[object], let others = observer.others(than: stamps) {
                throw failure(.wrongQuery, "\(place): an observer of \(World.name(object)) shows \(others) instead of \(stamps)")
            }
            try require(["\(entity.count)"], ["\(rows.count)"], "the count")
            try check(.localFailure, "\(place): queries of \(World.name(object))") {
                // Tags are ASCII.
                let sorted = Query().sorted(by: .ascending("tag")), expected = rows.map(\.tag).sorted()
                var pages: [String] = []
                while true {
                    let page = try tags(entity.findWithQuery(sorted.skip(pages.count).take(2)))
                    pages += page
                    if page.count < 2 { break }
                }
                try require(pages, expected, "a query by pages")
                let falling = Query().sorted(by: .descending("tag"))
                try require(try tags(entity.cursor(falling, pageSize: 2)), expected.reversed(), "a cursor from the end")
                let list = try entity.list(sorted, pageSize: 2)
                try require(try (0..<(try list.count())).reversed().map { try list[$0].value("tag").description }, expected.reversed(), "a list")
                try require(try tags(entity.cursor(sorted, pageSize: 3)), expected, "a cursor")
                // A new row has no number yet, and one that is gone in the back end has none any more where another row has it.
                for row in rows where world.objects[object].key != .generated || row.change != .create && row.key(world) != [""] {
                    let key = zip(row.key(world), world.keyTypes(object)).map { $1.attributeValue($0) }
                    let found = try key.count == 1 ? entity.findByPrimaryKey(key[0]) : entity.findByPrimaryKey(key[0], key[1])
                    try require([found].compactMap { $0 }.map { try $0.value("tag").description }, [row.tag], "the key \(row.key(world))")
                }
                try self.compareTests(device, object, rows, require)
            }
        }
    }

    /// Tests of values and searches for words.
    private func compareTests(
        _ device: DeviceBench, _ object: Int, _ rows: [ShownRow], _ require: ([String], [String], String) throws -> Void
    ) throws {
        let entity = try device.package.entity(World.name(object))
        func tags(_ test: TestCriteria) throws -> [String] {
            try entity.findWithQuery(Query().where(test)).map { try $0.value("tag").description }.sorted()
        }
        for (index, attribute) in world.objects[object].attributes.enumerated()
        where attribute.isIn(version: device.version) && attribute.type != .largeBinary {
            let name = world.attribute(ofColumn: "a\(index)", object, version: device.version), type = attribute.type(version: device.version)
            for value in Set(rows.map { $0.values["a\(index)"] }) {
                let expected = rows.filter { $0.values["a\(index)"] == value }.map(\.tag).sorted()
                try require(
                    try tags(value == nil ? .isNull(name) : .equal(name, type.attributeValue(value))), expected, "\(name) = \(value ?? "NULL")")
            }
            guard attribute.isSearchable else { continue }
            for (text, value) in Self.searches {
                let expected = rows.filter { $0.values["a\(index)"] == value }.map(\.tag).sorted()
                try require(try tags(.matching(text, in: name)), expected, "a search for \(text)")
            }
        }
    }

    /// Texts of searches, each with the only value in the pool of strings that it finds.
    private static let searches = [
        ("plain", "plain"), ("apf", "Äpfel 🍎 it's \"new\""), ("tab brea", "line\nbreak\ttab"), ("TAB line", "line\nbreak\ttab"),
        ("neill", "O'Neill; --"),
    ]
}
