internal import CMobileCrypto

/// The value that a server stores instead of a password: enough to check a password, too little to find it. scrypt (RFC 7914) over libcrypto.
///
///     let stored = try PasswordVerifier(password: password).encoded
///     let isRight = try PasswordVerifier(encoded: stored).accepts(candidate)
///
/// Creating and checking take about 0.1 s and 32 MB with the default parameters, on purpose: each guess costs an attacker the same.
public struct PasswordVerifier: Sendable, Hashable {
    /// The cost of a check.
    public struct Parameters: Sendable, Hashable {
        /// Cost in time and memory, a power of two above 1; default 32,768.
        public var n: UInt64 = 1 << 15
        /// Block size; default 8. Memory is about 128 * n * r bytes.
        public var r: UInt64 = 8
        /// Independent runs; default 1.
        public var p: UInt64 = 1

        /// Parameters of scrypt (RFC 7914); the defaults take about 0.1 s and 32 MB.
        public init(n: UInt64 = 1 << 15, r: UInt64 = 8, p: UInt64 = 1) {
            self.n = n
            self.r = r
            self.p = p
        }
    }

    /// The cost of a check.
    public let parameters: Parameters
    /// Random bytes, 16 by default, that make the hashes of equal passwords differ.
    public let salt: [UInt8]
    /// The derived key, 32 bytes.
    public let hash: [UInt8]

    /// The maximum memory of a verifier, so that a stored text cannot exhaust the server.
    private static let memoryLimit: UInt64 = 256 << 20

    /// Creates a verifier.
    /// - Parameters:
    ///   - password: any text.
    ///   - salt: 8 bytes or more that no other verifier has; nil (default) for 16 random bytes.
    ///   - parameters: the cost of deriving the key.
    /// - Throws: ``CryptoError/Code/badParameter`` for invalid parameters, for a need of more than 256 MB, or for a short salt,
    ///   ``CryptoError/Code/library``.
    public init(password: String, salt: [UInt8]? = nil, parameters: Parameters = Parameters()) throws(CryptoError) {
        let salt = if let salt { salt } else { try RandomBytes.make(16) }
        guard salt.count >= 8 else { throw CryptoError(.badParameter, "password verifier: a salt of \(salt.count) bytes; use 8 or more") }
        self.parameters = parameters
        self.salt = salt
        hash = try PasswordVerifier.derive(Array(password.utf8), salt: salt, parameters, count: 32)
    }

    /// Reads `scrypt$N$r$p$salt$hash`, salt and hash in base64url.
    /// - Throws: ``CryptoError/Code/malformed``.
    public init(encoded: String) throws(CryptoError) {
        let parts = encoded.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let n = UInt64(parts[1]), let r = UInt64(parts[2]), let p = UInt64(parts[3]),
            let salt = [UInt8](base64URL: parts[4]), let hash = [UInt8](base64URL: parts[5]), salt.count >= 8, hash.count >= 16
        else { throw CryptoError(.malformed, "password verifier: expected scrypt$N$r$p$salt$hash") }
        parameters = Parameters(n: n, r: r, p: p)
        self.salt = salt
        self.hash = hash
    }

    /// The verifier as text: `scrypt$N$r$p$salt$hash`, salt and hash in base64url.
    public var encoded: String {
        "scrypt$\(parameters.n)$\(parameters.r)$\(parameters.p)$\(salt.base64URL)$\(hash.base64URL)"
    }

    /// Whether this is the password. The time of the comparison does not depend on where the hashes differ.
    /// - Throws: ``CryptoError/Code/badParameter`` for a verifier with impossible parameters.
    public func accepts(_ password: String) throws(CryptoError) -> Bool {
        let candidate = try PasswordVerifier.derive(Array(password.utf8), salt: salt, parameters, count: hash.count)
        return candidate.equalsInConstantTime(hash)
    }

    /// Derives a key with scrypt.
    /// - Throws: ``CryptoError/Code/badParameter``.
    static func derive(_ password: [UInt8], salt: [UInt8], _ parameters: Parameters, count: Int) throws(CryptoError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: count)
        let status = mcr_scrypt(
            password, password.count, salt, salt.count, parameters.n, parameters.r, parameters.p, memoryLimit, &key, count)
        try CryptoError.check(status, "scrypt with N=\(parameters.n), r=\(parameters.r), p=\(parameters.p)")
        return key
    }
}
