import Foundation
import MobileCrypto
import MobileStore
import MobileVault
import Testing

/// The purpose of a vault, and the information that its file reveals.
@Suite struct EncryptionTests {
    let vaults: TestVaults

    init() throws { vaults = try TestVaults() }

    @Test("VLT-01: a login screen: the user's password opens the vault, and what the application needs is in it")
    func loginScreen() throws {
        let certificate = [UInt8](0...255), databaseKey = try RandomBytes.make(16)
        do {
            let vault = try DataVault.createVault("app", password: "secret", in: vaults.directory())
            defer { vault.lock() }
            try vault.setValue("certificate", value: certificate)
            try vault.setValue("database key", value: databaseKey)
            try vault.setString("server password", value: "s3rver")
        }
        // The application starts again, and its user enters passwords.
        let vault = try DataVault.getVault("app", in: vaults.directory())
        func logIn(_ password: String) -> Bool { failure { try vault.unlock(password) } == nil }
        #expect(!logIn("guess"))
        #expect(failure { try vault.value("database key") }?.code == .locked)
        #expect(logIn("secret"))
        #expect(try vault.value("certificate") == certificate && vault.value("database key") == databaseKey)
        #expect(try vault.string("server password") == "s3rver")
    }

    @Test("VLT-02: neither names nor values nor password are in the file, nor the name of the vault in the directory")
    func nothingReadable() throws {
        let texts = ["name of the vault", "password of the user", "salt of the app", "name of the value", "content of the value"]
        let vault = try DataVault.createVault(texts[0], password: texts[1], salt: texts[2], in: vaults.directory())
        try vault.setString(texts[3], value: texts[4])
        try vault.setValue("bytes", value: Array(texts[4].utf8))
        try vault.changePassword("another " + texts[1], salt: texts[2])
        for (file, content) in try vaults.contents() {
            for text in texts {
                #expect(content.range(of: Data(text.utf8)) == nil, "\(text) in \(file)")
                #expect(!file.contains(text))
            }
        }
    }

    @Test("VLT-02: a password has any length and any characters", arguments: [" ", "\u{0}", "pass\u{0}word", "密码", "🔑", "x"], [1, 10_000])
    func anyPassword(piece: String, count: Int) throws {
        let password = String(repeating: piece, count: count)
        _ = try DataVault.createVault("one", password: password, in: vaults.directory())
        let vault = try DataVault.getVault("one", in: vaults.directory())
        for other in [password + " ", String(password.dropLast()), nil] {
            #expect(failure { try vault.unlock(other) }?.reason == .invalidPassword)
        }
        try vault.unlock(password)
    }

    @Test("VLT-02: password and salt make the key together: the same ones in two vaults make two keys")
    func keysDiffer() throws {
        var sealed: [[UInt8]] = []
        for name in ["one", "two"] {
            let vault = try DataVault.createVault(name, password: "same", salt: "same", in: vaults.directory())
            try vault.setString("key", value: "same")
        }
        for file in try vaults.files() {
            let database = try Database(ConnectionProfile(path: file, isReadOnly: true))
            sealed.append(try #require(try database.read { try $0.first("SELECT value FROM entry") }?.first?.blob))
        }
        #expect(sealed.count == 2 && sealed[0].count == sealed[1].count && sealed[0].count == "same".utf8.count + SecretKey.overhead)
        #expect(sealed[0] != sealed[1])
        // An exchange of two values does not open them either.
        let files = try vaults.files()
        try vaults.change(files[0]) { try $0.execute("UPDATE entry SET value = ?", [.blob(sealed[1])]) }
        try vaults.change(files[1]) { try $0.execute("UPDATE entry SET value = ?", [.blob(sealed[0])]) }
        for name in ["one", "two"] {
            let vault = try DataVault.getVault(name, in: vaults.directory())
            try vault.unlock("same", salt: "same")
            #expect(failure { try vault.string("key") }?.reason == .ioRead)
        }
    }

    @Test("VLT-02: equal values are sealed differently each time")
    func freshNonces() throws {
        let vault = try vaults.crm()
        var sealed: Set<[UInt8]> = []
        for _ in 0..<3 {
            try vault.setString("key", value: "value")
            let file = try #require(vaults.files().first)
            try vaults.change(file) { connection in
                for value in try #require(try connection.first("SELECT name, value FROM entry")) { sealed.insert(try #require(value.blob)) }
            }
        }
        #expect(sealed.count == 6)
        #expect(try vault.string("key") == "value")
    }

    @Test("VLT-02: the cost of guessing is stored with the vault: another default opens it all the same")
    func storedParameters() throws {
        _ = try vaults.crm()
        var directory = vaults.directory()
        directory.keyDerivation = PasswordVerifier.Parameters(n: 16, r: 2, p: 2)
        let vault = try DataVault.getVault("crm", in: directory)
        try vault.unlock("good", salt: "salt")
        try vault.changePassword("better")
        try vaults.otherCRM().unlock("better")
        directory.keyDerivation = PasswordVerifier.Parameters(n: 3)
        #expect(failure { try DataVault.createVault("erp", password: "x", in: directory) }?.reason == .cryptography)
        #expect(try vaults.files().count == 1)
    }

    @Test("a source without random bytes makes no vault and stores nothing")
    func noRandomBytes() throws {
        struct Dry: Error {}
        let vault = try vaults.crm()
        var directory = vaults.directory()
        directory.environment.randomBytes = { _ in throw Dry() }
        let error = failure { try DataVault.createVault("erp", password: "x", in: directory) }
        #expect(error?.code == .cryptography && error?.cause is Dry)
        let dry = try DataVault.getVault("crm", in: directory)
        try dry.unlock("good", salt: "salt")
        let before = try vaults.contents()
        #expect(failure { try dry.setString("key", value: "value") }?.code == .cryptography)
        #expect(failure { try dry.changePassword("new") }?.code == .cryptography)
        #expect(failure { try dry.setPasswordPolicy(PasswordPolicy()) }?.code == .cryptography)
        #expect(try vaults.contents() == before)
        #expect(try !dry.isLocked && vault.dataNames() == [])
    }
}
