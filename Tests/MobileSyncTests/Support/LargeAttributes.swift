import MobileStore

/// Reads the whole value; nil for NULL.
func bytes(of attribute: BigBinary) throws -> [UInt8]? {
    guard try attribute.length != nil else { return nil }
    try attribute.openForRead()
    var bytes: [UInt8] = []
    while let piece = try attribute.read(10_000), !piece.isEmpty { bytes += piece }
    try attribute.close()
    return bytes
}

/// Reads the whole text; nil for NULL.
func text(of attribute: BigString) throws -> String? {
    guard try attribute.length != nil else { return nil }
    try attribute.openForRead()
    var text = ""
    while let piece = try attribute.read(10_000), !piece.isEmpty { text += piece }
    try attribute.close()
    return text
}

/// Replaces the value.
func write(_ bytes: [UInt8], to attribute: BigBinary) throws {
    try attribute.openForWrite()
    for start in stride(from: 0, to: bytes.count, by: 10_000) { try attribute.write(Array(bytes[start..<min(start + 10_000, bytes.count)])) }
    try attribute.close()
}
