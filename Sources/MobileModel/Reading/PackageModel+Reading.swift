public import Foundation

extension PackageModel {
    /// Reads the model in the file at `url`, a `*.mbo.json` file, and checks all of it.
    /// - Throws: ``ModelError`` with all errors, each with its place in the document.
    public init(contentsOf url: URL) throws(ModelError) {
        var warnings: [ModelProblem] = []
        try self.init(contentsOf: url, warnings: &warnings)
    }

    /// Reads the model in the file at `url`; `warnings` gets the reader's own decisions, such as attributes that became large.
    /// - Throws: ``ModelError`` with all errors, each with its place in the document.
    public init(contentsOf url: URL, warnings: inout [ModelProblem]) throws(ModelError) {
        try self.init(contentsOf: url, pageSize: nil, warnings: &warnings)
    }

    /// Reads a model that only describes the databases of an earlier release: names of members may be Swift keywords, and nothing else is different.
    package init(earlier url: URL) throws(ModelError) {
        var warnings: [ModelProblem] = []
        try self.init(contentsOf: url, pageSize: nil, isEarlier: true, warnings: &warnings)
    }

    /// Reads the model with `pageSize`, if it is not nil, in place of the model's own page size.
    package init(contentsOf url: URL, pageSize: Int?, isEarlier: Bool = false, warnings: inout [ModelProblem]) throws(ModelError) {
        let data: Data
        do {
            data = try Data(contentsOf: url)
        } catch {
            throw ModelError([ModelProblem(.file, .root, "cannot be read: \(error.localizedDescription)", file: url.relativePath)])
        }
        try self.init(bytes: [UInt8](data), file: url.relativePath, pageSize: pageSize, isEarlier: isEarlier, warnings: &warnings)
    }

    /// Reads the model in `json`. `file` is its name in messages.
    /// - Throws: ``ModelError`` with all errors, each with its place in the document.
    public init(json: String, file: String = "model") throws(ModelError) {
        var warnings: [ModelProblem] = []
        try self.init(json: json, file: file, warnings: &warnings)
    }

    /// Reads the model in `json`; `warnings` gets the reader's own decisions, such as attributes that became large.
    /// - Throws: ``ModelError`` with all errors, each with its place in the document.
    public init(json: String, file: String = "model", warnings: inout [ModelProblem]) throws(ModelError) {
        try self.init(bytes: Array(json.utf8), file: file, pageSize: nil, warnings: &warnings)
    }

    private init(bytes: [UInt8], file: String, pageSize: Int?, isEarlier: Bool = false, warnings: inout [ModelProblem]) throws(ModelError) {
        let root: JSONSyntaxNode
        do {
            root = try JSONSyntaxParser.parse(bytes)
        } catch {
            throw ModelError([
                ModelProblem(
                    error.code, error.path, error.cause, suggestion: error.suggestion, file: file, line: error.line, column: error.column)
            ])
        }
        let reader = ModelReader(root)
        var model = reader.package()
        model.pageSize = pageSize ?? model.pageSize
        var problems = reader.problems
        let found = LengthRules.apply(to: &model, marks: reader.largeMarks) + ModelValidator.problems(in: model, isEarlier: isEarlier)
        problems += found.filter { problem in !reader.misread.contains { $0.contains(problem.path) } }
        for index in problems.indices {
            problems[index].file = file
            let node = root.nearest(to: problems[index].path)
            problems[index].line = problems[index].line ?? node.line
            problems[index].column = problems[index].column ?? node.column
        }
        let ordered = problems.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
        let errors = ordered.filter { $0.severity == .error }
        guard errors.isEmpty else { throw ModelError(errors) }
        warnings += ordered.filter { $0.severity == .warning }
        self = model.completed()
    }
}

extension PackageModel {
    /// Reads a model from the JSON that ``json`` returned for it, as a database keeps it. The model stays as it was: this release neither
    /// checks it again nor applies its length rules.
    /// - Throws: ``ModelError`` if `json` is not such a JSON.
    package init(storedJSON json: String) throws(ModelError) {
        let root: JSONSyntaxNode
        do { root = try JSONSyntaxParser.parse(Array(json.utf8)) } catch {
            throw ModelError([ModelProblem(error.code, error.path, error.cause, file: "stored model", line: error.line, column: error.column)])
        }
        let reader = ModelReader(root)
        let model = reader.package()
        guard reader.problems.isEmpty else { throw ModelError(reader.problems) }
        self = model
    }
}

extension PackageModel {
    /// The page size of a model that sets none.
    static let defaultPageSize = 4096

    /// Copies a mapping that the model states at one end of a relationship to the other end.
    func completed() -> PackageModel {
        var model = self
        for (objectIndex, object) in objects.enumerated() {
            for (index, relationship) in object.relationships.enumerated()
            where relationship.mapping.isEmpty {
                guard let inverse = self.inverse(of: relationship) else { continue }
                model.objects[objectIndex].relationships[index].mapping = inverse.mapping.map { .init(source: $0.target, target: $0.source) }
            }
        }
        return model
    }

    /// The relationship that is `relationship` seen from its target; nil if it is one-way or the model is inconsistent.
    func inverse(of relationship: RelationshipModel) -> RelationshipModel? {
        relationship.inverse.flatMap { object(named: relationship.target)?.relationship(named: $0) }
    }
}

extension AttributeModel {
    /// The digits of a decimal for which the model sets none.
    static let defaultPrecision = 18
    static let defaultScale = 2
    /// The maximum number of digits of a decimal.
    static let longestDecimal = 38
}

extension SynchronizationGroupModel {
    /// The group of objects that name no group.
    public static let defaultName = "default"
}
