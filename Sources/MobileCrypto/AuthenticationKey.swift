internal import CMobileCrypto

/// A key of HMAC-SHA-256 (RFC 2104) over libcrypto, prepared once for many codes. Any number of threads may use it at a time.
///
///     let key = try AuthenticationKey(secret)
///     let code = try key.code(of: message)        // the other end compares it with `equalsInConstantTime`
public final class AuthenticationKey: Sendable {
    /// Written in `init` and `deinit` only; libcrypto copies it for each code.
    private nonisolated(unsafe) let handle: OpaquePointer

    /// - Parameter key: 32 random bytes are enough.
    /// - Throws: ``CryptoError/Code/noMemory``, also if libcrypto fails.
    public init(_ key: [UInt8]) throws(CryptoError) {
        guard let handle = mcr_hmac_create(key, key.count) else { throw CryptoError(.noMemory, "HMAC: no memory") }
        self.handle = handle
    }

    deinit { mcr_hmac_free(handle) }

    /// Returns the code of `bytes`, 32 bytes.
    /// - Throws: ``CryptoError/Code/noMemory``, ``CryptoError/Code/library``.
    public func code(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: SHA256.byteCount)
        try CryptoError.check(mcr_hmac_code(handle, bytes, bytes.count, &code), "HMAC")
        return code
    }
}
