internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Tests in the back end's transaction whether a row lies within the partitions of its user, where the model binds parameters of the object to attributes
/// of the user. To a user, a row outside of them does not exist.
struct RowAuthorization {
    private let object: ObjectPlan
    /// Statements and their first values. For a row of the user, at least one of them returns a row. The values of the key come last.
    private let tests: [(sql: String, values: [Value])]

    /// Returns nil for an object without bound parameters: the package's roles decide alone.
    /// - Throws: ``RequestFailure`` for a value of the user that does not fit its parameter.
    init?(_ object: ObjectPlan, access: UserAccess) throws {
        guard object.hasBoundParameters else { return nil }
        self.object = object
        let parameters = object.model.synchronizationParameters
        tests = try PartitionParameters.boundValues(of: object, access).map { values in
            let bound = try parameters.filter { $0.userAttribute != nil }.map { parameter in
                let affinity = parameter.attribute.flatMap { object.tableColumn($0) }?.affinity ?? .blob
                return (parameter, try WireConversion.value(values[parameter.name] ?? .null, of: AttributeModel(parameter), affinity: affinity))
            }
            if bound.allSatisfy({ $0.0.attribute != nil }) {
                let terms = bound.enumerated().map { place, pair in
                    "\(SQLText.quoted(object.binding.column(of: pair.0.attribute ?? ""))) IS NOT DISTINCT FROM ?\(place + 1)"
                }
                return ("SELECT 1 FROM \(SQLText.quoted(object.table.name)) WHERE \(terms.joined(separator: " AND "))", bound.map(\.1))
            }
            // Without an attribute, the model's validation demands that all parameters are bound.
            return ("SELECT 1 FROM \(object.source) WHERE 1 = 1", object.loadParameters(bound.map(\.1)))
        }
    }

    /// Whether the row lies within the user's partitions.
    func isOfUser(_ key: RowKey, in connection: Connection) throws -> Bool {
        try tests.contains { test in
            let condition = key.condition(on: object, first: test.values.count + 1)
            return try connection.first("\(test.sql) AND \(condition.sql)", test.values + condition.values) != nil
        }
    }
}
