import Foundation
public import MobileStore

/// An object with access by metadata, without generated code: for tools and clients that learn their model at run time.
public final class GenericEntity: Entity {
    private var values: [AttributeValue]

    /// Creates a new object of `context`'s class with the defaults of its model.
    public required init(context: EntityContext) {
        values = context.metadata.attributes.map { Self.initialValue($0) }
        super.init(context: context)
    }

    /// Creates the object of a row whose attributes begin at `column`.
    /// - Throws: an error that the runtime completes, where an attribute cannot have what the row holds.
    public required init(row: borrowing Row, at column: Int, context: EntityContext) throws {
        values = []
        values.reserveCapacity(context.metadata.attributeCount)
        for attribute in context.metadata.attributes {
            guard !attribute.isLarge else {
                values.append(.null)
                continue
            }
            guard let value = attribute.storage.attributeValue(row.value(column + attribute.index)) else {
                throw row.unreadable(column + attribute.index)
            }
            values.append(value)
        }
        try super.init(row: row, at: column, context: context)
    }

    /// Creates a new object of the class with this modelled name.
    ///
    ///     let customer = try GenericEntity("Customer", in: crm)
    ///     try customer.setValue("Bridge Street Café", "name")
    ///     try customer.setValue(.date(LocalDate(Date())), "since")  // today
    ///     try customer.save()
    ///
    /// - Throws: ``ObjectError/Code/noSuchClass``.
    public convenience init(_ name: String, in package: PackageDatabase) throws {
        self.init(context: EntityContext(package, try package.metadata.entity(named: name)))
    }

    public override func value(ofAttribute index: Int) -> AttributeValue { values[index] }

    override func takeValues(of stored: Entity) throws {
        guard let stored = stored as? GenericEntity else { return try super.takeValues(of: stored) }
        values = stored.values
    }

    public override func setValue(_ value: AttributeValue, ofAttribute index: Int) throws {
        let attribute = metadata.attributes[index]
        guard attribute.storage.stored(value) != nil, attribute.isNullable || attribute.isGenerated || !value.isNull, !attribute.isLarge else {
            throw badValue(value, index)
        }
        values[index] = attribute.storage.meant(value)
        attributeChanged(index)
    }

    /// Returns the value of a new object where the model has no default: the same as in generated classes.
    private static func initialValue(_ attribute: AttributeMetadata) -> AttributeValue {
        guard attribute.defaultValue.isNull, !attribute.isNullable, !attribute.isGenerated else { return attribute.defaultValue }
        switch attribute.storage {
        case .integer: return .integer(0)
        case .boolean: return .boolean(false)
        case .scaledDecimal, .textDecimal: return .decimal(0)
        case .real: return .real(0)
        case .text: return .string("")
        case .binary: return .binary([])
        case .date: return .date(.epoch)
        case .time: return .time(.midnight)
        case .dateTime: return .dateTime(.init(timeIntervalSince1970: 0))
        case .json: return .json("null")
        case .large: return .null
        }
    }
}

extension PackageDatabase {
    /// Returns the generated class, or the generic one where there is none.
    package final func objectClass(of entity: EntityMetadata) -> Entity.Type {
        let classes = type(of: self).entityClasses
        return entity.index < classes.count ? classes[entity.index] : GenericEntity.self
    }
}
