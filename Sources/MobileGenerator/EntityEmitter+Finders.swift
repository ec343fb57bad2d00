import MobileModel

/// Finders by the modelled key and by the model's queries. Those that every class has (`find`, `findAll`, paging) are the runtime's.
extension EntityEmitter {
    func emitFinders(to text: inout SwiftText) {
        guard !object.primaryKey.isEmpty || !object.queries.isEmpty else { return }
        text.line()
        text.block("extension \(name)") { text in
            if !object.primaryKey.isEmpty { emitFindByPrimaryKey(to: &text) }
            for (index, query) in object.queries.enumerated() {
                if index > 0 || !object.primaryKey.isEmpty { text.line() }
                if query.isSingle {
                    emitSingle(query, to: &text)
                } else {
                    emitList(query, to: &text)
                }
            }
        }
    }

    private func emitFindByPrimaryKey(to text: inout SwiftText) {
        let key = object.primaryKey.compactMap { object.attribute(named: $0) }
        // A single key needs no label; several do, because callers cannot know their order.
        let parameters = key.map { attribute in
            let member = SwiftNames.inCode(SwiftNames.converted(attribute.name))
            return "\(key.count == 1 ? "_ " : "")\(member): \(type(attribute).wrappedName)"
        }
        let values = key.map { SwiftNames.inCode(SwiftNames.converted($0.name)) + ".attributeValue" }.joined(separator: ", ")
        text.documentation("The \(object.name) with this primary key; nil if there is none.\n- Throws: ``ObjectError``.")
        emitTwins(
            "findByPrimaryKey", parameters, result: "\(name)?", body: "findByPrimaryKey(values: [\(values)], in: package)", to: &text)
    }

    private func emitSingle(_ query: QueryModel, to text: inout SwiftText) {
        text.documentation("\(documentation(of: query))\n- Returns: the first object found; nil if there is none.\n- Throws: ``ObjectError``.")
        emitTwins(
            SwiftNames.memberInCode(query.name), query.parameters.map(declaration), result: "\(name)?",
            body: "query(\(SwiftText.literal(query.name)), \(values(of: query)), take: 1, in: package).first", to: &text)
    }

    private func emitList(_ query: QueryModel, to text: inout SwiftText) {
        text.documentation(
            """
            \(documentation(of: query))
            - Parameters:
              - sortedBy: the order of the objects; the query's own by default.
              - skip: the number of objects to skip at the beginning; 0 by default.
              - take: the maximum number of objects; all by default, and if it is negative.
            - Throws: ``ObjectError``.
            """)
        emitTwins(
            SwiftNames.memberInCode(query.name),
            query.parameters.map(declaration) + ["sortedBy: [AttributeSort] = []", "skip: Int = 0", "take: Int = -1"], result: "EntityList<\(name)>",
            body: "query(\(SwiftText.literal(query.name)), \(values(of: query)), sortedBy: sortedBy, skip: skip, take: take, in: package)", to: &text)
    }

    /// Writes the blocking form and the asynchronous form.
    private func emitTwins(_ finder: String, _ parameters: [String], result: String, body: String, to text: inout SwiftText) {
        let parameters = parameters + ["in package: \(package)"]
        text.blockingForm()
        text.function("public static func \(finder)", parameters, "throws -> \(result)") { $0.line("try \(body)") }
        text.line()
        text.documentation("The same, in asynchronous code.")
        text.function("public static func \(finder)", parameters, "async throws -> \(result)") { $0.line("try await \(body)") }
    }

    private func documentation(of query: QueryModel) -> String {
        SwiftText.sentence(query.documentation ?? "The object query `\(query.name)`") + "\n\n    \(query.sql)\n"
    }

    private func declaration(_ parameter: ParameterModel) -> String {
        let type = type(parameter)
        let value = parameter.defaultValue.map { " = \(type.literal(json: $0))" } ?? ""
        return "\(SwiftNames.inCode(parameter.name)): \(type.name)\(value)"
    }

    private func values(of query: QueryModel) -> String {
        "[" + query.parameters.map { SwiftNames.inCode($0.name) + ".attributeValue" }.joined(separator: ", ") + "]"
    }
}
