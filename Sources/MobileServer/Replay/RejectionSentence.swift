internal import Foundation
internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The description of a back end's failure for devices: a sentence in the terms of the model. The back end's statements and the names of its tables
/// and columns concern only the operator: they go to the server's log.
struct RejectionSentence {
    /// The object of the failed operation; nil if no single operation failed, such as at the commit.
    let object: ObjectPlan?

    /// - Parameter code: the ``ResultCode`` that the failure maps to.
    func text(of error: StoreError, code: Int64) -> String {
        switch code {
        case ResultCode.constraint: return constraint(error)
        case ResultCode.conflict: return "the back end is busy; try again"
        case ResultCode.unavailable: return "the back end is out of reach; try again"
        case ResultCode.notFound: return "the back end does not contain the data of \(name)"
        default: return "the back end could not do this; the server's log says why"
        }
    }

    private var name: String { object.map { "\"\($0.name)\"" } ?? "the row" }

    private func constraint(_ error: StoreError) -> String {
        // The extended result codes SQLITE_CONSTRAINT_...
        switch error.sqliteCode ?? 0 {
        case 275:  // CHECK
            let attributes = attributes(mentionedIn: Self.tail(of: error.message, behind: "CHECK constraint failed: "))
            return attributes.isEmpty
                ? "the back end does not accept the values of \(name)" : "the back end does not accept this value of \(attributes) of \(name)"
        case 1299:  // NOTNULL
            let attributes = attributes(named: Self.tail(of: error.message, behind: "constraint failed: "))
            return attributes.isEmpty ? "a value that \(name) must have is missing" : "\(attributes) of \(name) must have a value"
        case 1555, 2067, 2579:  // PRIMARYKEY, UNIQUE, ROWID
            let attributes = attributes(named: Self.tail(of: error.message, behind: "constraint failed: "))
            return attributes.isEmpty
                ? "there is another row with a value that \(name) must have alone" : "there is a \(name) with the same \(attributes) already"
        case 787:  // FOREIGNKEY
            return "\(name): the back end has no row that this one refers to, or has one that refers to this one"
        case 1811:  // TRIGGER: a sentence that the back end's owner has written for people
            return Self.tail(of: error.message, behind: "\": ")
        default:
            return "a constraint of the back end refused \(name)"
        }
    }

    // MARK: Names

    /// Returns the attributes whose columns are listed as `table.column, table.column`. Columns of tables other than the object's do not count.
    private func attributes(named list: String) -> String {
        guard let object else { return "" }
        let columns = list.components(separatedBy: ", ")
        return Self.listed(
            object.model.attributes.filter { columns.contains("\(object.table.name).\(object.binding.column(of: $0.name))") })
    }

    /// Returns the attributes whose columns occur as words in an expression or in the name of a constraint.
    private func attributes(mentionedIn expression: String) -> String {
        guard let object else { return "" }
        let words = Set(expression.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map { $0.lowercased() })
        return Self.listed(object.model.attributes.filter { words.contains(object.binding.column(of: $0.name).lowercased()) })
    }

    private static func listed(_ attributes: [AttributeModel]) -> String { attributes.map { "\"\($0.name)\"" }.joined(separator: ", ") }

    /// Returns the text after a mark. An error of a statement consists of the statement's beginning in quotes, a colon, and SQLite's own text.
    private static func tail(of message: String, behind mark: String) -> String {
        message.range(of: mark).map { String(message[$0.upperBound...]) } ?? ""
    }
}
