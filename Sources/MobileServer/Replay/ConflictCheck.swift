internal import MobileCrypto
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// Tests in the back end's transaction whether a row is still as its device saw it, for an object that refuses conflicts.
///
/// **A device is never in conflict with itself.** The record of each accepted operation has the digest of the row that it left. A later operation that
/// follows it is done if the row still has that digest, although it does not have the values that the device saw: these lack the earlier operation,
/// and what the back end computed in it.
struct ConflictCheck {
    private let object: ObjectPlan
    /// The parameters of the client's partitions of the object.
    private let partitions: [[String: Value]]

    /// - Throws: ``RequestFailure`` for parameters that do not fit the object.
    init(_ object: ObjectPlan, _ header: SynchronizeHeader, access: UserAccess) throws(RequestFailure) {
        self.object = object
        let sets = try PartitionParameters.sets(
            of: object, subscriptions: header.subscriptions[object.name], personalization: header.personalization.with(user: access.user),
            access: access)
        let names = object.model.synchronizationParameters.map(\.name)
        partitions = sets.map { Dictionary(zip(names, $0.values)) { $1 } }
    }

    /// A row of the back end as the device may see it.
    struct Row {
        /// The values by attribute; nil for a row that is in none of the client's partitions.
        let values: JSONObject?
        /// Equal rows have equal digests.
        let digest: String
        /// Whether its attributes cannot hold the row.
        var isUnfit = false
    }

    /// Returns the row with this key. A row outside of the client's partitions has no version: one that the device itself has moved there counts as
    /// unchanged while it stays there. The row cannot change any more before the transaction ends.
    func row(_ key: RowKey, in transaction: any BackEndTransaction) throws -> Row {
        try transaction.lock(key, of: object.model)
        for parameters in partitions {
            var found: JSONObject?, unfit: UnfitRow?
            try transaction.load(object.model, parameters: parameters, keys: [key]) { row in
                switch row.held(by: object) {
                case .fit(let row): found = try values(of: row)
                case .unfit(let row): unfit = row
                }
            }
            if let unfit { return Row(values: nil, digest: "\(unfit.attribute) \(unfit.value)", isUnfit: true) }
            guard let found else { continue }
            let texts = JSONValue.array(object.rowAttributes.map { .string(Self.text(found[$0.name] ?? .null, of: $0)) })
            return Row(values: found, digest: try SHA256.digest(of: texts.bytes).hexadecimal)
        }
        return Row(values: nil, digest: "")
    }

    private func values(of row: LoadedRow) throws -> JSONObject {
        let values = try JSONValue(parsing: "[\(row.attributes)]").array ?? []
        // Rows of downloads have 0 and 1 for booleans, operations have false and true.
        let members = zip(object.rowAttributes, values).map { attribute, value in
            (attribute.name, attribute.type == .boolean ? value.integer.map { .boolean($0 != 0) } ?? value : value)
        }
        return JSONObject(uniqueKeys: members)
    }

    /// - Parameter left: the digest of the row that the device's previous operation on it left; nil without one.
    /// - Throws: ``Rejection`` with ``ResultCode/changedSince`` for a conflict.
    func check(_ frame: OperationFrame, _ key: RowKey, left: String?, in transaction: any BackEndTransaction) throws {
        let row = try row(key, in: transaction)
        if let left, left == row.digest { return }
        if row.isUnfit {
            throw Rejection(ResultCode.changedSince, "the row of \"\(object.name)\" has a value in the back end that its attribute cannot hold")
        }
        guard let values = row.values else {
            throw Rejection(ResultCode.changedSince, "the row of \"\(object.name)\" is not among the device's rows in the back end any more")
        }
        let original = frame.original ?? [:]
        if left != nil, original.isEmpty {
            // The device has not seen the row since its own operation, so that no value can show a change.
            throw Rejection(
                ResultCode.changedSince, "the row of \"\(object.name)\" changed in the back end since the device's previous operation on it",
                row: values)
        }
        let changed = object.rowAttributes.filter { attribute in
            guard let before = original[attribute.name] else { return false }
            return Self.text(before, of: attribute) != Self.text(values[attribute.name] ?? .null, of: attribute)
        }
        guard !changed.isEmpty else { return }
        let names = changed.map { "\"\($0.name)\"" }.joined(separator: ", ")
        throw Rejection(
            ResultCode.changedSince, "the row of \"\(object.name)\" changed in the back end since the device last saw it: \(names)", row: values)
    }

    /// Returns a text that is the same for all notations of a value, those of a back end's driver included.
    private static func text(_ json: JSONValue, of attribute: AttributeModel) -> String {
        let value = (try? WireConversion.normalized(json, of: attribute)) ?? json
        guard let string = value.string else { return value.description }
        if attribute.type == .dateTime, string.hasSuffix("Z") {
            let parts = string.dropLast().split(separator: ".", maxSplits: 1), fraction = parts.count > 1 ? String(parts[1]) : ""
            return parts[0] + "." + fraction + String(repeating: "0", count: max(0, 3 - fraction.count)) + "Z"
        }
        if attribute.type.isComplex, let parsed = try? JSONValue(parsing: string) { return parsed.description }
        return value.description
    }
}
