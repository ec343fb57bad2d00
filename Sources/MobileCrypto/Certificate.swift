internal import CMobileCrypto

/// An X.509 certificate of an RSA key, over libcrypto. Any number of threads may use it at a time.
///
///     let authority = try RSAKey(), root = try Certificate(authority: authority, name: "Devices", from: now, to: now + tenYears)
///     let certificate = try Certificate(of: key, name: "D-1", issuer: root, issuerKey: authority, from: now, to: now + year)
///     try certificate.verify(issuer: root, at: now)
public final class Certificate: Sendable {
    /// The longest name, in characters: the upper bound of X.520 for common names and organizations.
    public static let maximumName = 64

    /// Written in `init` and `deinit` only; libcrypto only reads it.
    private nonisolated(unsafe) let handle: OpaquePointer

    private init(_ action: String, _ make: (inout OpaquePointer?) -> mcr_status) throws(CryptoError) {
        var handle: OpaquePointer?
        try CryptoError.check(make(&handle), action)
        guard let handle else { throw CryptoError(.library, "\(action): libcrypto refused") }
        self.handle = handle
    }

    /// Reads a certificate in DER.
    /// - Throws: ``CryptoError/Code/malformed``, also for a key that is not RSA of 2048 to 8192 bits.
    public convenience init(der: [UInt8]) throws(CryptoError) {
        try self.init("certificate") { mcr_certificate_read(der, der.count, &$0) }
    }

    /// Makes the certificate of an authority, which signs itself.
    /// - Parameters:
    ///   - authority: its key pair.
    ///   - name: the common name, 1 to 64 characters.
    ///   - from: seconds since 1970 from which it is valid.
    ///   - to: seconds since 1970 to which it is valid.
    /// - Throws: ``CryptoError/Code/badParameter``, ``CryptoError/Code/library``.
    public convenience init(authority: RSAKey, name: String, from: Int64, to: Int64) throws(CryptoError) {
        try Self.check(name, "")
        try self.init("certificate of an authority") {
            mcr_certificate_issue(authority.handle, name, "", nil, authority.handle, from, to, &$0)
        }
    }

    /// Issues a certificate.
    /// - Parameters:
    ///   - key: the public key of the subject.
    ///   - name: the common name, 1 to 64 characters.
    ///   - organization: the organization, 64 characters at most; empty (default) for none.
    ///   - issuer: the certificate of the authority.
    ///   - issuerKey: the key pair of the authority.
    ///   - from: seconds since 1970 from which it is valid.
    ///   - to: seconds since 1970 to which it is valid.
    /// - Throws: ``CryptoError/Code/badParameter``: a name is too long, or the key is not that of the authority; ``CryptoError/Code/library``.
    public convenience init(
        of key: RSAKey, name: String, organization: String = "", issuer: Certificate, issuerKey: RSAKey, from: Int64, to: Int64
    ) throws(CryptoError) {
        try Self.check(name, organization)
        try self.init("certificate") {
            mcr_certificate_issue(key.handle, name, organization, issuer.handle, issuerKey.handle, from, to, &$0)
        }
    }

    deinit { mcr_certificate_free(handle) }

    /// C would end a text at its first zero.
    private static func check(_ texts: String...) throws(CryptoError) {
        for text in texts where text.utf8.contains(0) { throw CryptoError(.badParameter, "certificate: a name has a zero") }
    }

    /// The certificate as DER.
    public var der: [UInt8] {
        get throws(CryptoError) { try CryptoError.bytes("certificate") { mcr_certificate_write(handle, &$0) } }
    }

    /// The public key of the subject.
    public var key: RSAKey {
        get throws(CryptoError) {
            var key: OpaquePointer?
            try CryptoError.check(mcr_certificate_key(handle, &key), "key of a certificate")
            guard let key else { throw CryptoError(.library, "key of a certificate: libcrypto refused") }
            return RSAKey(taking: key)
        }
    }

    /// The common name and the organization of the subject; empty for none.
    public var names: (common: String, organization: String) {
        get throws(CryptoError) {
            var common = mcr_bytes(), organization = mcr_bytes()
            defer {
                mcr_bytes_free(&common)
                mcr_bytes_free(&organization)
            }
            try CryptoError.check(mcr_certificate_names(handle, &common, &organization), "names of a certificate")
            return (String(decoding: common.array, as: UTF8.self), String(decoding: organization.array, as: UTF8.self))
        }
    }

    /// Seconds since 1970 from which it is valid.
    /// - Throws: ``CryptoError/Code/malformed``: the time cannot be read.
    public var begin: Int64 {
        get throws(CryptoError) {
            var time: Int64 = 0
            try CryptoError.check(mcr_certificate_begin(handle, &time), "time of a certificate")
            return time
        }
    }

    /// Checks that an authority issued the certificate, and that both are valid at a time.
    /// - Parameters:
    ///   - issuer: the certificate of the authority.
    ///   - time: seconds since 1970.
    /// - Throws: ``CryptoError/Code/notAuthentic``.
    public func verify(issuer: Certificate, at time: Int64) throws(CryptoError) {
        try CryptoError.check(mcr_certificate_verify(handle, issuer.handle, time), "certificate")
    }
}
