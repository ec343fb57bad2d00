internal import Foundation
internal import MobileCrypto

/// What a vault is opened with: a password of the user's, or the default one, which is computed.
enum VaultPassword {
    case standard
    case chosen(String)

    /// A blank password is none.
    init(_ password: String?) {
        guard let password, !password.isEmpty else {
            self = .standard
            return
        }
        self = .chosen(password)
    }

    /// The bytes that the key is derived from.
    func bytes(for vault: String, seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        switch self {
        case .chosen(let text): Fields.bytes(of: text)
        case .standard: try Self.standard("default password", for: vault, seed: seed)
        }
    }

    /// The salt that scrypt gets: the caller's, or a default one, together with the vault's own random one. So neither an application's
    /// constant salt nor a repeated password makes two vaults have one key.
    static func salt(_ salt: String?, for vault: String, seed: [UInt8], own: [UInt8]) throws(CryptoError) -> [UInt8] {
        let given = if let salt { Fields.bytes(of: salt) } else { try standard("default salt", for: vault, seed: seed) }
        return try SHA256.digest(of: Fields.join("salt", given, own))
    }

    /// What stands in for something that was not given: anybody who can read the vault's file can compute it.
    private static func standard(_ what: String, for vault: String, seed: [UInt8]) throws(CryptoError) -> [UInt8] {
        try SHA256.digest(of: Fields.join(what, Fields.bytes(of: vault), seed))
    }
}

/// Several things as one run of bytes that no other things have: each behind its length. It is what is authenticated and digested.
enum Fields {
    static func join(_ purpose: String, _ fields: [UInt8]...) -> [UInt8] {
        ([Array(purpose.utf8)] + fields).flatMap { bytes(of: Int64($0.count)) + $0 }
    }

    /// The eight bytes of a number, the lowest first.
    static func bytes(of number: Int64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) } }

    /// UTF-8 of the composed form: how a keyboard composes an accent makes no other password and no other name.
    static func bytes(of text: String) -> [UInt8] { Array(text.precomposedStringWithCanonicalMapping.utf8) }
}
