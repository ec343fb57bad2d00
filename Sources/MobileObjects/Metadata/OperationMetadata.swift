public import MobileModel

/// One operation at run time. SMP 2.3: `SUPOperationMetaData`.
public struct OperationMetadata: Sendable {
    /// Position in ``EntityMetadata/operations``, from 0: the number that generated code uses.
    public let index: Int
    /// The modelled name.
    public let name: String
    /// The effect of the operation on a row; `other` has none.
    public let kind: OperationModel.Kind
    /// The parameters in the order of the model, including those that attributes fill.
    public let parameters: [ParameterMetadata]
    /// Whether the plain `create`, `update` or `delete` calls this operation.
    public let isDefault: Bool
    /// Whether the object has no other operation of the kind. A server then needs no name.
    let isOnlyOfItsKind: Bool
    /// The positions of attributes of the primary key by those of parameters, for an operation of kind other that is about one object.
    let keyParameters: [Int: Int]
    let model: OperationModel

    init(_ model: OperationModel, index: Int, of object: ObjectModel, _ attributes: [AttributeMetadata]) {
        self.index = index
        self.model = model
        name = model.name
        kind = model.kind
        isDefault = object.defaultOperation(model.kind)?.name == model.name
        keyParameters = object.keyParameters(of: model)
        isOnlyOfItsKind = object.operations.count { $0.kind == model.kind } == 1
        parameters = model.parameters.map { parameter in
            ParameterMetadata(parameter, attribute: parameter.attribute.flatMap { name in attributes.first { $0.name == name } })
        }
    }

    /// The parameters that callers give, in the order of the model.
    public var ownParameters: [ParameterMetadata] { parameters.filter { $0.attribute == nil } }

    /// Returns the parameter with this name.
    /// - Throws: ``ObjectError/Code/noSuchParameter``.
    public func parameter(named name: String) throws -> ParameterMetadata {
        guard let parameter = parameters.first(where: { $0.name == name }) else {
            throw ObjectError(.noSuchParameter, "operation \"\(self.name)\" has no parameter \"\(name)\"")
        }
        return parameter
    }
}

/// One parameter of an operation at run time. SMP 2.3: `SUPParameterMetaData`.
public struct ParameterMetadata: Sendable {
    /// The modelled name.
    public let name: String
    /// The type of its values. The type's `name` is the one in the model.
    public let dataType: AttributeType
    /// Whether the value may be null.
    public let isNullable: Bool
    /// The greatest length of a value in characters or bytes, taken from the attribute that fills the parameter, if any; nil where the model
    /// defines none.
    public let length: Int?
    /// The value for callers that give none; nil where callers must give one.
    public let defaultValue: AttributeValue?
    /// Name of the attribute that fills the parameter; nil where callers give the value.
    public let attribute: String?

    let storage: Storage
    /// Position of the attribute that fills the parameter.
    let attributeIndex: Int?

    init(_ model: ParameterModel, attribute: AttributeMetadata?) {
        name = model.name
        dataType = model.type
        isNullable = model.isNullable
        length = attribute?.length ?? model.length
        let storage = attribute?.storage ?? Storage(AttributeModel(ofParameter: model))
        self.storage = storage
        let without: AttributeValue? = model.isNullable ? .null : nil
        defaultValue = model.defaultValue.flatMap { storage.attributeValue(ofDefault: $0) } ?? without
        self.attribute = attribute?.name
        attributeIndex = attribute?.index
    }
}

/// The operation of an operation's class.
public struct OtherOperation: Sendable {
    /// Position of the object in ``PackageMetadata/entities``.
    public let objectIndex: Int
    /// The object's modelled name.
    public let objectName: String
    /// The operation in the object's metadata.
    public let operation: OperationMetadata
}
