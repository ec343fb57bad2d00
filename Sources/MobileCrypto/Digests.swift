internal import CMobileCrypto

/// The digest SHA-256 (FIPS 180-4).
public enum SHA256 {
    /// The 32 bytes of the digest.
    public static func digest(of bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(MCR_SHA256_LENGTH))
        let isDone = mcr_sha256(bytes, bytes.count, &digest)
        precondition(isDone == 1, "libcrypto has no SHA-256")
        return digest
    }
}

/// Random bytes that nobody can guess.
public enum SecureRandom {
    /// So many bytes from libcrypto's generator, which the operating system seeds.
    public static func bytes(_ count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let isDone = mcr_random(&bytes, count)
        precondition(isDone == 1, "libcrypto has no random source")
        return bytes
    }
}

/// Comparison of secrets.
public enum ConstantTime {
    /// Whether both are the same, in a time that depends on their lengths alone.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && mcr_equal(left, right, left.count) == 1
    }
}
