import TestSupport
import Testing

@testable import MobileCrypto

/// Keys, signatures and certificates. The reference values were made by the program `openssl`.
@Suite struct RSATests {
    /// `openssl genrsa 2048`
    private static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIIEvgIBADANBgkqhkiG9w0BAQEFAASCBKgwggSkAgEAAoIBAQChz4mza0Ko6/rN
        4B5y5r55uoednW0d0IDvllC+xvyybiuFfT+co5n7ck1Ww9BbJpL2urPk4qEQlcSL
        yyhGvz4HfNgXrVh1rqhl92D10Beg87RMEpXV56TYKurEmxROka095CeGhDucwHC4
        rErF/3uKmm319A3IbLtYX8TL6I5s4Rd4p31XE68wfEHTU3YKcsjdACI/LUOuI7gj
        b44jy12yvlooeAiBiA7Ee9Vq9df1GsqAQms1qlaT458iUPCL9qnAplcziIx7MguZ
        r0koN77jMQF2Ngv8Blf8tgwQDJVBGppZjmMKcxI+1MklcP227lmKhsAu6WYVxoUA
        GdFn21f1AgMBAAECggEAT9f7UDPMrFLpKr589+ChO6rNsXoVdkFE5jRLep/w4FDZ
        m+COS4o0+KzRuc8c2GWD3kiJbRdhN7BXUE26fZJvlr1FWgWY4VUCVnJHf3QjvLGU
        lXcURX0sy9f9iW8miZB7pk8XK9rDGZmh5ZZqvSHQgberK9K2HGB+32A+WQnTgaiU
        4FfGRUidAWhHJE0nIuJteL7cM2/M68zdczV5OqZGUYbyqZcnDIPLNmE2HBefs2ng
        WbgiUfTfU/jPMV377i6KW/n1m16FOESK0DiU+f/jjI2x0j89qgm6ZvibkZiRLlPu
        hnwDpx+R1PLe4+fgijqXCCnX39OEtw9rY5fmvOS9PwKBgQDdMz07aET4aljQF4Nz
        0PISy/sBteYQSDSMNWh0+mP0ImhiyF4itL5mm9e5e1RdhGFqz34pCyOsfWIzmjIH
        ClDr6/eiOtvYINMOdIpNlk0WsVK2m3blcnMk6iYUI9wn6YfO9SX/21x60naFfvh7
        iGgmw4aQg4XvjMBvk2CRf7US4wKBgQC7RGiUEk4OfWzkFVnc6jyb1qqpFd7z4ZqR
        i9nSXJco149szAdqgb8sh3VrSks6ceo3DDMW+m3kZXga8l4Q0jw1o6mVnc6Lunr0
        07TuL9jbXrM8oiUZzkwCUI75ghovJxvy5ycEkFFl1fEbs9/zYyuXOYrGoJVsFtCX
        B5VLmcxpRwKBgQClNz5G/wx010nas5VVjf0hGQY0Mt7RznyhNMr+hH7fvEtnbO0S
        0xlbno80VO+god35X12F3nIYxdXxYPx40bW7YRYnL/tApNO/ekBKzzZo+q0jA198
        5U0nh1RFursXfJAZfnWRcxDSFBy+fSWvbyULvwLlMbd6QxEAxX1db5uZrQKBgFT3
        7RuCUrhwYH/80BFUlrt+42Bk9AxkSOXRNrwkFtIJPKJ40MSaqktiCvzrcMbL+SGQ
        /31lk4cWIzDW16d6PKd54vBn8dekfTWo+Wc5foPKrDjOuVbEK+jA9J5xUcAjVqMY
        DrQbZ1N1hziynOKqFJVBHp6RLjsk/vAIGM18syrxAoGBAK7dQloueFUQoimatZgK
        Vuiy8QM87lJqQvyvVFnSCUokryHIRYufU3xLFVzRQCjrfmVN6yOtvtjgwVi/RR0Q
        bmNhkGBr6xeXeOG3U6Dtdb0BRIhNhVFHhoGOku+Hq7byBiFIVu7rW+G+/wZ/gDTe
        AuCC+wht+mDxcEK/vldl7kB6
        -----END PRIVATE KEY-----

        """
    /// `openssl dgst -sha256 -sign` of the text below.
    private static let signature =
        "bgmgViZgtsl0J-T3xJ8uRescaGo3oYuQKEgPqsJWi2Bk1Q3CU4yMotAA5xdwnIKRG2ySn3371dBvlasgUl1v4XyrEohpxU6wUw3uM2IAhJzyzqeq_dgFi5oq"
        + "OhyVz13WsqrK_4zlt8jiLgewWkNMuDgs_pC4vOI3wZwjHtWRDBqIvNV3Mb0IZHa2zz8rCk-eSvhESFLMKyFApT-l70TZfuUg4C9Krhcuwg-OShVUl5uKM1Kc"
        + "SCtInHLdqdtnpTS9HrasIZatzu-xRkN9MTSPtktFmuvlP0r06QX3xFb0r0P3E8rE-h_3DzJDW1WMZsZvs00ZyR1W801D9zdLjNDh7Q"
    private static let text = Array("eyJhbGciOiJSUzI1NiJ9.e30".utf8)

    private static let key = Result { try RSAKey() }
    private func key() throws -> RSAKey { try Self.key.get() }

    @Test func `a signature is that of the standard program, and its numbers verify it`() throws {
        let known = try RSAKey(privateDER: PEM.decode(Self.pem))
        #expect(try known.sign(Self.text).base64URL == Self.signature)
        let numbers = try known.numbers
        #expect(numbers.modulus.count == 256)
        #expect(numbers.exponent == [1, 0, 1])
        let signature = try #require([UInt8](base64URL: Self.signature))
        let open = try RSAKey(modulus: numbers.modulus, exponent: numbers.exponent)
        try open.verify(signature, of: Self.text)
        // Leading zeros do not count: some encoders write one before a high bit.
        try RSAKey(modulus: [0] + numbers.modulus, exponent: [0] + numbers.exponent).verify(signature, of: Self.text)
        #expect(#expect(throws: CryptoError.self) { try open.sign(Self.text) }?.code == .badParameter)
        #expect(#expect(throws: CryptoError.self) { _ = try open.privateDER }?.code == .badParameter)
    }

    @Test func `a changed text, a changed signature and another key do not verify`() throws {
        let own = try key(), signature = try own.sign([1, 2, 3])
        try own.verify(signature, of: [1, 2, 3])
        func fails(_ signature: [UInt8], _ bytes: [UInt8], _ key: RSAKey) {
            #expect(#expect(throws: CryptoError.self) { try key.verify(signature, of: bytes) }?.code == .notAuthentic)
        }
        fails(signature, [1, 2, 4], own)
        fails(signature, [], own)
        fails([], [1, 2, 3], own)
        fails(Array(signature.dropLast()), [1, 2, 3], own)
        for place in [0, 100, 255] {
            var changed = signature
            changed[place] ^= 1
            fails(changed, [1, 2, 3], own)
        }
        fails(signature, [1, 2, 3], try RSAKey(privateDER: PEM.decode(Self.pem)))
        try own.verify(own.sign([]), of: [])
    }

    @Test func `a private key is written and read; damaged ones, other kinds and small ones are refused`() throws {
        let der = try key().privateDER
        let again = try RSAKey(privateDER: der)
        #expect(try again.numbers == key().numbers)
        try key().verify(again.sign([7]), of: [7])
        let text = try PEM.encode(der, label: "RSA PRIVATE KEY")
        #expect(text.hasPrefix("-----BEGIN RSA PRIVATE KEY-----\n") && text.hasSuffix("-----END RSA PRIVATE KEY-----\n"))
        #expect(try PEM.decode("a comment\n" + text) == der)
        for length in stride(from: 0, to: der.count, by: 97) {
            #expect(#expect(throws: CryptoError.self) { try RSAKey(privateDER: Array(der[..<length])) }?.code == .malformed)
        }
        #expect(#expect(throws: CryptoError.self) { try RSAKey(privateDER: der + [0]) }?.code == .malformed)
        for text in [
            "", "x", "-----BEGIN CERTIFICATE-----\n",
            text.replacing("-----\nM", with: "-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nM"),
        ] {
            #expect(#expect(throws: CryptoError.self) { try PEM.decode(text) }?.code == .malformed)
        }
        for bits in [0, 512, 2047, 8193, -1] {
            #expect(#expect(throws: CryptoError.self) { try RSAKey(bits: bits) }?.code == .badParameter)
        }
        let small = [UInt8](repeating: 0xFF, count: 64)
        for (modulus, exponent) in [
            (small, [1, 0, 1]), ([], [1, 0, 1]), (try key().numbers.modulus, []), (try key().numbers.modulus, [1]), (try key().numbers.modulus, [2]),
        ]
            as [([UInt8], [UInt8])]
        {
            #expect(#expect(throws: CryptoError.self) { try RSAKey(modulus: modulus, exponent: exponent) }?.code == .malformed)
        }
    }

    // MARK: Certificates

    private static let day: Int64 = 86_400, now: Int64 = 1_700_000_000
    private func authority(_ name: String = "Devices") throws -> Certificate {
        try Certificate(authority: key(), name: name, from: Self.now, to: Self.now + 100 * Self.day)
    }

    private func isValid(_ certificate: Certificate, _ issuer: Certificate, _ time: Int64 = Self.now + Self.day) -> Bool {
        (try? certificate.verify(issuer: issuer, at: time)) != nil
    }

    @Test func `a certificate of the authority verifies in its time, with its names and its key`() throws {
        let root = try authority(), subject = try RSAKey(privateDER: PEM.decode(Self.pem))
        let made = try Certificate(
            of: subject, name: "Gerät 1", organization: "app:Demo", issuer: root, issuerKey: key(), from: Self.now, to: Self.now + 10 * Self.day)
        let read = try Certificate(der: made.der)
        #expect(try read.names == (common: "Gerät 1", organization: "app:Demo"))
        try read.key.verify(subject.sign(Self.text), of: Self.text)
        #expect(isValid(read, root))
        #expect(!isValid(read, root, Self.now - 1))
        #expect(!isValid(read, root, Self.now + 11 * Self.day))
        // Neither the authority itself nor a certificate below a device's counts as one of a device.
        #expect(!isValid(root, root))
        #expect(#expect(throws: CryptoError.self) { try read.verify(issuer: read, at: Self.now) }?.code == .notAuthentic)
        let below = try Certificate(of: key(), name: "x", issuer: read, issuerKey: subject, from: Self.now, to: Self.now + Self.day)
        #expect(!isValid(below, root))
        #expect(!isValid(below, read))
        // Another authority of the same name.
        let other = try Certificate(authority: RSAKey(), name: "Devices", from: Self.now, to: Self.now + 100 * Self.day)
        #expect(!isValid(read, other))
    }

    @Test func `damaged certificates, and parameters out of their range, are refused`() throws {
        let der = try authority().der
        for length in stride(from: 0, to: der.count, by: 61) {
            #expect(#expect(throws: CryptoError.self) { try Certificate(der: Array(der[..<length])) }?.code == .malformed)
        }
        #expect(#expect(throws: CryptoError.self) { try Certificate(der: der + [0]) }?.code == .malformed)
        for name in ["", String(repeating: "x", count: 65), "a\0b"] {
            #expect(#expect(throws: CryptoError.self) { try authority(name) }?.code == .badParameter)
        }
        #expect(#expect(throws: CryptoError.self) { try Certificate(authority: key(), name: "x", from: 2, to: 1) }?.code == .badParameter)
        let root = try authority(), other = try RSAKey(privateDER: PEM.decode(Self.pem))
        #expect(
            #expect(throws: CryptoError.self) { try Certificate(of: other, name: "x", issuer: root, issuerKey: other, from: 1, to: 2) }?.code
                == .badParameter)
    }
}
