/// Hooks that generated classes call for structures and lists, which lie in the row as JSON text.
extension Entity {
    /// A structure or list as a value; null where it is nil.
    public final func encoded<T: Encodable>(_ value: T?) -> AttributeValue {
        guard let value else { return .null }
        // Generated structures can always be encoded. Where a hand-written type cannot, there is no value.
        return (try? .encoded(value)) ?? .null
    }

    /// Converts JSON text for a structure's or list's stored property; used by generated `setValue(_:ofAttribute:)`.
    /// - Throws: ``ObjectError/Code/invalidValue`` when the JSON is not of that type, or null where that is not allowed.
    public final func decode<T: Decodable>(_ value: AttributeValue, ofAttribute index: Int) throws -> T {
        let text: String
        switch value {
        case .json(let json): text = json
        case .null where metadata.attributes[index].isNullable: text = "null"
        default: throw badValue(value, index)
        }
        do { return try StructureJSON.value(text) } catch { throw badValue(value, index) }
    }
}
