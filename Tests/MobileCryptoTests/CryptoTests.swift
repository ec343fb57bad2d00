import TestSupport
import Testing

@testable import MobileCrypto

@Suite struct PasswordVerifierTests {
    /// Parameters that make a check cheap.
    let cheap = PasswordVerifier.Parameters(n: 16, r: 1, p: 1)

    /// RFC 7914, section 12, without the last vector, which needs 1 GB.
    @Test(
        "scrypt derives the keys of RFC 7914",
        arguments: [
            (
                "", "", UInt64(16), UInt64(1), UInt64(1),
                "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628cf35e20c38d18906"
            ),
            (
                "password", "NaCl", 1024, 8, 16,
                "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb94a83ee6d8360cbdfa2cc0640"
            ),
            (
                "pleaseletmein", "SodiumChloride", 16384, 8, 1,
                "7023bdcb3afd7348461c06cd81fd38ebfda8fbba904f8e3ea9b543f6545da1f2d5432955613f0fcf62d49705242a9af9e61e85dc0d651e40dfcf017b45575887"
            ),
        ])
    func knownAnswers(password: String, salt: String, n: UInt64, r: UInt64, p: UInt64, key: String) throws {
        let derived = try PasswordVerifier.derive(
            Array(password.utf8), salt: Array(salt.utf8), .init(n: n, r: r, p: p), count: 64)
        #expect(derived.hexadecimal == key)
    }

    @Test("a verifier accepts its password and no other, also after it was stored")
    func acceptsItsPassword() throws {
        let verifier = try PasswordVerifier(password: "Grüße 🔑", parameters: cheap)
        let stored = try PasswordVerifier(encoded: verifier.encoded)
        #expect(stored == verifier)
        #expect(try stored.accepts("Grüße 🔑"))
        for other in ["", "Grüße 🔒", "grüße 🔑", "Grüße 🔑 "] { #expect(try !stored.accepts(other)) }
    }

    @Test("two verifiers of one password have nothing in common")
    func saltsDiffer() throws {
        let verifiers = try (0..<2).map { _ in try PasswordVerifier(password: "same", parameters: cheap) }
        #expect(verifiers[0].salt != verifiers[1].salt)
        #expect(verifiers[0].hash != verifiers[1].hash)
    }

    @Test("the same password and salt make the same verifier; a salt has at least 8 bytes")
    func givenSalt() throws {
        let salt = patternBytes(8)
        let verifiers = try (0..<2).map { _ in try PasswordVerifier(password: "same", salt: salt, parameters: cheap) }
        #expect(verifiers[0] == verifiers[1])
        let error = #expect(throws: CryptoError.self) { _ = try PasswordVerifier(password: "x", salt: patternBytes(7), parameters: cheap) }
        #expect(error?.code == .badParameter)
    }

    @Test("the default is N = 2^15, r = 8, p = 1 with 16 bytes of salt and 32 of hash")
    func defaultParameters() throws {
        let verifier = try PasswordVerifier(password: "x")
        #expect(verifier.encoded.hasPrefix("scrypt$32768$8$1$"))
        #expect(verifier.salt.count == 16)
        #expect(verifier.hash.count == 32)
    }

    @Test(
        "a text that is no verifier is an error",
        arguments: [
            "", "scrypt", "scrypt$16$1$1$AAAAAAAAAAAAAAAA", "bcrypt$16$1$1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "scrypt$-1$1$1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA", "scrypt$16$1$1$AAAA=AAAAAA$AAAAAAAAAAAAAAAAAAAAAA",
            "scrypt$16$1$1$AAAAAAAAAAA$AAAA", "scrypt$16$1$1$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA$",
        ])
    func malformedVerifier(text: String) {
        #expect(throws: CryptoError.self) { _ = try PasswordVerifier(encoded: text) }
    }

    @Test("parameters that are impossible, or would exhaust the memory, are refused", arguments: [0, 1, 15, 1 << 40])
    func impossibleParameters(n: UInt64) {
        let error = #expect(throws: CryptoError.self) { _ = try PasswordVerifier(password: "x", parameters: .init(n: n)) }
        #expect(error?.code == .badParameter)
    }
}

@Suite struct DigestTests {
    /// FIPS 180-2, appendix B.
    @Test(
        "the standard's examples of SHA-256",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func examples(text: String, digest: String) throws {
        #expect(try SHA256.digest(of: text).hexadecimal == digest)
    }

    @Test("pieces of any size give the digest of the whole, one after the other from one object", arguments: [1, 3, 63, 64, 65, 1000])
    func pieces(size: Int) throws {
        let content = patternBytes(1000)
        var digest = try SHA256()
        for _ in 0..<2 {
            for start in stride(from: 0, to: content.count, by: size) {
                try digest.update(Array(content[start..<min(start + size, content.count)]))
            }
            #expect(try digest.finish() == SHA256.digest(of: content))
        }
    }

    /// RFC 4231, sections 4.3 and 4.7.
    @Test(
        "authentication codes are those of RFC 4231, also under a key that is longer than a block",
        arguments: [
            (Array("Jefe".utf8), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (
                [UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func authenticationCodes(key: [UInt8], text: String, code: String) throws {
        let prepared = try AuthenticationKey(key)
        // No code changes the key.
        for _ in 0..<2 { #expect(try prepared.code(of: Array(text.utf8)).hexadecimal == code) }
    }

    @Test("tokens are 64 hexadecimal digits, none like the other")
    func tokens() throws {
        let tokens = try (0..<100).map { _ in try RandomBytes.token() }
        #expect(Set(tokens).count == 100)
        #expect(tokens.allSatisfy { [UInt8](hexadecimal: $0)?.count == 32 })
    }

    @Test("texts that stand for bytes read back", arguments: [0, 1, 2, 3, 4, 5, 255])
    func encodings(count: Int) {
        let bytes = patternBytes(count)
        #expect([UInt8](hexadecimal: bytes.hexadecimal) == bytes)
        #expect([UInt8](hexadecimal: bytes.hexadecimal.uppercased()) == bytes)
        #expect([UInt8](base64URL: bytes.base64URL) == bytes)
    }

    @Test("RFC 4648 examples of base64, without padding")
    func base64Examples() {
        let examples = [("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy")]
        for (text, encoded) in examples { #expect(text.utf8.base64URL == encoded) }
        #expect([UInt8]([0xFB, 0xFF]).base64URL == "-_8")
    }

    @Test("texts that stand for no bytes are refused", arguments: ["A", "AA=", "AB", "A+", "AAAAA", "ä"])
    func malformedBase64(text: String) {
        #expect([UInt8](base64URL: text) == nil)
    }

    @Test("secrets are equal when all their bytes are")
    func constantTimeComparison() {
        #expect([UInt8]().equalsInConstantTime([]))
        #expect([1, 2, 3].equalsInConstantTime([1, 2, 3]))
        #expect(![1, 2, 3].equalsInConstantTime([1, 2, 4]))
        #expect(![1, 2, 3].equalsInConstantTime([1, 2]))
    }
}
