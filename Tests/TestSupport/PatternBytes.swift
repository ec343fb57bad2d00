/// Makes bytes that depend on their position, so that a lost or doubled piece is detected.
public func patternBytes(_ count: Int, from start: Int = 0) -> [UInt8] {
    // Written in place: without the optimizer, a call for each byte takes seconds for a large value.
    [UInt8](unsafeUninitializedCapacity: count) { bytes, written in
        var index = 0
        while index < count {
            let position = start + index
            bytes[index] = UInt8(truncatingIfNeeded: position &* 31 &+ position >> 8)
            index += 1
        }
        written = count
    }
}
