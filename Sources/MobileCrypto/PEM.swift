internal import CMobileCrypto

/// Certificates and keys as text (RFC 7468), over libcrypto.
public enum PEM {
    /// Reads the first block of a text.
    /// - Throws: ``CryptoError/Code/malformed``, also for a block that a password protects.
    public static func decode(_ text: String) throws(CryptoError) -> [UInt8] {
        let bytes = Array(text.utf8)
        return try CryptoError.bytes("PEM text") { mcr_pem_read(bytes, bytes.count, &$0) }
    }

    /// Writes bytes under a label, such as `CERTIFICATE`.
    public static func encode(_ der: [UInt8], label: String) throws(CryptoError) -> String {
        String(decoding: try CryptoError.bytes("PEM text") { mcr_pem_write(label, der, der.count, &$0) }, as: UTF8.self)
    }
}
