/// A member that has its usual value in most worlds may be missing in a file of `Found`: files of earlier draws stay readable.
extension KeyedDecodingContainer {
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try decodeIfPresent(type, forKey: key) ?? false }
    func decode(_ type: WorldObject.Group.Type, forKey key: Key) throws -> WorldObject.Group { try decodeIfPresent(type, forKey: key) ?? .standard }
}
