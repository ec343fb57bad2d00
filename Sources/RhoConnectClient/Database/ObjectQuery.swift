internal import MobileStore

/// The SQL of a query of one model, the same for both kinds of storage.
struct ObjectQuery {
    private let source: Source
    private let query: RhomQuery
    private var values: [Value] = []

    init(_ source: Source, _ query: RhomQuery) throws(RhoConnectError) {
        guard query.offset >= 0, query.limit ?? 0 >= 0 else {
            throw RhoConnectError(.runtime, "find in \"\(source.name)\": limit \(query.limit ?? 0) and offset \(query.offset) must not be negative")
        }
        self.source = source
        self.query = query
    }

    /// The ids of the objects, in order.
    func ids(in connection: Connection) throws(StoreError) -> [String] {
        var builder = self
        let sql = builder.selection("o.object") + builder.ordering() + builder.window()
        return try connection.rows(sql, builder.values).compactMap(\.first?.text)
    }

    /// The number of objects, without limit and offset.
    func count(in connection: Connection) throws(StoreError) -> Int {
        var builder = self
        if query.conditions.isEmpty && query.after == nil { return try source.table.count(in: connection) }
        let sql = "SELECT count(*) FROM (\(builder.selection("o.object")))"
        return Int(try connection.first(sql, builder.values)?.first?.integer ?? 0)
    }

    /// The objects, in order.
    func objects(in connection: Connection) throws(StoreError) -> [RhomObject] {
        if query.conditions.isEmpty && query.order.isEmpty && query.offset == 0 && source.table.columns == nil { return try scan(in: connection) }
        var objects: [RhomObject] = []
        for id in try ids(in: connection) {
            guard let attributes = try source.table.attributes(of: id, in: connection) else { continue }
            objects.append(complete(attributes.filter { query.attributes?.contains($0.key) != false }, id))
        }
        return objects
    }

    /// All objects of a property bag from one place on, by one pass over their values.
    private func scan(in connection: Connection) throws(StoreError) -> [RhomObject] {
        let statement = try connection.statement(
            "SELECT object, attrib, value FROM object_values WHERE source_id = ?1 AND object > ?2 ORDER BY object, attrib")
        try statement.bind([Value(source.id), .text(query.after ?? "")])
        var objects: [RhomObject] = []
        var id: String?, attributes: [String: String] = [:]
        let limit = query.limit ?? .max
        while objects.count < limit, try statement.step() {
            let object = statement.text(0) ?? ""
            if let last = id, last != object {
                objects.append(complete(attributes, last))
                attributes = [:]
            }
            id = object
            guard let name = statement.text(1), query.attributes?.contains(name) != false else { continue }
            attributes[name] = statement.text(2)
        }
        if let id, objects.count < limit { objects.append(complete(attributes, id)) }
        return objects
    }

    private func complete(_ attributes: [String: String], _ id: String) -> RhomObject {
        var object = attributes
        object["object"] = id
        object["source_id"] = String(source.id)
        return object
    }

    // MARK: The parts of the statement

    private mutating func parameter(_ value: Value) -> String {
        values.append(value)
        return "?\(values.count)"
    }

    /// The rows with one condition that an index answers as the outer loop, and the others as tests of each row.
    private mutating func selection(_ result: String) -> String {
        var conditions = query.conditions
        var tests: [String] = []
        let from: String
        if source.table.columns != nil {
            from = source.table.name.quoted + " o"
        } else if let first = conditions.firstIndex(where: { $0.isDriving }) {
            // The index on source, attribute and value finds the objects, in the order of their ids where the value is the same.
            let driving = conditions.remove(at: first)
            from = "object_values o"
            tests.append("o.source_id = \(parameter(Value(source.id)))")
            tests.append("o.attrib = \(parameter(.text(driving.attribute)))")
            tests.append(comparison(driving, "o.value"))
        } else {
            from = "(SELECT DISTINCT object FROM object_values WHERE source_id = \(parameter(Value(source.id)))\(afterTest())) o"
        }
        if let after = query.after, !(source.table.columns == nil && !query.conditions.contains { $0.isDriving }) {
            tests.append("o.object > \(parameter(.text(after)))")
        }
        tests += conditions.map { test($0) }
        return "SELECT \(result) FROM \(from)" + (tests.isEmpty ? "" : " WHERE " + tests.joined(separator: " AND "))
    }

    private mutating func afterTest() -> String { query.after.map { " AND object > \(parameter(.text($0)))" } ?? "" }

    /// A test of the object in the row `o`.
    private mutating func test(_ condition: RhomCondition) -> String {
        if condition.attribute == "object" { return comparison(condition, "o.object") }
        if let columns = source.table.columns {
            guard columns.contains(condition.attribute) else { return condition.test == .isAbsent ? "1" : "0" }
            return comparison(condition, "o.\(condition.attribute.quoted)")
        }
        let place = """
            SELECT 1 FROM object_values v WHERE v.source_id = \(parameter(Value(source.id))) AND v.object = o.object
            AND v.attrib = \(parameter(.text(condition.attribute)))
            """
        switch condition.test {
        case .exists: return "EXISTS (\(place))"
        case .isAbsent: return "NOT EXISTS (\(place))"
        default: return "EXISTS (\(place) AND \(comparison(condition, "v.value")))"
        }
    }

    private mutating func comparison(_ condition: RhomCondition, _ place: String) -> String {
        let left = condition.isNumeric ? "CAST(\(place) AS REAL)" : place
        func right(_ text: String) -> String {
            let parameter = parameter(.text(text))
            return condition.isNumeric ? "CAST(\(parameter) AS REAL)" : parameter
        }
        switch condition.test {
        case .equal(let text): return "\(left) = \(right(text))"
        case .notEqual(let text): return "\(left) <> \(right(text))"
        case .less(let text): return "\(left) < \(right(text))"
        case .lessOrEqual(let text): return "\(left) <= \(right(text))"
        case .greater(let text): return "\(left) > \(right(text))"
        case .greaterOrEqual(let text): return "\(left) >= \(right(text))"
        case .oneOf(let texts): return "\(left) IN (\(texts.map { right($0) }.joined(separator: ", ")))"
        case .contains(let text): return "instr(\(place), \(parameter(.text(text)))) > 0"
        case .beginsWith(let text): return "substr(\(place), 1, length(\(parameter(.text(text))))) = \(parameter(.text(text)))"
        case .exists: return "\(place) IS NOT NULL"
        case .isAbsent: return "\(place) IS NULL"
        }
    }

    private mutating func ordering() -> String {
        var terms: [String] = []
        for term in query.order {
            var value: String
            if term.attribute == "object" {
                value = "o.object"
            } else if let columns = source.table.columns {
                guard columns.contains(term.attribute) else { continue }
                value = "o.\(term.attribute.quoted)"
            } else {
                value = """
                    (SELECT v.value FROM object_values v WHERE v.source_id = \(parameter(Value(source.id))) AND v.object = o.object
                    AND v.attrib = \(parameter(.text(term.attribute))))
                    """
            }
            if term.isNumeric { value = "CAST(\(value) AS REAL)" }
            terms.append(value + (term.isDescending ? " DESC" : ""))
        }
        return " ORDER BY " + (terms + ["o.object"]).joined(separator: ", ")
    }

    private mutating func window() -> String {
        guard query.limit != nil || query.offset > 0 else { return "" }
        return " LIMIT \(parameter(Value(query.limit ?? -1))) OFFSET \(parameter(Value(query.offset)))"
    }
}

extension RhomCondition {
    /// Whether the index on values finds the objects.
    fileprivate var isDriving: Bool {
        guard attribute != "object" else { return false }
        switch test {
        case .equal, .oneOf: return !isNumeric
        default: return false
        }
    }
}
