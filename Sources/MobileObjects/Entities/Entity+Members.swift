import MobileModel
public import MobileStore

/// Access to attributes by their modelled names, for generic objects and generated classes. SMP 2.3: the object manager; for relationships see
/// `children`, for operations `call`.
extension Entity {
    /// Returns the value of the attribute with this modelled name; ``AttributeValue/null`` for large ones.
    ///
    ///     for attribute in customer.metadata.attributes {
    ///         try print("\(attribute.name): \(customer.value(attribute.name))")
    ///     }
    ///
    /// - Throws: ``ObjectError/Code/noSuchAttribute``.
    public final func value(_ name: String) throws -> AttributeValue {
        value(ofAttribute: try metadata.attribute(named: name).index)
    }

    /// Sets the attribute with this modelled name.
    ///
    ///     let changes: [String: AttributeValue] = ["city": "Galway", "creditLimit": .decimal(500)]
    ///     for (name, value) in changes { try customer.setValue(value, name) }
    ///     try customer.save()
    ///
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/invalidValue``.
    public final func setValue(_ value: AttributeValue, _ name: String) throws {
        try setValue(value, ofAttribute: try metadata.attribute(named: name).index)
    }

    /// Returns the stream of the `bigBinary` attribute with this modelled name; the same one each time.
    ///
    ///     let picture = try product.bigBinary("picture")
    ///     try picture.copyFromFile(file)
    ///     try product.update()
    ///
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/misuse`` for an attribute of another type.
    public final func bigBinary(_ name: String) throws -> BigBinary { bigBinary(try largeAttribute(name, .bigBinary)) }

    /// Returns the stream of the `bigString` attribute with this modelled name; the same one each time.
    ///
    ///     let notes = try customer.bigString("notes")
    ///     try notes.openForWrite()
    ///     try notes.write("Call before noon.")
    ///     try notes.close()
    ///     try customer.update()
    ///
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/misuse`` for an attribute of another type.
    public final func bigString(_ name: String) throws -> BigString { bigString(try largeAttribute(name, .bigString)) }

    private final func largeAttribute(_ name: String, _ type: AttributeType) throws -> Int {
        let attribute = try metadata.attribute(named: name)
        guard attribute.type == type else {
            throw ObjectError(.misuse, "\(metadata.name).\(name): its type is \(attribute.type.name), not \(type.name)")
        }
        return attribute.index
    }
}
