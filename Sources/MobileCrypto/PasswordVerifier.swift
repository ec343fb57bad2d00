internal import CMobileCrypto

/// What is kept instead of a password: enough to check it, too costly to guess it from. Derived by scrypt (RFC 7914).
///
/// As text: `scrypt$<n>$<r>$<p>$<salt>$<key>` in hexadecimal, so that a verifier says itself how it was made, and its costs can
/// rise with the years while older ones stay valid.
public struct PasswordVerifier: Sendable, Hashable {
    /// Cost, block size and parallelism. The default takes 16 MB and some 50 ms.
    public struct Cost: Sendable, Hashable {
        public var n: UInt64, r: UInt64, p: UInt64
        public init(n: UInt64, r: UInt64 = 8, p: UInt64 = 1) { (self.n, self.r, self.p) = (n, r, p) }
        public static let standard = Cost(n: 16_384)
    }

    private let cost: Cost
    private let salt: [UInt8]
    private let key: [UInt8]

    /// Derives the verifier of a password.
    /// - Parameter salt: at least 8 random bytes, new for each verifier.
    public init(_ password: String, salt: [UInt8] = SecureRandom.bytes(16), cost: Cost = .standard) {
        precondition(salt.count >= 8, "a salt has at least 8 bytes")
        self.cost = cost
        self.salt = salt
        let derived = Self.derive(password, salt, cost)
        precondition(derived != nil, "scrypt refused its parameters")
        key = derived ?? []
    }

    /// Reads a verifier from its text; nil for what is none.
    public init?(text: String) {
        let parts = text.split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "scrypt", let n = UInt64(parts[1]), let r = UInt64(parts[2]), let p = UInt64(parts[3]),
            let salt = Self.bytes(hexadecimal: parts[4]), let key = Self.bytes(hexadecimal: parts[5]), key.count == Self.keyLength
        else { return nil }
        cost = Cost(n: n, r: r, p: p)
        self.salt = salt
        self.key = key
    }

    /// The verifier as text.
    public var text: String {
        "scrypt$\(cost.n)$\(cost.r)$\(cost.p)$\(Self.hexadecimal(salt))$\(Self.hexadecimal(key))"
    }

    /// Whether this is the password. Takes as long as making a verifier, whatever the answer.
    public func accepts(_ password: String) -> Bool {
        guard let derived = Self.derive(password, salt, cost) else { return false }
        return ConstantTime.areEqual(derived, key)
    }

    private static let keyLength = 32

    private static func derive(_ password: String, _ salt: [UInt8], _ cost: Cost) -> [UInt8]? {
        var key = [UInt8](repeating: 0, count: keyLength)
        let password = Array(password.utf8)
        let isDone = mcr_scrypt(password, password.count, salt, salt.count, cost.n, cost.r, cost.p, &key, key.count)
        return isDone == 1 ? key : nil
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.flatMap { byte in [byte >> 4, byte & 15].map { $0 + ($0 < 10 ? 0x30 : 0x57) } }, as: UTF8.self)
    }

    private static func bytes(hexadecimal text: Substring) -> [UInt8]? {
        let digits = text.utf8.map { UInt8($0) }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
