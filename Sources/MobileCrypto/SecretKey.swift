internal import CMobileCrypto

/// A key of AES-128-GCM (NIST SP 800-38D) over libcrypto. Its 16 bytes never leave it unsealed, and are overwritten when it is freed.
///
///     let key = try SecretKey(password: password, salt: salt)
///     let sealed = try key.seal(secret, associatedData: name)        // nonce, then the encrypted bytes, then the tag
///     let secret = try key.open(sealed, associatedData: name)        // throws unless all of it is as it was sealed
///
/// Each sealing takes a fresh random nonce of 12 bytes: one key is sufficient for about 2^32 sealings (SP 800-38D, 8.3).
public final class SecretKey: Sendable {
    /// The number of bytes of a key.
    public static let byteCount = Int(MCR_AES128_KEY_SIZE)
    /// The number of bytes that sealing adds: nonce and tag.
    public static let overhead = nonceCount + tagCount

    private static let nonceCount = Int(MCR_GCM_NONCE_SIZE)
    private static let tagCount = Int(MCR_GCM_TAG_SIZE)

    /// `byteCount` bytes that are written only in `init` and `deinit`, so any thread may read them in between.
    private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>

    /// A source of random bytes: returns `count` bytes.
    public typealias RandomSource = (_ count: Int) throws -> [UInt8]

    /// Creates a key of zeros; every other initializer overwrites it.
    private init() {
        bytes = .allocate(capacity: SecretKey.byteCount)
        bytes.initialize(repeating: 0, count: SecretKey.byteCount)
    }

    deinit {
        mcr_cleanse(bytes, SecretKey.byteCount)
        bytes.deallocate()
    }

    /// Creates a key from given bytes, which the caller overwrites afterwards.
    /// - Throws: ``CryptoError/Code/badParameter`` for another number than ``byteCount``.
    convenience init(bytes given: [UInt8]) throws(CryptoError) {
        guard given.count == SecretKey.byteCount else {
            throw CryptoError(.badParameter, "secret key: \(given.count) bytes; AES-128 takes \(SecretKey.byteCount)")
        }
        self.init()
        bytes.update(from: given, count: given.count)
    }

    /// Creates a random key.
    /// - Parameter random: the source of its bytes; default: the system's generator for secrets.
    /// - Throws: any error of `random`; ``CryptoError/Code/badParameter`` if it returns another number of bytes than requested.
    public convenience init(random: RandomSource = RandomBytes.make) throws {
        var given = try random(SecretKey.byteCount)
        defer { given.cleanse() }
        try self.init(bytes: given)
    }

    /// Derives a key from a password with scrypt (RFC 7914). The same password, salt and parameters give the same key.
    /// - Throws: ``CryptoError/Code/badParameter`` for invalid parameters, or for a need of more than 256 MB.
    public convenience init(
        password: [UInt8], salt: [UInt8], parameters: PasswordVerifier.Parameters = PasswordVerifier.Parameters()
    ) throws(CryptoError) {
        var derived = try PasswordVerifier.derive(password, salt: salt, parameters, count: SecretKey.byteCount)
        defer { derived.cleanse() }
        try self.init(bytes: derived)
    }

    /// Encrypts and authenticates `content`, and authenticates `associatedData`, which opening requires again.
    /// - Parameters:
    ///   - content: the secret.
    ///   - associatedData: data that is not secret but must be the same for opening, such as the name that the content belongs to.
    ///   - random: the source of the nonce; default: the system's generator for secrets.
    /// - Returns: nonce, encrypted content and tag: ``overhead`` bytes more than the content.
    /// - Throws: any error of `random`, ``CryptoError/Code/library``.
    public func seal(_ content: [UInt8], associatedData: [UInt8] = [], random: RandomSource = RandomBytes.make) throws -> [UInt8] {
        try content.withUnsafeBufferPointer { try seal($0, associatedData, random) }
    }

    /// Decrypts sealed bytes.
    /// - Throws: ``CryptoError/Code/notAuthentic`` unless key, associated data and every bit of `sealed` are those of one sealing.
    public func open(_ sealed: [UInt8], associatedData: [UInt8] = []) throws(CryptoError) -> [UInt8] {
        var content = [UInt8](repeating: 0, count: try SecretKey.contentCount(of: sealed))
        try content.withUnsafeMutableBufferPointer { (content) throws(CryptoError) in try open(sealed, associatedData, into: content) }
        return content
    }

    /// Seals another key.
    /// - Throws: as for bytes.
    public func seal(_ key: SecretKey, associatedData: [UInt8] = [], random: RandomSource = RandomBytes.make) throws -> [UInt8] {
        try seal(UnsafeBufferPointer(start: key.bytes, count: SecretKey.byteCount), associatedData, random)
    }

    /// Opens a sealed key; its bytes are stored nowhere else.
    /// - Throws: as `open`; ``CryptoError/Code/badParameter`` for a length that no sealed key has.
    public func openKey(_ sealed: [UInt8], associatedData: [UInt8] = []) throws(CryptoError) -> SecretKey {
        guard try SecretKey.contentCount(of: sealed) == SecretKey.byteCount else {
            throw CryptoError(.badParameter, "open a sealed key: \(sealed.count) bytes are not a sealed key")
        }
        let key = SecretKey()
        try open(sealed, associatedData, into: UnsafeMutableBufferPointer(start: key.bytes, count: SecretKey.byteCount))
        return key
    }

    private func seal(_ content: UnsafeBufferPointer<UInt8>, _ associatedData: [UInt8], _ random: RandomSource) throws -> [UInt8] {
        let nonce = try random(SecretKey.nonceCount)
        guard nonce.count == SecretKey.nonceCount else {
            throw CryptoError(.badParameter, "seal: a nonce of \(nonce.count) bytes; GCM takes \(SecretKey.nonceCount)")
        }
        var sealed = nonce + [UInt8](repeating: 0, count: content.count + SecretKey.tagCount)
        let status = sealed.withUnsafeMutableBufferPointer { sealed in
            let start = sealed.baseAddress! + SecretKey.nonceCount  // at least a nonce and a tag
            return mcr_aes128_gcm_seal(
                bytes, nonce, associatedData, associatedData.count, content.baseAddress, content.count, start, start + content.count)
        }
        try CryptoError.check(status, "seal \(content.count) bytes")
        return sealed
    }

    private func open(
        _ sealed: [UInt8], _ associatedData: [UInt8], into content: UnsafeMutableBufferPointer<UInt8>
    ) throws(CryptoError) {
        let status = sealed.withUnsafeBufferPointer { sealed in
            let start = sealed.baseAddress! + SecretKey.nonceCount  // `contentCount` has checked that there are a nonce and a tag
            return mcr_aes128_gcm_open(
                bytes, sealed.baseAddress!, associatedData, associatedData.count, start, content.count, start + content.count,
                content.baseAddress)
        }
        try CryptoError.check(status, "open \(sealed.count) sealed bytes")
    }

    private static func contentCount(of sealed: [UInt8]) throws(CryptoError) -> Int {
        guard sealed.count >= overhead else {
            throw CryptoError(.notAuthentic, "open \(sealed.count) sealed bytes: at least \(overhead) are needed")
        }
        return sealed.count - overhead
    }
}

extension Array<UInt8> {
    /// Overwrites the bytes with zeros, in place if the array's storage is not shared.
    public mutating func cleanse() {
        withUnsafeMutableBytes { mcr_cleanse($0.baseAddress, $0.count) }
    }
}
