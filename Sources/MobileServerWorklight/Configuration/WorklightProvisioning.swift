internal import MobileCrypto
internal import MobileServer

/// Certificates of devices for one application (`wl_deviceAutoProvisioningRealm`): the server issues one at the first connect of a device, and the device signs
/// its name at the beginning of each later session.
public struct WorklightProvisioning: Sendable {
    /// That to which a certificate belongs.
    public enum Entity: Sendable, Hashable {
        /// The application on the device.
        case application
        /// The device, for all applications of the same owner.
        case device
        /// A group of applications on the device.
        case group(String)
    }

    /// That to which certificates belong.
    public var entity: Entity
    /// The authority that issues and accepts certificates.
    public var authority: WorklightCertificateAuthority
    /// Whether devices without a certificate get one; default true. With false, only devices that have one are served.
    public var allowsNewDevices: Bool
    /// The time for which a certificate is valid; default 3650 days.
    public var validity: Duration

    /// Describes the certificates of an application.
    public init(
        _ authority: WorklightCertificateAuthority, entity: Entity = .application, allowsNewDevices: Bool = true,
        validity: Duration = .seconds(3650 * 86_400)
    ) {
        self.authority = authority
        self.entity = entity
        self.allowsNewDevices = allowsNewDevices
        self.validity = validity
    }
}

/// An authority for certificates of devices: an X.509 certificate and its private RSA key. Processes that serve the same devices share one.
public struct WorklightCertificateAuthority: Sendable {
    let certificate: Certificate
    let key: RSAKey

    /// Reads an authority.
    /// - Parameters:
    ///   - certificate: as PEM text.
    ///   - privateKey: as PEM text without a password, PKCS#1 or PKCS#8.
    /// - Throws: `ServerError`: one of them cannot be read, is not RSA of 2048 bits or more, or they do not belong together.
    public init(certificate: String, privateKey: String) throws {
        do {
            self.certificate = try Certificate(der: PEM.decode(certificate))
            key = try RSAKey(privateDER: PEM.decode(privateKey))
            let probe = Array("whose key is this".utf8)
            try self.certificate.key.verify(key.sign(probe), of: probe)
        } catch { throw ServerError(.configuration, "the authority for device certificates: \(error)", cause: error) }
    }

    /// Makes a new authority. A certificate of another one is not accepted, so programs that are started again keep ``pem``.
    /// - Parameters:
    ///   - name: its name in certificates, 1 to 64 characters.
    ///   - now: seconds since 1970; it is valid from then on, for 20 years.
    /// - Throws: `ServerError`.
    public init(making name: String, now: Int64) throws {
        do {
            key = try RSAKey(bits: 3072)
            certificate = try Certificate(authority: key, name: name, from: now, to: now + 20 * 365 * 86_400)
        } catch { throw ServerError(.configuration, "a new authority for device certificates: \(error)", cause: error) }
    }

    /// Certificate and private key as PEM texts. The caller keeps the second one secret.
    public var pem: (certificate: String, privateKey: String) {
        get throws {
            do { return try (PEM.encode(certificate.der, label: "CERTIFICATE"), PEM.encode(key.privateDER, label: "RSA PRIVATE KEY")) } catch {
                throw ServerError(.configuration, "the authority for device certificates: \(error)", cause: error)
            }
        }
    }
}
