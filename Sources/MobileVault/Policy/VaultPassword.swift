internal import Foundation
internal import MobileCrypto

/// The password of a vault: one that the user has chosen, or the default one, which is computed.
enum VaultPassword {
    case standard
    case chosen(String)

    /// An empty password counts as missing.
    init(_ password: String?) {
        guard let password, !password.isEmpty else {
            self = .standard
            return
        }
        self = .chosen(password)
    }

    /// The bytes from which the key is derived.
    func bytes(for vault: String, seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .chosen(let text): Fields.bytes(of: text)
        case .standard: try Self.standard("default password", for: vault, seed: seed)
        }
    }

    /// The salt for scrypt: the caller's, or a default one, combined with the vault's own random salt. Two vaults therefore never have the same
    /// key, even with an application's constant salt or a repeated password.
    static func salt(_ salt: String?, for vault: String, seed: [UInt8], own: [UInt8]) throws(CryptoError) -> [UInt8] {
        let given = if let salt { Fields.bytes(of: salt) } else { try standard("default salt", for: vault, seed: seed) }
        return try SHA256.digest(of: Fields.join("salt", given, own))
    }

    /// The bytes that replace a missing value: every reader of the vault's file can compute them.
    private static func standard(_ what: String, for vault: String, seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        try SHA256.digest(of: Fields.join(what, Fields.bytes(of: vault), seed))
    }
}

/// Encodes several fields as bytes that differ for different fields: each field follows its length. For authentication and digests.
enum Fields {
    static func join(_ purpose: String, _ fields: [UInt8]...) -> [UInt8] {
        ([Array(purpose.utf8)] + fields).flatMap { bytes(of: Int64($0.count)) + $0 }
    }

    /// The eight bytes of a number, the lowest first.
    static func bytes(of number: Int64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

    /// UTF-8 of the composed form: different compositions of an accent give the same password and the same name.
    static func bytes(of text: String) -> [UInt8] { Array(text.precomposedStringWithCanonicalMapping.utf8) }
}
