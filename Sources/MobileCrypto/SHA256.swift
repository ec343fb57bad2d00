internal import CMobileCrypto

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
///
///     var digest = try SHA256()
///     try digest.update(piece)
///     let bytes = try digest.finish()          // and the next digest may begin
public struct SHA256: ~Copyable {
    private let handle: OpaquePointer

    /// The number of bytes of a digest.
    public static let byteCount = 32

    /// - Throws: ``CryptoError/Code/noMemory``.
    public init() throws(CryptoError) {
        guard let handle = mcr_sha256_create() else { throw CryptoError(.noMemory, "SHA-256: no memory") }
        self.handle = handle
    }

    deinit { mcr_sha256_free(handle) }

    /// Adds a piece.
    /// - Throws: ``CryptoError/Code/library``.
    public mutating func update(_ bytes: RawSpan) throws(CryptoError) {
        try CryptoError.check(bytes.withUnsafeBytes { mcr_sha256_update(handle, $0.baseAddress, $0.count) }, "SHA-256")
    }

    /// Adds a piece from an array.
    public mutating func update(_ bytes: [UInt8]) throws(CryptoError) { try update(bytes.span.bytes) }

    /// Returns the digest of all pieces since the beginning or the last call, 32 bytes.
    /// - Throws: ``CryptoError/Code/library``.
    public mutating func finish() throws(CryptoError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: SHA256.byteCount)
        try CryptoError.check(mcr_sha256_finish(handle, &digest), "SHA-256")
        return digest
    }

    /// The digest of `bytes`, 32 bytes.
    /// - Throws: ``CryptoError/Code/noMemory``, ``CryptoError/Code/library``.
    public static func digest(of bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        var digest = try SHA256()
        try digest.update(bytes)
        return try digest.finish()
    }

    /// The digest of a text's UTF-8, such as a token that is stored only as its digest.
    /// - Throws: as ``digest(of:)-([UInt8])``.
    public static func digest(of text: String) throws(CryptoError) -> [UInt8] { try digest(of: Array(text.utf8)) }
}
