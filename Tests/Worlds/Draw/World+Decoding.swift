/// A member that is false in most worlds may be missing in a file of `Found`: files of earlier draws stay readable.
extension KeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decodeIfPresent(type, forKey: key) ?? false }
}
