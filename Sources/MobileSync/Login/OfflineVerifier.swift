internal import MobileCrypto
internal import MobileObjects
internal import MobileStore

/// Stores the credentials of the last online login as a scrypt verifier, in the package's database. The verifier is enough to recognize them without
/// the server, but not to learn the password.
struct OfflineVerifier {
    private let package: PackageDatabase
    private static let user = "login.user", verifier = "login.verifier"

    init(_ package: PackageDatabase) { self.package = package }

    func remember(_ credentials: LoginCredentials) throws(SyncError) {
        try SyncError.local("remember the login") {
            if try accepts(credentials.user, credentials.password ?? "") { return }
            let encoded = try PasswordVerifier(password: credentials.password ?? "").encoded
            try package.write("remember the login") { transaction in
                try transaction.setSetting(Self.user, .text(credentials.user))
                try transaction.setSetting(Self.verifier, .text(encoded))
            }
        }
    }

    func accepts(_ user: String, _ password: String) throws(SyncError) -> Bool {
        try SyncError.local("check the login") {
            guard let known = try package.setting(Self.user)?.text, known.hasSameBytes(as: user),
                let encoded = try package.setting(Self.verifier)?.text
            else {
                return false
            }
            return try PasswordVerifier(encoded: encoded).accepts(password)
        }
    }
}
