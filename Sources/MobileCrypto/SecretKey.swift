internal import CMobileCrypto

/// A key of AES-128-GCM (NIST SP 800-38D) over libcrypto. Its 16 bytes never leave it unsealed, and are overwritten when the last user lets go.
///
///     let key = try SecretKey(password: password, salt: salt)
///     let sealed = try key.seal(secret, associatedData: name)        // nonce, then the encrypted bytes, then the tag
///     let secret = try key.open(sealed, associatedData: name)        // throws unless all of it is as it was sealed
///
/// Each sealing takes a fresh random nonce of 12 bytes: one key is good for about 2^32 of them (SP 800-38D, 8.3).
public final class SecretKey: Sendable {
    /// Bytes of a key.
    public static let byteCount = Int(MCR_AES128_KEY_SIZE)
    /// Bytes that sealing adds: nonce and tag.
    public static let overhead = nonceCount + tagCount

    private static let nonceCount = Int(MCR_GCM_NONCE_SIZE)
    private static let tagCount = Int(MCR_GCM_TAG_SIZE)

    /// `byteCount` bytes that are written in `init` and in `deinit`, and only read between them: so any thread may use them.
    private nonisolated(unsafe) let bytes: UnsafeMutablePointer<UInt8>

    /// Bytes at random: `count` of them.
    public typealias RandomSource = (_ count: Int) throws -> [UInt8]

    /// A key of which nothing is known yet; every initializer fills it.
    private init() {
        bytes = .allocate(capacity: SecretKey.byteCount)
        bytes.initialize(repeating: 0, count: SecretKey.byteCount)
    }

    deinit {
        mcr_cleanse(bytes, SecretKey.byteCount)
        bytes.deallocate()
    }

    /// A key made of given bytes, which the caller overwrites.
    /// - Throws: ``CryptoError/Code/badParameter`` for another number than ``byteCount``.
    convenience init(bytes given: [UInt8]) throws(CryptoError) {
        guard given.count == SecretKey.byteCount else {
            throw CryptoError(.badParameter, "secret key: \(given.count) bytes; AES-128 takes \(SecretKey.byteCount)")
        }
        self.init()
        bytes.update(from: given, count: given.count)
    }

    /// A key at random.
    /// - Parameter random: where its bytes come from; default: the system's generator for secrets.
    /// - Throws: what `random` throws; ``CryptoError/Code/badParameter`` when it gives another number of bytes than asked for.
    public convenience init(random: RandomSource = RandomBytes.make) throws {
        var given = try random(SecretKey.byteCount)
        defer { given.cleanse() }
        try self.init(bytes: given)
    }

    /// The key that scrypt (RFC 7914) derives from a password. The same password, salt and parameters give the same key.
    /// - Throws: ``CryptoError/Code/badParameter`` for parameters that are no valid ones or need more than 256 MB.
    public convenience init(
        password: [UInt8], salt: [UInt8], parameters: PasswordVerifier.Parameters = PasswordVerifier.Parameters()
    ) throws(CryptoError) {
        var derived = try PasswordVerifier.derive(password, salt: salt, parameters, count: SecretKey.byteCount)
        defer { derived.cleanse() }
        try self.init(bytes: derived)
    }

    /// Encrypts and authenticates `content`, and authenticates `associatedData` along with it, which is needed again for opening.
    /// - Parameters:
    ///   - content: what is to be secret.
    ///   - associatedData: what is not secret, but must be the same for opening, such as the name that the content belongs to.
    ///   - random: where the nonce comes from; default: the system's generator for secrets.
    /// - Returns: nonce, encrypted content and tag: ``overhead`` bytes more than the content.
    /// - Throws: what `random` throws, ``CryptoError/Code/library``.
    public func seal(_ content: [UInt8], associatedData: [UInt8] = [], random: RandomSource = RandomBytes.make) throws -> [UInt8] {
        try content.withUnsafeBufferPointer { try seal($0, associatedData, random) }
    }

    /// What was sealed.
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

    /// A key that was sealed; its bytes are nowhere else.
    /// - Throws: as `open`; ``CryptoError/Code/badParameter`` for a length that no sealed key has.
    public func openKey(_ sealed: [UInt8], associatedData: [UInt8] = []) throws(CryptoError) -> SecretKey {
        guard try SecretKey.contentCount(of: sealed) == SecretKey.byteCount else {
            throw CryptoError(.badParameter, "open a sealed key: \(sealed.count) bytes are no sealed key")
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
            let start = sealed.baseAddress! + SecretKey.nonceCount  // there are a nonce and a tag at least
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
            let start = sealed.baseAddress! + SecretKey.nonceCount  // `contentCount` has seen that there are a nonce and a tag
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
    /// Overwrites the bytes with zeros, in place where nobody else holds the array.
    public mutating func cleanse() {
        withUnsafeMutableBytes { mcr_cleanse($0.baseAddress, $0.count) }
    }
}
