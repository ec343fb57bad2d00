internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Tests in the back end's transaction whether a row lies within the partitions of its user, where the model binds parameters of the object to attributes
/// of the user. To a user, a row outside of them does not exist.
struct RowAuthorization {
    private let object: ObjectPlan
    /// For each combination of the user's values: the values of attributes that his rows have, or the parameters of a partition with his rows.
    private let tests: [Test]

    private enum Test {
        case attributes(JSONObject)
        case partition([String: Value])
    }

    /// Returns nil for an object without bound parameters: the package's roles decide alone.
    /// - Throws: ``RequestFailure`` for a value of the user that does not fit its parameter.
    init?(_ object: ObjectPlan, access: UserAccess) throws {
        guard object.hasBoundParameters else { return nil }
        self.object = object
        let bound = object.model.synchronizationParameters.filter { $0.userAttribute != nil }
        tests = try PartitionParameters.boundValues(of: object, access).map { values in
            if bound.allSatisfy({ $0.attribute != nil }) {
                return .attributes(JSONObject(uniqueKeys: bound.map { ($0.attribute ?? "", values[$0.name] ?? .null) }))
            }
            // Without an attribute, the model's validation demands that all parameters are bound.
            let pairs = try bound.map { parameter in
                (parameter.name, try WireConversion.value(values[parameter.name] ?? .null, of: AttributeModel(parameter), affinity: .blob))
            }
            return .partition(Dictionary(pairs) { $1 })
        }
    }

    /// Whether the row lies within the user's partitions.
    func isOfUser(_ key: RowKey, in transaction: any BackEndTransaction) throws -> Bool {
        try tests.contains { test in
            switch test {
            case .attributes(let values): return try transaction.contains(key, of: object.model, having: values)
            case .partition(let parameters):
                var isFound = false
                try transaction.load(object.model, parameters: parameters, keys: [key]) { _ in isFound = true }
                return isFound
            }
        }
    }
}
