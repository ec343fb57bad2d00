internal import CMobileCrypto

/// Random bytes from the system's generator for secrets.
public enum RandomBytes {
    /// - Parameter count: the number of bytes.
    /// - Throws: ``CryptoError/Code/library`` if the system has no source of randomness.
    public static func make(_ count: Int) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try CryptoError.check(mcr_random(&bytes, count), "random bytes")
        return bytes
    }

    /// A token for a session: 32 random bytes in hexadecimal.
    /// - Throws: as ``make(_:)``.
    public static func token() throws(CryptoError) -> String { try make(32).hexadecimal }
}

extension Collection<UInt8> {
    /// Whether two secrets are the same. The time depends at most on their lengths.
    public func equalsInConstantTime(_ other: some Collection<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return mcr_equal(Array(self), Array(other), count)
    }
}
