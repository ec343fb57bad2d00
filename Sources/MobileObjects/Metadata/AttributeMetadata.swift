public import MobileModel

/// What is known about one attribute at run time. SMP 2.3: `SUPAttributeMetaData`.
public struct AttributeMetadata: Sendable {
    /// Position in ``EntityMetadata/attributes``, from 0: the number that generated code uses.
    public let index: Int
    /// The modelled name.
    public let name: String
    /// The column in the object's table, not quoted: of a large attribute the one with the id of its value. Nil of a structure's attribute.
    public let column: String?
    /// The type of its values; its `name` is the one that the model writes.
    public let type: AttributeType
    /// Whether there may be no value.
    public let isNullable: Bool
    /// Longest value in characters or bytes; nil where the model says nothing. SMP 2.3: `maxlength`.
    public let length: Int?
    /// The back end assigns the value when the row is created there.
    public let isGenerated: Bool
    /// Part of the modelled primary key.
    public let isKey: Bool
    /// Kept outside of the row, in chunks, and read as a stream.
    public let isLarge: Bool
    /// Value of new objects; ``AttributeValue/null`` where the model gives none.
    public let defaultValue: AttributeValue

    /// How values of the attribute are stored.
    let storage: Storage

    init(_ model: AttributeModel, index: Int, isKey: Bool, hasColumn: Bool = true) {
        self.index = index
        name = model.name
        column = hasColumn ? model.name : nil
        type = model.type
        isNullable = model.isNullable
        length = model.length
        isGenerated = model.isGenerated
        self.isKey = isKey
        isLarge = model.isLarge
        let storage = Storage(model)
        self.storage = storage
        defaultValue = model.defaultValue.flatMap { storage.attributeValue(ofDefault: $0) } ?? .null
    }

    /// The attributes of which a run-time error follows when they have no value at `create`: those without a natural empty value.
    var needsValueAtCreate: Bool {
        switch storage {
        case .scaledDecimal, .textDecimal, .date, .time, .dateTime, .json: !isNullable && !isGenerated && defaultValue.isNull
        default: false
        }
    }
}
