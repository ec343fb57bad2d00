import MobileStore

/// Hooks that generated classes call for attributes and parameters whose type is an object of the model or a list of objects. Like structures,
/// they are stored in the row as JSON text with the attributes of each object. By the model's rules such an object has no large attributes and
/// no relationships. It is a value, not a row: an object that is read from such an attribute is new.
extension Entity {
    /// Returns an object as a value; null where it is nil.
    @_spi(GeneratedCode) public final func encodedObject(_ object: Entity?) -> AttributeValue {
        guard let object else { return .null }
        // An attribute with an invalid value makes the whole value null, and a save refuses that.
        return (try? object.json()).map { .json(JSONValue.object($0).description) } ?? .null
    }

    /// Returns a list of objects as a value; null where it is nil.
    @_spi(GeneratedCode) public final func encodedObjects(_ objects: [Entity?]?) -> AttributeValue {
        guard let objects, let values = try? objects.map({ try $0.map { JSONValue.object(try $0.json()) } ?? .null }) else { return .null }
        return .json(JSONValue.array(values).description)
    }

    /// Returns the object of a value, for generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when it is not an object of the class, or null where that is not allowed.
    @_spi(GeneratedCode) public final func decodeObject<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws -> Object? {
        try json(value, index).map { json in
            guard let object = ObjectValues<Object>(context).object(json) else { throw badValue(value, index) }
            return object
        }
    }

    /// Returns the list of objects of a value; nil where it is null.
    /// - Throws: as ``decodeObject(_:ofAttribute:)``.
    @_spi(GeneratedCode) public final func decodeObjects<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws -> [Object]?
    {
        try json(value, index).map { json in
            guard let objects = ObjectValues<Object>(context).objects(json) else { throw badValue(value, index) }
            return objects
        }
    }

    /// Returns a list of objects whose elements may be missing.
    /// - Throws: as ``decodeObject(_:ofAttribute:)``.
    @_spi(GeneratedCode) public final func decodeNullableObjects<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws
        -> [Object?]?
    {
        try json(value, index).map { json in
            guard let objects = ObjectValues<Object>(context).nullableObjects(json) else { throw badValue(value, index) }
            return objects
        }
    }

    /// Returns the JSON of a value; nil where it is null and may be.
    private final func json(_ value: AttributeValue, _ index: Int) throws -> JSONValue? {
        switch value {
        case .json(let text):
            guard let json = try? JSONValue(parsing: text) else { throw badValue(value, index) }
            return json.isNull && metadata.attributes[index].isNullable ? nil : json
        case .null where metadata.attributes[index].isNullable: return nil
        default: throw badValue(value, index)
        }
    }
}

/// Values that are objects, for generated initializers from rows. They are nil where the column is NULL, and throw as the readers of other types.
extension Row {
    /// Returns an object of the model.
    @_spi(GeneratedCode) public func readObject<Object: ModelledEntity>(_ column: Int, of context: EntityContext) throws -> Object? {
        try made(column) { ObjectValues<Object>(context).object($0) }
    }

    /// Returns a list of objects.
    @_spi(GeneratedCode) public func readObjects<Object: ModelledEntity>(_ column: Int, of context: EntityContext) throws -> [Object]? {
        try made(column) { ObjectValues<Object>(context).objects($0) }
    }

    /// Returns a list of objects whose elements may be missing.
    @_spi(GeneratedCode) public func readNullableObjects<Object: ModelledEntity>(_ column: Int, of context: EntityContext) throws -> [Object?]? {
        try made(column) { ObjectValues<Object>(context).nullableObjects($0) }
    }

    private func made<T>(_ column: Int, _ make: (JSONValue) -> T?) throws -> T? {
        guard let text = try readString(column) else { return nil }
        guard let json = try? JSONValue(parsing: text) else { throw unreadable(column) }
        guard !json.isNull else { return nil }
        guard let value = make(json) else { throw unreadable(column) }
        return value
    }
}

/// Makes new objects from JSON, with the attributes in the JSON.
private struct ObjectValues<Object: ModelledEntity> {
    private let context: EntityContext

    init(_ context: EntityContext) { self.context = EntityContext(context.package, Object.metadata) }

    /// Returns nil where the JSON is not an object, or has a member that the class does not have.
    func object(_ json: JSONValue) -> Object? {
        guard let members = json.object else { return nil }
        let object = Object(context: context)
        for member in members {
            guard let attribute = context.metadata.attribute(ifNamed: member.key), let value = attribute.storage.attributeValue(member.value),
                (try? object.setValue(value, ofAttribute: attribute.index)) != nil
            else { return nil }
        }
        return object
    }

    func nullableObjects(_ json: JSONValue) -> [Object?]? {
        guard let elements = json.array else { return nil }
        var objects: [Object?] = []
        for element in elements {
            let object = object(element)
            if object == nil, !element.isNull { return nil }
            objects.append(object)
        }
        return objects
    }

    func objects(_ json: JSONValue) -> [Object]? {
        guard let objects = nullableObjects(json) else { return nil }
        let present = objects.compactMap { $0 }
        return present.count == objects.count ? present : nil
    }
}

/// Hooks that generated classes call for structures and lists, which are stored in the row as JSON text.
extension Entity {
    /// Returns a structure or list as a value; null where it is nil.
    @_spi(GeneratedCode) public final func encoded<T: Encodable>(_ value: T?) -> AttributeValue {
        guard let value else { return .null }
        // Generated structures can always be encoded. A hand-written type that cannot be encoded gives null.
        return (try? .encoded(value)) ?? .null
    }

    /// Converts JSON text for a structure's or list's stored property; used by generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when the JSON is not of that type, or null where that is not allowed.
    @_spi(GeneratedCode) public final func decode<T: Decodable>(_ value: AttributeValue, ofAttribute index: Int) throws -> T {
        let text: String
        switch value {
        case .json(let json): text = json
        case .null where metadata.attributes[index].isNullable: text = "null"
        default: throw badValue(value, index)
        }
        do { return try StructureJSON.value(text) } catch { throw badValue(value, index) }
    }
}
