internal import MobileModel
internal import MobileStore

extension UnfitRow {
    /// The row of the value that an export of a load's rows could not write: the key, the keys of references, the other attributes. Nil for another failure.
    init?(in export: BulkExporter, of object: ObjectPlan) {
        guard let column = export.refusedColumn else { return nil }
        let references = object.references, key = export.refusedRowValue(0)
        let attributes: [AttributeModel], form: AttributeModel?
        if column == 0 {
            (attributes, form) = (object.keyAttributes, object.keyAttributes.first)
        } else if column <= references.count {
            let pairs = references[column - 1].pairs
            (attributes, form) = (pairs.map(\.source), pairs.first?.key)
        } else {
            (attributes, form) = ([object.rowAttributes[column - 1 - references.count]], nil)
        }
        let isOfKey = column == 0 || key == .null || form == nil && object.model.primaryKey.contains(attributes[0].name)
        self.init(
            object, key: isOfKey ? nil : KeyText(key), shownKey: key, attributes: attributes, form: form, value: export.refusedRowValue(column))
    }
}
