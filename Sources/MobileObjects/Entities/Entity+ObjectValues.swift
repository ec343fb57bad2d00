import MobileStore

/// Hooks that generated classes call for attributes and parameters whose type is an object of the model, or a list of such. Like structures they
/// lie in the row as JSON text: the attributes of each object, which by the model's rules has no large ones and no relationships. They are values
/// of their own, not rows: an object that is read from such an attribute is new.
extension Entity {
    /// An object as a value; null where it is nil.
    public final func encodedObject(_ object: Entity?) -> AttributeValue {
        guard let object else { return .null }
        // An attribute that has a value which it cannot have makes no value: a save refuses it.
        return (try? object.json()).map { .json(JSONValue.object($0).description) } ?? .null
    }

    /// A list of objects as a value; null where it is nil.
    public final func encodedObjects(_ objects: [Entity?]?) -> AttributeValue {
        guard let objects, let values = try? objects.map({ try $0.map { JSONValue.object(try $0.json()) } ?? .null }) else { return .null }
        return .json(JSONValue.array(values).description)
    }

    /// The object that a value stands for, for generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when it is none of the class, or null where that is not allowed.
    public final func decodeObject<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws -> Object? {
        try json(value, index).map { json in
            guard let object = ObjectValues<Object>(context).object(json) else { throw badValue(value, index) }
            return object
        }
    }

    /// The list of objects that a value stands for; nil where it is null.
    /// - Throws: as ``decodeObject(_:ofAttribute:)``.
    public final func decodeObjects<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws -> [Object]? {
        try json(value, index).map { json in
            guard let objects = ObjectValues<Object>(context).objects(json) else { throw badValue(value, index) }
            return objects
        }
    }

    /// The same of a list whose elements may be missing.
    /// - Throws: as ``decodeObject(_:ofAttribute:)``.
    public final func decodeNullableObjects<Object: ModelledEntity>(_ value: AttributeValue, ofAttribute index: Int) throws -> [Object?]? {
        try json(value, index).map { json in
            guard let objects = ObjectValues<Object>(context).nullableObjects(json) else { throw badValue(value, index) }
            return objects
        }
    }

    /// The JSON of a value; nil where it is null and may be.
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

/// Values that are objects, in generated initializers from rows: nil where the column is NULL or holds something else.
extension Row {
    /// An object of the model.
    public func object<Object: ModelledEntity>(_ column: Int, of context: EntityContext) -> Object? {
        json(column).flatMap { ObjectValues<Object>(context).object($0) }
    }

    /// A list of objects.
    public func objects<Object: ModelledEntity>(_ column: Int, of context: EntityContext) -> [Object]? {
        json(column).flatMap { ObjectValues<Object>(context).objects($0) }
    }

    /// A list of objects whose elements may be missing.
    public func nullableObjects<Object: ModelledEntity>(_ column: Int, of context: EntityContext) -> [Object?]? {
        json(column).flatMap { ObjectValues<Object>(context).nullableObjects($0) }
    }

    private func json(_ column: Int) -> JSONValue? { string(column).flatMap { try? JSONValue(parsing: $0) } }
}

/// Makes objects of JSON: new ones, with the attributes that the JSON has.
private struct ObjectValues<Object: ModelledEntity> {
    private let context: EntityContext

    init(_ context: EntityContext) { self.context = EntityContext(context.package, Object.metadata) }

    /// Nil where the JSON is no object, or has something that the class has not.
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

/// Hooks that generated classes call for structures and lists, which lie in the row as JSON text.
extension Entity {
    /// A structure or list as a value; null where it is nil.
    public final func encoded<T: Encodable>(_ value: T?) -> AttributeValue {
        guard let value else { return .null }
        // Generated structures can always be encoded. Where a hand-written type cannot, there is no value.
        return (try? .encoded(value)) ?? .null
    }

    /// Converts JSON text for a structure's or list's stored property; used by generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when the JSON is not of that type, or null where that is not allowed.
    public final func decode<T: Decodable>(_ value: AttributeValue, ofAttribute index: Int) throws -> T {
        let text: String
        switch value {
        case .json(let json): text = json
        case .null where metadata.attributes[index].isNullable: text = "null"
        default: throw badValue(value, index)
        }
        do { return try StructureJSON.value(text) } catch { throw badValue(value, index) }
    }
}
