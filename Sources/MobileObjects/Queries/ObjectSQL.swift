import Foundation
import MobileModel
import MobileStore

/// An object query of the model, prepared for the local database. Its text stays as modelled except for four changes. `x.*` becomes the columns that
/// objects are read from. `surrogateKey` becomes the column of that key. A value that is compared with a decimal becomes a scaled integer or exact
/// text like the column, with the order and the sums of numbers. Skip and take are added. Parameters are bound, never spliced.
struct ObjectSQL {
    private let model: QueryModel
    private let object: EntityMetadata
    private let text: String
    private let hasLimit: Bool
    /// The tables that it reads.
    let tables: Set<String>
    /// Each parameter once, in the order of its first use: the order in which SQLite numbers them.
    private let parameters: [Parameter]

    private struct Parameter {
        let name: String
        let storage: Storage
        /// Position among the model's parameters.
        let position: Int
    }

    /// Prepares the query of this name.
    /// - Throws: ``ObjectError/Code/noSuchOperation``, and as the other form.
    init(_ name: String, _ context: EntityContext) throws {
        try self.init(context.metadata.query(named: name), of: context.metadata, in: context.package.metadata)
    }

    init(_ model: QueryModel, of object: EntityMetadata, in package: PackageMetadata) throws {
        self.model = model
        self.object = object
        let words = SQLWords(model.sql)
        var reader = ObjectSQLReader(words.words, package)
        reader.findSources()
        guard let head = reader.head() else {
            throw ObjectError(.invalidQuery, "query \"\(object.name).\(model.name)\": expected SELECT x.* FROM \(object.name) x")
        }
        let decimals = reader.findDecimals()
        var text = "", parameters: [Parameter] = []
        for (index, word) in words.words.enumerated() {
            if head.contains(index) {
                if index == head.lowerBound { text += reader.columns(of: object, alias: words.words[index].text) + " " }
                continue
            }
            switch word.kind {
            case .parameter:
                let name = String(word.text.dropFirst())
                guard let position = model.parameters.firstIndex(where: { $0.name == name }) else {
                    throw ObjectError(.noSuchParameter, "query \"\(object.name).\(model.name)\" has no parameter \"\(name)\"")
                }
                if !parameters.contains(where: { $0.name == name }) {
                    let form = words.words.indices.lazy.compactMap { words.words[$0].text == word.text ? decimals.operands[$0] : nil }.first
                    let storage = form?.storage ?? Storage(model.parameters[position].type)
                    parameters.append(Parameter(name: name, storage: storage, position: position))
                }
                text += word.text
            case .word, .quotedName:
                // A name of the runtime that no attribute can have.
                text += word.name?.lowercased() == "surrogatekey" ? "\"_sk\"" : decimals.functions[index] ?? word.text
                if decimals.ordered.contains(index) { text += " COLLATE \(ExactDecimal.collation)" }
            case .number: text += decimals.operands[index]?.text(word.text) ?? word.text
            default: text += word.text
            }
            text += " "
        }
        self.text = text
        self.parameters = parameters
        hasLimit = reader.hasLimit
        tables = Set(reader.sources.values.map(\.name)).union([object.name])
    }

    /// Returns the statement; a negative `take` means all.
    /// - Parameter order: replaces the query's own order; empty: the query's own.
    /// - Throws: as `orderedText(_:)`.
    func sql(sortedBy order: [AttributeSort], skip: Int, take: Int) throws -> String {
        let ordered = try orderedText(order)
        guard skip > 0 || take >= 0 else { return ordered.text }
        return ordered.limitable + "LIMIT \(take) OFFSET \(max(skip, 0))"
    }

    /// Returns the statement whose last two values are the number of objects to take, negative for all, and the number to skip.
    /// - Throws: as `orderedText(_:)`.
    func pagedSQL(sortedBy order: [AttributeSort]) throws -> String { try orderedText(order).limitable + "LIMIT :mc_take OFFSET :mc_skip" }

    /// Returns the statement with another order, and in a form that a limit may be added to.
    /// - Throws: ``ObjectError/Code/noSuchAttribute``, ``ObjectError/Code/unsupportedType`` for an attribute that has no order.
    private func orderedText(_ order: [AttributeSort]) throws -> (text: String, limitable: String) {
        guard !order.isEmpty else { return (text, hasLimit ? "SELECT * FROM (\(text)) " : text) }
        let terms = try order.map { sort in
            let attribute = try object.attribute(named: sort.attribute), type = QueryType(attribute)
            guard !type.isOpaque else {
                throw ObjectError(
                    .unsupportedType,
                    "query \"\(object.name).\(model.name)\": sorts by \"\(sort.attribute)\", a large or structured attribute, which has no order")
            }
            let column = SQLExpression(sql: object.sql.attributeColumns[attribute.index], type: type)
            return OrderTerm(sql: column.ordered, isDescending: sort.order == .descending).text
        }
        let sorted = "SELECT * FROM (\(text)) ORDER BY \(terms.joined(separator: ", ")), \"_sk\" "
        return (sorted, sorted)
    }

    /// The number of objects, of the same parameters.
    var countSQL: String { "SELECT count(*) FROM (\(text))" }

    /// Returns values, given by the parameters' names, in the order of the model.
    /// - Throws: ``ObjectError/Code/noSuchParameter`` for a name that is not a parameter's, and for a parameter without a value.
    func ordered(_ values: [String: AttributeValue]) throws -> [AttributeValue] {
        let names = model.parameters.map(\.name)
        if let unknown = values.keys.sorted().first(where: { !names.contains($0) }) {
            throw ObjectError(.noSuchParameter, "query \"\(object.name).\(model.name)\" has no parameter \"\(unknown)\"")
        }
        return try names.map { name in
            guard let value = values[name] else {
                throw ObjectError(.noSuchParameter, "query \"\(object.name).\(model.name)\": its parameter \"\(name)\" has no value")
            }
            return value
        }
    }

    /// Returns the parameters as bound, from values in the order of the model.
    /// - Throws: ``ObjectError/Code/noSuchParameter`` for a wrong number of values, ``ObjectError/Code/invalidValue`` for one that does not fit.
    func values(_ values: [AttributeValue]) throws -> [Value] {
        guard values.count == model.parameters.count else {
            throw ObjectError(
                .noSuchParameter, "query \"\(object.name).\(model.name)\": \(values.count) values, expected \(model.parameters.count)")
        }
        return try parameters.map { parameter in
            guard let stored = parameter.storage.stored(values[parameter.position]) else {
                throw ObjectError(
                    .invalidValue,
                    "query \"\(object.name).\(model.name)\", parameter \"\(parameter.name)\": expected \(model.parameters[parameter.position].type)")
            }
            return stored
        }
    }
}

/// The words of an object query that are written differently because attributes are decimals, by their positions.
private struct DecimalWords {
    /// Numbers and parameters next to a decimal.
    var operands: [Int: DecimalForm] = [:]
    /// Attributes whose order is not that of their text.
    var ordered: Set<Int> = []
    /// Functions of decimals that have another name.
    var functions: [Int: String] = [:]
}

/// The stored form of a decimal.
private enum DecimalForm: Equatable {
    case scaled(Int)
    case text

    var storage: Storage {
        switch self {
        case .scaled(let scale): Storage(.decimal, scale: scale)
        case .text: .exactDecimal
        }
    }

    /// Returns a number of the query in the form in which it is compared with such a decimal.
    func text(_ number: String) -> String {
        let value = Decimal(string: number, locale: nil)
        switch self {
        case .scaled(let scale):
            guard let value, let scaled = DecimalText.scaled(value, precision: 18, scale: scale) else { return "(\(number) * 1e\(scale))" }
            return String(scaled)
        case .text: return value.map { EntitySQL.literal($0.description) } ?? number
        }
    }
}

/// Finds the words of an object query whose form in the local database differs from that in the model.
private struct ObjectSQLReader {
    private let words: [SQLWord]
    private let package: PackageMetadata
    /// Objects by alias and name, in lower case.
    private(set) var sources: [String: EntityMetadata] = [:]

    init(_ words: [SQLWord], _ package: PackageMetadata) { (self.words, self.package) = (words, package) }

    /// Whether the query has a limit of its own, outside of subqueries.
    var hasLimit: Bool {
        var depth = 0
        for word in words {
            if word.text == "(" { depth += 1 }
            if word.text == ")" { depth -= 1 }
            if depth == 0 && word.isKeyword("LIMIT") { return true }
        }
        return false
    }

    mutating func findSources() {
        for index in words.indices where words[index].isKeyword("FROM") || words[index].isKeyword("JOIN") {
            var position = index + 1
            while let name = name(position), let entity = package.entities.first(where: { $0.name.lowercased() == name }) {
                sources[name] = entity
                position += 1
                if position < words.count, words[position].isKeyword("AS") { position += 1 }
                if let alias = self.name(position), !Self.clauses.contains(alias) {
                    sources[alias] = entity
                    position += 1
                }
                guard position < words.count, words[position].text == "," else { break }
                position += 1
            }
        }
    }

    /// Returns the positions of `x.*` after SELECT or SELECT DISTINCT.
    func head() -> Range<Int>? {
        let start = words.count > 1 && words[1].isKeyword("DISTINCT") ? 2 : 1
        guard words.count > start + 2, words[0].isKeyword("SELECT"), words[start + 1].text == ".", words[start + 2].text == "*" else { return nil }
        return start..<start + 3
    }

    func columns(of object: EntityMetadata, alias: String) -> String {
        object.sql.selected.map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    /// Finds the words that are written differently because attributes are decimals.
    func findDecimals() -> DecimalWords {
        var found = DecimalWords()
        var index = 0
        while index < words.count {
            let (form, end) = attributeForm(at: index)
            if let form {
                let operand = operand(index..<end)
                for position in operands(around: operand) { found.operands[position] = form }
                if form == .text {
                    if operand.lowerBound < index { found.functions[operand.lowerBound] = Self.exactFunctions[name(operand.lowerBound) ?? ""] }
                    if !isInUsing(index) { found.ordered.insert(end - 1) }
                }
            }
            index = end
        }
        return found
    }

    /// Returns whether a name is in the list of columns of a join, which contains only names.
    private func isInUsing(_ index: Int) -> Bool {
        var position = index
        while position > 0, words[position].text != "(" { position -= 1 }
        return position > 0 && words[position - 1].isKeyword("USING")
    }

    /// Returns the stored form of the attribute whose name begins at `index`, nil for other attributes than decimals, and the end of its name.
    private func attributeForm(at index: Int) -> (DecimalForm?, Int) {
        guard let first = name(index) else { return (nil, index + 1) }
        if index + 2 < words.count, words[index + 1].text == ".", let second = name(index + 2), let entity = sources[first] {
            return (form(of: second, in: [entity]), index + 3)
        }
        return (form(of: first, in: Array(sources.values)), index + 1)
    }

    private func form(of attribute: String, in entities: [EntityMetadata]) -> DecimalForm? {
        for entity in entities {
            guard let found = entity.attributes.first(where: { $0.name.lowercased() == attribute }) else { continue }
            switch found.storage {
            case .scaledDecimal(_, let scale): return .scaled(scale)
            case .textDecimal: return .text
            default: continue
            }
        }
        return nil
    }

    /// Returns the aggregate, such as `sum(x.a)`, where an attribute is its argument and the result has the attribute's scale; otherwise the
    /// attribute.
    private func operand(_ attribute: Range<Int>) -> Range<Int> {
        var start = attribute.lowerBound
        if start >= 1, words[start - 1].isKeyword("DISTINCT") { start -= 1 }
        guard start >= 2, words[start - 1].text == "(", let function = words[start - 2].name?.lowercased(), Self.scaledFunctions.contains(function),
            attribute.upperBound < words.count, words[attribute.upperBound].text == ")"
        else { return attribute }
        return start - 2..<attribute.upperBound + 1
    }

    /// Returns the operands next to an attribute: `a < 5`, `5 < a`, `a BETWEEN 5 AND 6`, `a IN (5, 6)`.
    private func operands(around attribute: Range<Int>) -> [Int] {
        var positions: [Int] = []
        if attribute.lowerBound >= 2, Self.operators.contains(words[attribute.lowerBound - 1].text) { positions.append(attribute.lowerBound - 2) }
        var next = attribute.upperBound
        if next < words.count, words[next].isKeyword("NOT") { next += 1 }
        guard next < words.count else { return positions.filter(isOperand) }
        if Self.operators.contains(words[next].text) {
            positions.append(next + 1)
        } else if words[next].isKeyword("BETWEEN") {
            positions += [next + 1, next + 3]
        } else if words[next].isKeyword("IN") {
            var position = next + 2
            while position < words.count, words[position].text != ")" {
                positions.append(position)
                position += 1
            }
        }
        return positions.filter(isOperand)
    }

    private func isOperand(_ index: Int) -> Bool {
        words.indices.contains(index) && (words[index].kind == .number || words[index].kind == .parameter)
    }

    private func name(_ index: Int) -> String? {
        guard words.indices.contains(index) else { return nil }
        return words[index].name?.lowercased()
    }

    private static let operators: Set<String> = ["=", "==", "<", ">", "<=", ">=", "<>", "!="]
    private static let scaledFunctions: Set<String> = ["sum", "avg", "min", "max", "total"]
    private static let exactFunctions = ["sum": ExactDecimal.sum, "avg": ExactDecimal.average, "total": ExactDecimal.total]
    private static let clauses: Set<String> = [
        "where", "join", "left", "inner", "cross", "on", "order", "group", "having", "limit", "union", "except", "intersect", "natural", "using",
    ]
}
