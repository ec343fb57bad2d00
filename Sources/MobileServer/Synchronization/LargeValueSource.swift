internal import MobileModel
internal import MobileProtocol
internal import MobileStore

/// The location of the content of one large value: a column of one row of a back end.
struct LargeValueSource: Sendable {
    let object: ObjectPlan
    let attribute: AttributeModel
    let key: RowKey
    let backEnd: any BackEnd
    /// Whether the value was NULL at the last comparison of the cache.
    let isNull: Bool

    /// Reads the present content completely, so that the sent bytes are one state of the value.
    /// - Returns: nil if the row is gone; its deletion comes with the next synchronization. The content is nil for NULL.
    func read() throws -> Content? {
        if isNull { return Content(spool: nil) }
        let spool = Spool()
        switch try backEnd.value(of: attribute, in: key, of: object.model, { try spool.append($0) }) {
        case .noRow: return nil
        case .null: return Content(spool: nil)
        case .content: return Content(spool: spool)
        }
    }

    struct Content {
        /// The bytes; nil for NULL.
        let spool: Spool?
    }
}
