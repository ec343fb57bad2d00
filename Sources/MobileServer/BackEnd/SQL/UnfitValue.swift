internal import Foundation
internal import MobileModel
internal import MobileStore

/// A value of a back end that its attribute cannot have. The error of its load names the row and the column, because the owner of the data corrects it there.
struct UnfitValue {
    private let object: SQLObject
    /// The attributes that the value is made of: several for a key of several parts.
    private let attributes: [AttributeModel]
    /// The attribute whose form the value must have: that of the other object for a reference.
    private let form: AttributeModel?
    private let key: Value
    private let value: Value

    /// Finds the value that an export of a load's rows could not write: the key, the keys of references, the other attributes. Nil for another failure.
    init?(in export: BulkExporter, of object: SQLObject) {
        guard let column = export.refusedColumn else { return nil }
        let plan = object.plan, references = plan.references
        self.object = object
        if column == 0 {
            attributes = plan.keyAttributes
            form = attributes.first
        } else if column <= references.count {
            attributes = references[column - 1].pairs.map(\.source)
            form = references[column - 1].pairs.first?.key
        } else {
            attributes = [plan.rowAttributes[column - 1 - references.count]]
            form = attributes.first
        }
        (key, value) = (export.refusedRowValue(0), export.refusedRowValue(column))
    }

    /// The error of the load.
    func error(_ cause: StoreError) -> ServerError {
        let plan = object.plan, names = attributes.map { "\"\(plan.binding.column(of: $0.name))\"" }.joined(separator: ", ")
        let place = object.load == nil ? "table \"\(object.table.name)\"" : "the load's rows from table \"\(object.table.name)\""
        return ServerError(
            .load,
            """
            load of "\(plan.name)" from back end "\(plan.binding.backEnd)": \(place), row with the key \(Self.text(key)), column \(names): \
            expected \(form?.formWords ?? "another value") for the attribute "\(attributes.map(\.name).joined(separator: ", "))", found \(Self.text(value))
            """, cause: cause)
    }

    /// A value as people write it, cut to one line.
    private static func text(_ value: Value) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): "\"" + text.prefix(60).replacing(/\s/, with: " ") + (text.count > 60 ? "..." : "") + "\""
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }
}

extension AttributeModel {
    /// Phrase for the values that the attribute can have, for messages.
    fileprivate var formWords: String {
        switch type {
        case .byte, .short, .int, .long, .integer: "an integer"
        case .boolean: "true or false"
        case .float, .double: "a finite number"
        case .decimal: decimalWords
        case .date, .time, .dateTime, .string, .char, .structure, .list, .nullableList, .bigString: "text in UTF-8"
        case .binary, .bigBinary: "bytes"
        }
    }
}
