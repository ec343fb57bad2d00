/// Makes a model from a document's tree and collects problems of the document's form. ``ModelValidator`` checks the meaning of the values.
final class ModelReader {
    private(set) var problems: [ModelProblem] = []
    /// The places that could not be read: their meaning is not checked either, so that one mistake gives one message.
    private(set) var misread: Set<ModelPath> = []
    /// The values of the key `large`, by the attribute's place; they take precedence over the length rules.
    private(set) var largeMarks: [ModelPath: Bool] = [:]
    private let root: JSONSyntaxNode
    /// The version of the format that the document says it has; the current one where it says none.
    private(set) var format = PackageModel.currentFormat

    init(_ root: JSONSyntaxNode) {
        self.root = root
        if case .object(let members) = root.value, case .number(let digits) = members.first(where: { $0.key == "format" })?.node.value {
            format = Int(digits) ?? format
        }
    }

    func report(
        _ code: ModelProblem.Code, _ path: ModelPath, _ cause: String, suggestion: String? = nil, line: Int? = nil, column: Int? = nil
    ) {
        let node = root.nearest(to: path)
        if code != .unknownKey, code != .missing { misread.insert(path) }
        problems.append(
            ModelProblem(code, path, cause, suggestion: suggestion, line: line ?? node.line, column: column ?? node.column))
    }

    func markMisread(_ path: ModelPath) { misread.insert(path) }

    /// Reads the whole package. Values with problems are replaced by defaults; ``problems`` lists them.
    func package() -> PackageModel {
        let fields = Fields(root, .root, keys: ModelFormat.package, reader: self)
        if fields["format"] == nil {
            fields.missing("format")
        } else if let format = fields.integer("format"), !(1...PackageModel.currentFormat).contains(format) {
            report(
                .value, .root["format"], "format \(format) is not known; this release reads the formats 1 to \(PackageModel.currentFormat)",
                suggestion: format > PackageModel.currentFormat ? "use a newer release" : nil)
        }
        _ = fields.string("$schema")
        return PackageModel(
            name: fields.required("name"), version: fields.string("version") ?? "1.0", documentation: fields.string("documentation"),
            namePrefix: fields.string("namePrefix") ?? "",
            synchronization: fields.word("synchronization", of: PackageModel.Synchronization.self) ?? .replication,
            pageSize: fields.integer("pageSize") ?? PackageModel.defaultPageSize, roles: fields.strings("roles"),
            structures: fields.list("structures").map(structure),
            personalizationKeys: fields.list("personalizationKeys").map(personalizationKey),
            synchronizationGroups: fields.list("synchronizationGroups").map(synchronizationGroup),
            backEnds: fields.list("backEnds").map(backEnd), objects: fields.list("objects").map(object))
    }

    private func structure(_ node: JSONSyntaxNode, _ path: ModelPath) -> StructureModel {
        let fields = Fields(node, path, keys: ModelFormat.structure, reader: self)
        return StructureModel(
            name: fields.required("name"), documentation: fields.string("documentation"),
            attributes: fields.list("attributes").map(attribute))
    }

    private func personalizationKey(_ node: JSONSyntaxNode, _ path: ModelPath) -> PersonalizationKeyModel {
        let fields = Fields(node, path, keys: ModelFormat.personalizationKey, reader: self)
        return PersonalizationKeyModel(
            name: fields.required("name"), type: type(fields), isNullable: fields.boolean("nullable") ?? false,
            defaultValue: fields.json("default"), storage: fields.word("storage", of: PersonalizationKeyModel.Storage.self) ?? .client)
    }

    private func synchronizationGroup(_ node: JSONSyntaxNode, _ path: ModelPath) -> SynchronizationGroupModel {
        let fields = Fields(node, path, keys: ModelFormat.synchronizationGroup, reader: self)
        return SynchronizationGroupModel(name: fields.required("name"), interval: fields.integer("interval") ?? 0)
    }

    private func backEnd(_ node: JSONSyntaxNode, _ path: ModelPath) -> BackEndModel {
        let fields = Fields(node, path, keys: ModelFormat.backEnd, reader: self)
        return BackEndModel(
            name: fields.required("name"), kind: fields.word("kind", of: BackEndModel.Kind.self) ?? .sqlite, path: fields.string("path"),
            isIdempotent: fields.boolean("idempotent") ?? false)
    }

    private func object(_ node: JSONSyntaxNode, _ path: ModelPath) -> ObjectModel {
        let fields = Fields(node, path, keys: ModelFormat.object, reader: self)
        return ObjectModel(
            name: fields.required("name"), documentation: fields.string("documentation"), isLocal: fields.boolean("local") ?? false,
            attributes: fields.list("attributes").map(attribute), primaryKey: fields.strings("primaryKey"),
            relationships: fields.list("relationships").map(relationship),
            synchronizationParameters: fields.list("synchronizationParameters").map(synchronizationParameter),
            queries: fields.list("queries").map(query), operations: fields.list("operations").map(operation),
            synchronizationGroup: fields.string("synchronizationGroup") ?? SynchronizationGroupModel.defaultName,
            allowsDynamicQueries: fields.boolean("dynamicQueries") ?? true,
            binding: fields["binding"].map { binding($0, path["binding"]) }, was: fields.string("was"),
            conflicts: fields.word("conflicts", of: ConflictRule.self) ?? .lastWriter)
    }

    private func attribute(_ node: JSONSyntaxNode, _ path: ModelPath) -> AttributeModel {
        let fields = Fields(node, path, keys: ModelFormat.attribute, reader: self)
        largeMarks[path] = fields.boolean("large")
        let type = type(fields)
        return AttributeModel(
            name: fields.required("name"), documentation: fields.string("documentation"), type: type,
            isNullable: fields.boolean("nullable") ?? false, length: fields.integer("length"),
            precision: fields.integer("precision") ?? (type == .decimal ? AttributeModel.defaultPrecision : nil),
            scale: fields.integer("scale") ?? (type == .decimal ? AttributeModel.defaultScale : nil),
            isGenerated: fields.boolean("generated") ?? false, isSearchable: fields.boolean("searchable") ?? false,
            defaultValue: fields.json("default"), values: fields.list("values").map { $0.node.text }, minimum: fields.json("minimum"),
            maximum: fields.json("maximum"), was: fields.string("was"))
    }

    private func type(_ fields: Fields) -> AttributeType { AttributeType(modelText: fields.required("type")) }

    private func relationship(_ node: JSONSyntaxNode, _ path: ModelPath) -> RelationshipModel {
        let fields = Fields(node, path, keys: ModelFormat.relationship, reader: self)
        if fields["cardinality"] == nil { fields.missing("cardinality") }
        return RelationshipModel(
            name: fields.required("name"), documentation: fields.string("documentation"), target: fields.required("target"),
            cardinality: fields.word("cardinality", of: RelationshipModel.Cardinality.self) ?? .manyToOne,
            isComposite: fields.boolean("composite") ?? false, inverse: fields.string("inverse"),
            mapping: fields.pairs("mapping").map { RelationshipModel.Mapping(source: $0.0, target: $0.1) })
    }

    private func synchronizationParameter(_ node: JSONSyntaxNode, _ path: ModelPath) -> ParameterModel {
        let fields = Fields(node, path, keys: ModelFormat.synchronizationParameter, reader: self)
        return parameter(fields)
    }

    private func parameter(_ node: JSONSyntaxNode, _ path: ModelPath) -> ParameterModel {
        parameter(Fields(node, path, keys: ModelFormat.parameter, reader: self))
    }

    private func operationParameter(_ node: JSONSyntaxNode, _ path: ModelPath) -> ParameterModel {
        parameter(Fields(node, path, keys: ModelFormat.operationParameter, reader: self))
    }

    private func parameter(_ fields: Fields) -> ParameterModel {
        ParameterModel(
            name: fields.required("name"), type: type(fields), isNullable: fields.boolean("nullable") ?? false,
            length: fields.integer("length"), precision: fields.integer("precision"), scale: fields.integer("scale"),
            defaultValue: fields.json("default"), personalizationKey: fields.string("personalizationKey"),
            attribute: fields.string("attribute"), userAttribute: fields.string("userAttribute"))
    }

    private func query(_ node: JSONSyntaxNode, _ path: ModelPath) -> QueryModel {
        let fields = Fields(node, path, keys: ModelFormat.query, reader: self)
        return QueryModel(
            name: fields.required("name"), documentation: fields.string("documentation"), parameters: fields.list("parameters").map(parameter),
            isSingle: fields.boolean("single") ?? false, sql: fields.required("sql"))
    }

    /// Reads an operation in full, or the word `"create"`, `"update"` or `"delete"` for one made from the binding.
    private func operation(_ node: JSONSyntaxNode, _ path: ModelPath) -> OperationModel {
        if case .string(let word) = node.value {
            let words = OperationModel.Kind.allCases.filter { $0 != .other }.map(\.rawValue)
            if !words.contains(word) {
                report(
                    .value, path, "\"\(word)\" is not one of \(words.joined(separator: ", "))",
                    suggestion: Suggestion.didYouMean(word, among: words) ?? "an operation of another kind is an object with statements")
            }
            return OperationModel(name: word, kind: OperationModel.Kind(rawValue: word) ?? .other)
        }
        let fields = Fields(node, path, keys: ModelFormat.operation, reader: self)
        if fields["kind"] == nil { fields.missing("kind") }
        return OperationModel(
            name: fields.required("name"), documentation: fields.string("documentation"),
            kind: fields.word("kind", of: OperationModel.Kind.self) ?? .other, parameters: fields.list("parameters").map(operationParameter),
            statements: fields.strings("statements"))
    }

    private func binding(_ node: JSONSyntaxNode, _ path: ModelPath) -> BackEndBinding {
        let fields = Fields(node, path, keys: ModelFormat.binding, reader: self)
        return BackEndBinding(
            backEnd: fields.required("backEnd"), table: fields.required("table"),
            columns: Dictionary(fields.pairs("columns")) { first, _ in first }, load: fields.string("load"),
            changeDetection: fields["changeDetection"].map { changeDetection($0, path["changeDetection"]) } ?? .digest)
    }

    private func changeDetection(_ node: JSONSyntaxNode, _ path: ModelPath) -> BackEndBinding.ChangeDetection {
        if case .string(let word) = node.value {
            if word == "triggerLog" {
                if format == 1 { report(.value, path, "format 1 has no \"triggerLog\"", suggestion: "write \"format\": 2") }
                return .triggerLog(tables: [])
            }
            if word != "digest" {
                report(
                    .value, path, "\"\(word)\" is not a way to detect changes",
                    suggestion: "write \"digest\", \"triggerLog\" or {\"versionColumn\": \"name\"}")
            }
            return .digest
        }
        let fields = Fields(node, path, keys: ModelFormat.changeDetection, reader: self)
        guard fields["triggerLog"] != nil || fields["versionColumn"] != nil else {
            // Without an object, or with unknown members, there is a message already.
            if case .object(let members) = node.value, members.isEmpty {
                report(
                    .missing, path, "it names no way to detect changes",
                    suggestion: "write \"digest\", \"triggerLog\" or {\"versionColumn\": \"name\"}, or leave it out")
            }
            return .digest
        }
        guard fields["triggerLog"] != nil else { return .versionColumn(fields.required("versionColumn")) }
        if fields["versionColumn"] != nil { report(.conflict, path, "there are two ways to detect changes", suggestion: "remove one of the two") }
        return .triggerLog(tables: fields.strings("triggerLog"))
    }
}
