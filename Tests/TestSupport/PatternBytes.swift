/// Makes bytes that depend on their position, so that a lost or doubled piece is detected.
public func patternBytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    (start..<start + count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
}
