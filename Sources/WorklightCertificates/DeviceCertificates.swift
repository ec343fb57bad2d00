internal import MobileCrypto
public import MobileVault
public import WorklightClient

/// The RSA keys and certificates of a device, in a vault.
///
///     try vault.unlock(password)
///     configuration.deviceKeys = DeviceCertificates(in: vault)
///
/// Keys have 2048 bits; they are made at the first challenge that demands a certificate, and leave the vault only inside of this process. The vault must be
/// unlocked whenever the server challenges the realm; otherwise the request fails. Methods throw `DataVaultError` and `CryptoError`.
public struct DeviceCertificates: WLDeviceKeys {
    private let vault: DataVault

    /// Takes a vault. Its values whose names begin with `worklight.` belong to this module.
    public init(in vault: DataVault) { self.vault = vault }

    private enum Part: String {
        case key, certificate
    }

    private func name(_ part: Part, _ entity: String) -> String { "worklight.\(part.rawValue).\(entity)" }

    private func key(of entity: String) throws -> RSAKey {
        if let der = try vault.value(name(.key, entity)) { return try RSAKey(privateDER: der) }
        let key = try RSAKey()
        try vault.setValue(name(.key, entity), value: key.privateDER)
        return key
    }

    /// The certificate of an entity, in DER; nil if there is none.
    public func certificate(of entity: String) throws -> [UInt8]? { try vault.value(name(.certificate, entity)) }

    /// The public key of an entity, whose pair is made if there is none.
    public func publicKey(of entity: String) throws -> WLPublicKey {
        let numbers = try key(of: entity).numbers
        return WLPublicKey(modulus: numbers.modulus, exponent: numbers.exponent)
    }

    /// Keeps a certificate; throws `CryptoError` `notAuthentic` if it is that of another key.
    public func keep(certificate: [UInt8], of entity: String) throws {
        let probe = Array("whose key is this".utf8)
        try Certificate(der: certificate).key.verify(key(of: entity).sign(probe), of: probe)
        try vault.setValue(name(.certificate, entity), value: certificate)
    }

    /// Removes a certificate; the key stays.
    public func removeCertificate(of entity: String) throws { _ = try vault.deleteValue(name(.certificate, entity)) }

    /// Signs bytes with the key of an entity.
    public func sign(_ bytes: [UInt8], for entity: String) throws -> [UInt8] { try key(of: entity).sign(bytes) }
}
