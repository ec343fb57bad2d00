/// The rules for an object's default operations and for its other ones; generator, runtime and server share them.
extension ObjectModel {
    /// The operation with this modelled name; nil if there is none.
    public func operation(named name: String) -> OperationModel? { operations.first { $0.name == name } }

    /// The operation that the plain `create`, `update` or `delete` calls: one whose parameters are all filled from attributes. If there are
    /// several, it is the one named after its kind. Nil if there is none, or if none of several has that name; callers then use their names.
    public func defaultOperation(_ kind: OperationModel.Kind) -> OperationModel? {
        guard kind != .other else { return nil }
        let candidates = operations.filter { $0.kind == kind && $0.ownParameters.isEmpty }
        return candidates.first { $0.name == kind.rawValue } ?? (candidates.count == 1 ? candidates[0] : nil)
    }

    /// Whether `save` is generated: only if the plain `create` and `update` call an operation. SMP 2.3 generates it only where the model has no further
    /// create or update; here a further one has its own method, and takes nothing away. A local object needs no operations.
    public var isSavable: Bool { isLocal || (defaultOperation(.create) != nil && defaultOperation(.update) != nil) }

    /// The primary key among the parameters of an operation of the kind `other`: the position of a key's attribute by that of its parameter. Such a
    /// parameter has the type of the attribute and its name, or the object's name before it: `customerId` is the `id` of a `Customer`. Empty unless the
    /// parameters name the whole key: the operation is then about no single object, and has no method of its class.
    public func keyParameters(of operation: OperationModel) -> [Int: Int] {
        guard operation.kind == .other, !primaryKey.isEmpty else { return [:] }
        let prefix = name.prefix(1).lowercased() + name.dropFirst()
        var positions: [Int: Int] = [:]
        for key in primaryKey {
            guard let index = attributes.firstIndex(where: { $0.name == key }) else { return [:] }
            let names = [key, prefix + SwiftNames.capitalized(key)]
            let position = operation.parameters.firstIndex {
                names.contains($0.name) && $0.type == attributes[index].type && $0.defaultValue == nil && !$0.isNullable
            }
            guard let position else { return [:] }
            positions[position] = index
        }
        return positions
    }

    /// The object that represents an operation of the kind `other` on the device: the operation's parameters are its attributes. Its name
    /// consists of object and operation, such as `CustomerChangeLastNameOperation`; its class and its local table have that name too.
    public func operationObject(_ operation: OperationModel) -> ObjectModel {
        ObjectModel(
            name: name + SwiftNames.capitalized(SwiftNames.converted(operation.name)) + "Operation", documentation: operation.documentation,
            attributes: operation.parameters.map { AttributeModel(ofParameter: $0) },
            operations: [OperationModel(name: "create", kind: .create), OperationModel(name: "update", kind: .update)],
            synchronizationGroup: synchronizationGroup)
    }
}

extension PackageModel {
    /// The objects that represent operations of the kind `other` on the device, in the order of the model.
    public var operationObjects: [ObjectModel] {
        objects.flatMap { object in object.operations.filter { $0.kind == .other }.map(object.operationObject) }
    }
}

extension OperationModel {
    /// Plain create, update and delete, made from the binding: the operations of an object that can be changed freely.
    public static let plain = [Kind.create, .update, .delete].map { OperationModel(name: $0.rawValue, kind: $0) }

    /// The parameters that callers give; attributes fill the others.
    public var ownParameters: [ParameterModel] { parameters.filter { $0.attribute == nil } }

    /// Whether a separate method is generated: for a create, update or delete with another name or with parameters that callers give.
    public var hasMethod: Bool { kind != .other && (name != kind.rawValue || !ownParameters.isEmpty) }
}

extension AttributeModel {
    /// Creates an attribute with the name, the type, the length and the digits of a parameter.
    public init(ofParameter parameter: ParameterModel) {
        let isDecimal = parameter.type == .decimal
        self.init(
            name: parameter.name, documentation: "The parameter `\(parameter.name)`", type: parameter.type, isNullable: parameter.isNullable,
            length: parameter.length, precision: parameter.precision ?? (isDecimal ? Self.defaultPrecision : nil),
            scale: parameter.scale ?? (isDecimal ? Self.defaultScale : nil), defaultValue: parameter.defaultValue)
    }
}
