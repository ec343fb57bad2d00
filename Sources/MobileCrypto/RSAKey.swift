internal import CMobileCrypto

/// An RSA key over libcrypto, with or without its private part. It signs with RSASSA-PKCS1-v1_5 and SHA-256 (`RS256` of RFC 7518). Any number of threads may
/// use it at a time.
///
///     let key = try RSAKey(bits: 2048)
///     let signature = try key.sign(message)
///     try RSAKey(modulus: key.numbers.modulus, exponent: key.numbers.exponent).verify(signature, of: message)
public final class RSAKey: Sendable {
    /// The smallest size of a key, in bits.
    public static let minimumBits = Int(MCR_RSA_MINIMUM_BITS)
    /// The largest size of a key, in bits.
    public static let maximumBits = Int(MCR_RSA_MAXIMUM_BITS)

    /// Written in `init` and `deinit` only; libcrypto only reads it.
    nonisolated(unsafe) let handle: OpaquePointer

    init(taking handle: OpaquePointer) { self.handle = handle }

    private convenience init(_ action: String, _ make: (inout OpaquePointer?) -> mcr_status) throws(CryptoError) {
        var handle: OpaquePointer?
        try CryptoError.check(make(&handle), action)
        guard let handle else { throw CryptoError(.library, "\(action): libcrypto refused") }
        self.init(taking: handle)
    }

    /// Makes a key pair; with 2048 bits it takes about 0.1 s.
    /// - Parameter bits: 2048 (default) to 8192.
    /// - Throws: ``CryptoError/Code/badParameter``, ``CryptoError/Code/library``.
    public convenience init(bits: Int = 2048) throws(CryptoError) {
        guard (Self.minimumBits...Self.maximumBits).contains(bits) else {
            throw CryptoError(.badParameter, "RSA key of \(bits) bits: use \(Self.minimumBits) to \(Self.maximumBits)")
        }
        try self.init("RSA key") { mcr_rsa_generate(UInt32(bits), &$0) }
    }

    /// Reads a private key in DER: PKCS#1 or PKCS#8.
    /// - Throws: ``CryptoError/Code/malformed``, also for another algorithm and a size out of range.
    public convenience init(privateDER der: [UInt8]) throws(CryptoError) {
        try self.init("private RSA key") { mcr_rsa_read_private(der, der.count, &$0) }
    }

    /// Makes a public key of its numbers, the most significant byte first.
    /// - Throws: ``CryptoError/Code/malformed``, also for a size out of range.
    public convenience init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        try self.init("public RSA key") { mcr_rsa_public(modulus, modulus.count, exponent, exponent.count, &$0) }
    }

    deinit { mcr_rsa_free(handle) }

    /// The private key as PKCS#1 DER. The caller keeps it secret.
    /// - Throws: ``CryptoError/Code/badParameter`` for a public key.
    public var privateDER: [UInt8] {
        get throws(CryptoError) { try CryptoError.bytes("private RSA key") { mcr_rsa_write_private(handle, &$0) } }
    }

    /// The numbers of the public key, the most significant byte first, without leading zeros.
    public var numbers: (modulus: [UInt8], exponent: [UInt8]) {
        get throws(CryptoError) {
            var modulus = mcr_bytes(), exponent = mcr_bytes()
            defer {
                mcr_bytes_free(&modulus)
                mcr_bytes_free(&exponent)
            }
            try CryptoError.check(mcr_rsa_numbers(handle, &modulus, &exponent), "public RSA key")
            return (modulus.array, exponent.array)
        }
    }

    /// Signs bytes.
    /// - Throws: ``CryptoError/Code/badParameter`` for a public key.
    public func sign(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        try CryptoError.bytes("RSA signature") { mcr_rsa_sign(handle, bytes, bytes.count, &$0) }
    }

    /// Checks a signature.
    /// - Throws: ``CryptoError/Code/notAuthentic``: another key signed, or the bytes or the signature were changed.
    public func verify(_ signature: [UInt8], of bytes: [UInt8]) throws(CryptoError) {
        try CryptoError.check(mcr_rsa_verify(handle, bytes, bytes.count, signature, signature.count), "RSA signature")
    }
}

extension CryptoError {
    /// Returns the bytes that a function of libcrypto's wrapper allocates.
    static func bytes(_ action: String, _ make: (inout mcr_bytes) -> mcr_status) throws(CryptoError) -> [UInt8] {
        var bytes = mcr_bytes()
        defer { mcr_bytes_free(&bytes) }
        try check(make(&bytes), action)
        return bytes.array
    }
}

extension mcr_bytes {
    var array: [UInt8] { start.map { Array(UnsafeBufferPointer(start: $0, count: length)) } ?? [] }
}
