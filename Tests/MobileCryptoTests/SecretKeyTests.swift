import TestSupport
import Testing

@testable import MobileCrypto

/// AES-128-GCM, NIST SP 800-38D.
@Suite struct SecretKeyTests {
    /// One of the test cases 1 to 4 that NIST published with the proposal of GCM (McGrew and Viega, appendix B).
    struct KnownAnswer: Sendable, CustomTestStringConvertible {
        let number: Int, key: String, nonce: String, content: String, associatedData: String, sealed: String, tag: String
        var testDescription: String { "case \(number)" }
    }

    static let content =
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b391aafd255"
    static let sealed =
        "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091473f5985"
    static let knownAnswers = [
        KnownAnswer(
            number: 1, key: String(repeating: "0", count: 32), nonce: String(repeating: "0", count: 24), content: "", associatedData: "",
            sealed: "", tag: "58e2fccefa7e3061367f1d57a4e7455a"),
        KnownAnswer(
            number: 2, key: String(repeating: "0", count: 32), nonce: String(repeating: "0", count: 24),
            content: String(repeating: "0", count: 32), associatedData: "", sealed: "0388dace60b6a392f328c2b971b2fe78",
            tag: "ab6e47d42cec13bdf53a67b21257bddf"),
        KnownAnswer(
            number: 3, key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888", content: content, associatedData: "",
            sealed: sealed, tag: "4d5c2af327cd64a62cf35abd2ba6fab4"),
        KnownAnswer(
            number: 4, key: "feffe9928665731c6d6a8f9467308308", nonce: "cafebabefacedbaddecaf888", content: String(content.dropLast(8)),
            associatedData: "feedfacedeadbeeffeedfacedeadbeefabaddad2", sealed: String(sealed.dropLast(8)),
            tag: "5bc94fbc3221a5db94fae95ae7121a47"),
    ]

    private func bytes(_ text: String) throws -> [UInt8] { try #require([UInt8](hexadecimal: text)) }

    @Test("AES-128-GCM seals and opens as published", arguments: knownAnswers)
    func published(_ answer: KnownAnswer) throws {
        let key = try SecretKey(bytes: bytes(answer.key)), nonce = try bytes(answer.nonce)
        let sealed = try key.seal(bytes(answer.content), associatedData: bytes(answer.associatedData)) { _ in nonce }
        #expect(sealed.hexadecimal == answer.nonce + answer.sealed + answer.tag)
        #expect(try key.open(sealed, associatedData: bytes(answer.associatedData)).hexadecimal == answer.content)
    }

    @Test("nothing opens of which one bit is another: nonce, content, tag, associated data or key")
    func changed() throws {
        let answer = Self.knownAnswers[3]
        let key = try SecretKey(bytes: bytes(answer.key)), data = try bytes(answer.associatedData)
        let sealed = try bytes(answer.nonce + answer.sealed + answer.tag)
        func isRefused(_ body: () throws -> [UInt8]) -> Bool {
            do { return try body().isEmpty } catch { return (error as? CryptoError)?.code == .notAuthentic }
        }
        for bit in 0..<sealed.count * 8 {
            var other = sealed
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(isRefused { try key.open(other, associatedData: data) }, "bit \(bit)")
        }
        for bit in 0..<data.count * 8 {
            var other = data
            other[bit / 8] ^= 1 << (bit % 8)
            #expect(isRefused { try key.open(sealed, associatedData: other) }, "bit \(bit) of the associated data")
        }
        for bit in 0..<128 {
            var other = try bytes(answer.key)
            other[bit / 8] ^= 1 << (bit % 8)
            let otherKey = try SecretKey(bytes: other)
            #expect(isRefused { try otherKey.open(sealed, associatedData: data) }, "bit \(bit) of the key")
        }
        for count in [0, 11, 12, 27, 28, sealed.count - 1] {
            #expect(isRefused { try key.open(Array(sealed.prefix(count)), associatedData: data) }, "\(count) bytes")
        }
    }

    @Test("contents of any length come back; two sealings of one have nothing in common", arguments: [0, 1, 15, 16, 17, 4096, 1_000_000])
    func anyLength(count: Int) throws {
        let key = try SecretKey(), content = patternBytes(count)
        let sealed = try (0..<2).map { _ in try key.seal(content, associatedData: [1]) }
        #expect(sealed[0].count == count + SecretKey.overhead)
        #expect(sealed[0].prefix(12) != sealed[1].prefix(12) && sealed[0].suffix(16) != sealed[1].suffix(16))
        for one in sealed { #expect(try key.open(one, associatedData: [1]) == content) }
    }

    @Test("a key derived from a password is the one that scrypt gives, and depends on password and salt")
    func derived() throws {
        // RFC 7914, section 12: a shorter output of scrypt is the beginning of a longer one.
        let parameters = PasswordVerifier.Parameters(n: 1024, r: 8, p: 16)
        let key = try SecretKey(password: Array("password".utf8), salt: Array("NaCl".utf8), parameters: parameters)
        let same = try SecretKey(bytes: bytes("fdbabe1c9d3472007856e7190d01e9fe"))
        let sealed = try key.seal([1, 2, 3])
        #expect(try same.open(sealed) == [1, 2, 3])
        let cheap = PasswordVerifier.Parameters(n: 2, r: 1, p: 1)
        let keys = try [("a", "b"), ("a", "c"), ("b", "b")].map {
            try SecretKey(password: Array($0.0.utf8), salt: Array($0.1.utf8), parameters: cheap)
        }
        let secret = try keys[0].seal([7])
        #expect(try keys[0].open(secret) == [7])
        for key in keys.dropFirst() { #expect(throws: CryptoError.self) { _ = try key.open(secret) } }
    }

    @Test("a sealed key opens as the key it was; anything else of that kind is refused")
    func sealedKey() throws {
        let outer = try SecretKey(), inner = try SecretKey()
        let sealed = try outer.seal(inner, associatedData: [9])
        let opened = try outer.openKey(sealed, associatedData: [9])
        #expect(try opened.open(try inner.seal([1, 2])) == [1, 2])
        #expect(throws: CryptoError.self) { _ = try outer.openKey(sealed, associatedData: [8]) }
        #expect(throws: CryptoError.self) { _ = try inner.openKey(sealed, associatedData: [9]) }
        let error = #expect(throws: CryptoError.self) { _ = try outer.openKey(try outer.seal([1, 2, 3]), associatedData: []) }
        #expect(error?.code == .badParameter)
    }

    @Test("a random source that gives too little is refused; what it throws is thrown")
    func badRandomSource() throws {
        struct Dry: Error {}
        let short: SecretKey.RandomSource = { patternBytes($0 - 1) }
        #expect(throws: CryptoError.self) { _ = try SecretKey(random: short) }
        #expect(throws: Dry.self) { _ = try SecretKey { _ in throw Dry() } }
        let key = try SecretKey()
        let error = #expect(throws: CryptoError.self) { _ = try key.seal([1], random: short) }
        #expect(error?.code == .badParameter)
        #expect(throws: Dry.self) { _ = try key.seal([1]) { _ in throw Dry() } }
    }

    @Test("bytes that are no secret any more are zeros")
    func cleansing() {
        var bytes: [UInt8] = [1, 2, 3]
        bytes.cleanse()
        #expect(bytes == [0, 0, 0])
    }
}
