public import MobileModel
package import MobileStore

/// One attribute at run time. SMP 2.3: `SUPAttributeMetaData`.
public struct AttributeMetadata: Sendable {
    /// Position in ``EntityMetadata/attributes``, from 0: the number that generated code uses.
    public let index: Int
    /// The modelled name.
    public let name: String
    /// The column in the object's table, not quoted; for a large attribute the one with the id of its value. Nil for a structure's attribute.
    public let column: String?
    /// The type of its values. The type's `name` is the one in the model.
    public let type: AttributeType
    /// Whether the value may be null.
    public let isNullable: Bool
    /// The greatest length of a value in characters or bytes; nil where the model defines none. SMP 2.3: `maxlength`.
    public let length: Int?
    /// Whether the back end assigns the value when the row is created there.
    public let isGenerated: Bool
    /// Whether the database has an index of the words of the string: see ``TextSearch``.
    public let isSearchable: Bool
    /// Whether the attribute is part of the modelled primary key.
    public let isKey: Bool
    /// Whether the value is stored outside of the row, in chunks, and read as a stream.
    public let isLarge: Bool
    /// The value of new objects; ``AttributeValue/null`` where the model defines none.
    public let defaultValue: AttributeValue

    /// The stored form of the values.
    let storage: Storage
    /// The values that may be saved; nil for all.
    let allowedValues: ValueRule?

    init(_ model: AttributeModel, index: Int, isKey: Bool, hasColumn: Bool = true) {
        self.index = index
        name = model.name
        column = hasColumn ? model.name : nil
        type = model.type
        isNullable = model.isNullable
        length = model.length
        isGenerated = model.isGenerated
        isSearchable = model.isSearchable
        self.isKey = isKey
        isLarge = model.isLarge
        let storage = Storage(model)
        self.storage = storage
        allowedValues = ValueRule(model, storage)
        defaultValue = model.defaultValue.flatMap { storage.attributeValue(ofDefault: $0) } ?? .null
    }

    /// Returns the reason why `create()`, `update()` and `save()` refuse a value, such as `-1 is not allowed: at least 0.01`; nil where they take it. A form can
    /// tell its user before it saves:
    /// ```swift
    /// if let reason = try Album.metadata.attribute(named: "price").refusal(of: .decimal(price)) { show(reason) }
    /// ```
    public func refusal(of value: AttributeValue) -> String? { checked(value).refusal }

    /// Returns a value as stored, and the reason why it is not saved; NULL if the attribute cannot store it.
    func checked(_ value: AttributeValue) -> (stored: Value, refusal: String?) {
        guard let stored = storage.stored(value), isNullable || !stored.isNull else { return (.null, storage.misfit(value, type: "\(type)")) }
        return (stored, Storage.excess(value, over: length) ?? allowedValues?.violation(value))
    }

    /// Returns a value from the attribute's column as JSON: decimals with their point, binaries as base64.
    package func json(of stored: Value) -> JSONValue { storage.json(stored) }

    /// Whether `create` fails without a value: true for types without a natural empty value.
    var needsValueAtCreate: Bool {
        switch storage {
        case .scaledDecimal, .textDecimal, .date, .time, .dateTime, .json: !isNullable && !isGenerated && defaultValue.isNull
        default: false
        }
    }
}
