internal import MobileStore

extension PasswordPolicy {
    private static let columns =
        "default_allowed, min_length, digits, upper, lower, special, expiration_days, min_unique, lock_timeout, retry_limit"

    /// Reads the policy of a vault; nil if none was set.
    /// - Throws: ``DataVaultError/Code/damaged``.
    static func read(from connection: Connection, of name: String) throws -> PasswordPolicy? {
        guard let row = try connection.first("SELECT \(columns) FROM policy WHERE id = 1") else { return nil }
        let numbers = row.compactMap { $0.integer.flatMap { Int(exactly: $0) } }
        guard numbers.count == 10, numbers.allSatisfy({ $0 >= 0 }) else {
            throw DataVaultError.damaged(name, "the password policy is invalid")
        }
        return PasswordPolicy(
            defaultPasswordAllowed: numbers[0] != 0, minLength: numbers[1], hasDigits: numbers[2] != 0, hasUpper: numbers[3] != 0,
            hasLower: numbers[4] != 0, hasSpecial: numbers[5] != 0, expirationDays: numbers[6], minUniqueChars: numbers[7],
            lockTimeout: numbers[8], retryLimit: numbers[9])
    }

    func write(to connection: Connection) throws {
        try connection.execute(
            "INSERT OR REPLACE INTO policy (id, \(Self.columns)) VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                Value(defaultPasswordAllowed), Value(minLength), Value(hasDigits), Value(hasUpper), Value(hasLower), Value(hasSpecial),
                Value(expirationDays), Value(minUniqueChars), Value(lockTimeout), Value(retryLimit),
            ])
    }
}
