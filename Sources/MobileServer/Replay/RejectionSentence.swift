internal import Foundation
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The description of a back end's failure for devices: a sentence in the terms of the model. The back end's statements and the names of its tables
/// and columns concern only the operator: they go to the server's log.
struct RejectionSentence {
    /// The object of the failed operation; nil if no single operation failed, such as at the commit.
    let object: SQLObject?
    /// The failed operation; nil where it is not known any more.
    var operation: BackEndOperation?

    /// The kinds of refusals by a constraint, each with the attributes that it is about.
    enum Constraint {
        case check([AttributeModel])
        case notNull([AttributeModel])
        case unique([AttributeModel])
        case foreignKey
        /// One of another table, which the back end changes together with the row.
        case ofOtherTable
        case other([AttributeModel])
    }

    /// - Parameter code: the ``ResultCode`` that the failure maps to.
    func text(of error: StoreError, code: Int64) -> String { code == ResultCode.constraint ? constraint(error) : text(code) }

    /// Returns the sentence for a code that is not about a constraint.
    func text(_ code: Int64) -> String {
        switch code {
        case ResultCode.notFound: "the back end does not contain the data of \(name)"
        case ResultCode.forbidden: "the server has no right to make this change of \(name) in the back end"
        default: "the back end could not do this; the server's log says why"
        }
    }

    /// - Parameter rule: the name that its owner has given to the constraint; empty if it has none.
    func text(_ constraint: Constraint, rule: String = "") -> String {
        let sentence = text(of: constraint)
        return rule.isEmpty ? sentence : "\(sentence) (constraint \"\(rule.prefix(200))\")"
    }

    /// Returns the sentence about a value that the type of its column does not have.
    /// - Parameter reason: the engine's own words.
    func text(ofInvalidValue reason: String) -> String {
        guard let object, let operation else { return "\(text(of: .check([]))): \(reason)" }
        let listed = object.model.attributes.filter { attribute in
            guard let allowed = object.tableColumn(attribute.name)?.allowedValues, !allowed.isEmpty else { return false }
            return operation.values[attribute.name]?.string.map { !allowed.contains($0) } ?? false
        }
        guard let attribute = listed.first, let allowed = object.tableColumn(attribute.name)?.allowedValues else {
            return "\(text(of: .check(mentioned(in: reason, operation)))): \(reason)"
        }
        return "\(text(of: .check([attribute]))): it is one of " + allowed.map { "\"\($0)\"" }.joined(separator: ", ")
    }

    /// Returns the attributes whose value is quoted at the end of a message; without one, those that the operation writes, if they are few.
    private func mentioned(in reason: String, _ operation: BackEndOperation) -> [AttributeModel] {
        let written = operation.object.attributes.filter { operation.values[$0.name] != nil || operation.largeValues.keys.contains($0.name) }
        let quoted = written.filter { attribute in
            operation.values[attribute.name].map { reason.hasSuffix(": \"\($0.string ?? $0.description)\"") } ?? false
        }
        guard quoted.isEmpty else { return quoted }
        let others = written.filter { !operation.object.primaryKey.contains($0.name) }
        return others.count <= 5 ? others : []
    }

    private func text(of constraint: Constraint) -> String {
        switch constraint {
        case .check(let attributes):
            attributes.isEmpty
                ? "the back end does not accept the values of \(name)"
                : "the back end does not accept this value of \(Self.listed(attributes)) of \(name)"
        case .notNull(let attributes):
            attributes.isEmpty ? "a value that \(name) must have is missing" : "\(Self.listed(attributes)) of \(name) must have a value"
        case .unique(let attributes):
            attributes.isEmpty
                ? "there is another row with a value that \(name) must have alone"
                : "there is a \(name) with the same \(Self.listed(attributes)) already"
        case .foreignKey: "\(name): \(brokenReference)"
        case .ofOtherTable: "the back end changes another table together with \(name), and a constraint there refused it"
        case .other(let attributes):
            attributes.isEmpty
                ? "a constraint of the back end refused \(name)"
                : "a constraint of the back end refused this value of \(Self.listed(attributes)) of \(name)"
        }
    }

    private var name: String { object.map { "\"\($0.plan.name)\"" } ?? "the row" }

    /// Only the possible cause: no row refers to a new one yet, and a deleted one refers to nothing. Statements of the model may do more.
    private var brokenReference: String {
        let missing = "the back end has no row that this one refers to"
        guard let operation else { return "\(missing), or has one that refers to this one" }
        let given = given(operation)
        return switch operation.operation.kind {
        case .create where operation.operation.statements.isEmpty: missing + given
        case .delete where operation.operation.statements.isEmpty: "the back end has a row that refers to this one"
        default: "\(missing)\(given), or has one that refers to this one"
        }
    }

    /// The operation's references with their values, such as ` ("customerId" 999)`.
    private func given(_ operation: BackEndOperation) -> String {
        let sources = Set(object?.plan.references.flatMap { $0.pairs.map(\.source.name) } ?? [])
        let values = operation.object.attributes.map(\.name).filter { sources.contains($0) }.compactMap { name in
            operation.values[name].flatMap { $0.isNull ? nil : "\"\(name)\" \($0.description.prefix(40))" }
        }
        return values.isEmpty ? "" : " (\(values.joined(separator: ", ")))"
    }

    // MARK: SQLite

    private func constraint(_ error: StoreError) -> String {
        // The extended result codes SQLITE_CONSTRAINT_...
        switch error.sqliteCode ?? 0 {
        case 275:  // CHECK
            let rule = Self.tail(of: error.message, behind: "CHECK constraint failed: ")
            // A constraint without a name shows its condition, in the back end's words.
            let isName = rule.wholeMatch(of: /[\w ]+/) != nil
            let columns = object?.table.constraints[rule], mentioned = attributes(mentionedIn: rule, isName: isName)
            if isName, columns == nil, object != nil, mentioned.isEmpty { return text(.ofOtherTable, rule: rule) }
            let named = columns.map { attributes(ofColumns: $0) }
            return text(.check(named ?? mentioned), rule: isName ? rule : "")
        case 1299:  // NOTNULL
            let list = Self.tail(of: error.message, behind: "constraint failed: ")
            return text(isOfOtherTable(list) ? .ofOtherTable : .notNull(attributes(named: list)))
        case 1555, 2067, 2579:  // PRIMARYKEY, UNIQUE, ROWID
            let list = Self.tail(of: error.message, behind: "constraint failed: ")
            // An index with expressions is listed by its name.
            if let index = list.wholeMatch(of: /index '(.*)'/) { return text(.unique([]), rule: String(index.1)) }
            return text(isOfOtherTable(list) ? .ofOtherTable : .unique(attributes(named: list)))
        case 787:  // FOREIGNKEY
            return text(.foreignKey)
        case 1811:  // TRIGGER: a sentence that the back end's owner has written for people
            return Self.tail(of: error.message, behind: "\": ")
        default:
            return text(.other([]))
        }
    }

    /// Returns the attributes whose columns are listed as `table.column, table.column`. Columns of tables other than the object's do not count.
    private func attributes(named list: String) -> [AttributeModel] {
        guard let object else { return [] }
        let columns = list.components(separatedBy: ", ")
        return object.model.attributes.filter { columns.contains("\(object.table.name).\(object.plan.binding.column(of: $0.name))") }
    }

    /// Whether none of the columns that are listed as `table.column, table.column` is of the object's table.
    private func isOfOtherTable(_ list: String) -> Bool {
        guard let object, !list.isEmpty else { return false }
        return !list.components(separatedBy: ", ").contains { $0.lowercased().hasPrefix(object.table.name.lowercased() + ".") }
    }

    /// Returns the attributes whose columns occur in an expression, or as words in the name of a constraint.
    private func attributes(mentionedIn rule: String, isName: Bool) -> [AttributeModel] {
        guard let object else { return [] }
        guard isName else { return attributes(ofColumns: TableChecks.columns(mentionedIn: rule, among: object.table.columns.map(\.name))) }
        let words = Set(rule.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { $0.lowercased() })
        return object.model.attributes.filter { words.contains(object.plan.binding.column(of: $0.name).lowercased()) }
    }

    // MARK: PostgreSQL

    /// Returns the attributes of columns of the object's table.
    func attributes(ofColumns columns: [String]) -> [AttributeModel] {
        object?.model.attributes.filter { attribute in object?.tableColumn(attribute.name).map { columns.contains($0.name) } ?? false } ?? []
    }

    // MARK: Texts

    private static func listed(_ attributes: [AttributeModel]) -> String { attributes.map { "\"\($0.name)\"" }.joined(separator: ", ") }

    /// Returns the text after a mark. An error of a statement consists of the statement's beginning in quotes, a colon, and SQLite's own text.
    private static func tail(of message: String, behind mark: String) -> String {
        message.range(of: mark).map { String(message[$0.upperBound...]) } ?? ""
    }
}
