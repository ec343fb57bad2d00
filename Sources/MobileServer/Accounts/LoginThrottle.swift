internal import MobileExecution

/// Slows guessing down: after some failures, each further attempt has to wait twice as long as the previous one.
///
/// Counts by user *and* address, so that an attacker cannot lock a user out: the right password from another address is still checked. Counts by
/// address alone as well, with more patience, against attackers that try one password with many users. The counts are in memory: a restart clears
/// them, and several processes count separately. A guesser gains a few attempts from that, but no access.
final class LoginThrottle: Sendable {
    /// The number of free failures, and the longest delay in milliseconds.
    struct Rule: Sendable {
        let free: Int
        let longest: Int64

        static let freeOfAddress = 30, freeOfUser = 5
        static let longestOfAddress: Int64 = 60_000, longestOfUser: Int64 = 900_000

        func delay(after failures: Int) -> Int64 { failures < free ? 0 : min(longest, 1000 << Int64(min(failures - free, 30))) }
    }

    private enum Key: Hashable {
        case address(String)
        case user(String, address: String)

        var rule: Rule {
            switch self {
            // Devices behind one proxy share an address.
            case .address: Rule(free: Rule.freeOfAddress, longest: Rule.longestOfAddress)
            case .user: Rule(free: Rule.freeOfUser, longest: Rule.longestOfUser)
            }
        }
    }

    private struct Failures {
        var count = 0
        var last: Int64 = 0
    }

    /// The maximum number of entries, of about 200 bytes each; beyond it the oldest are dropped.
    static let capacity = 20_000
    /// The time after which failures are forgotten, in milliseconds.
    static let memory: Int64 = 3_600_000
    /// The maximum length of a user name, in bytes.
    static let longestName = 256

    private let failures = SystemLock<[Key: Failures]>([:])

    /// The number of entries.
    var count: Int { failures.withLock { $0.count } }

    /// Returns the number of milliseconds until an attempt is checked; 0 means now.
    func delay(user: String, address: String, now: Int64) -> Int64 {
        failures.withLock { failures in
            keys(user, address).map { key -> Int64 in
                guard let entry = failures[key], now - entry.last < Self.memory else { return 0 }
                // A clock that was set back must not lock a user out for longer than the rule says.
                return min(key.rule.delay(after: entry.count), max(0, entry.last + key.rule.delay(after: entry.count) - now))
            }.max() ?? 0
        }
    }

    func failed(user: String, address: String, now: Int64) {
        failures.withLock { failures in
            for key in keys(user, address) {
                let known = failures[key].flatMap { now - $0.last < Self.memory ? $0 : nil }
                failures[key] = Failures(count: (known?.count ?? 0) + 1, last: now)
            }
            if failures.count > Self.capacity { Self.makeRoom(&failures, now) }
        }
    }

    /// Clears the failures of the user, but not of the address. Otherwise an attacker with an account could clear the count of guesses at other
    /// users.
    func succeeded(user: String, address: String) {
        failures.withLock { _ = $0.removeValue(forKey: keys(user, address)[1]) }
    }

    private func keys(_ user: String, _ address: String) -> [Key] {
        let network = Self.network(of: address)
        return [.address(network), .user(user, address: network)]
    }

    private static func makeRoom(_ failures: inout [Key: Failures], _ now: Int64) {
        failures = failures.filter { now - $0.value.last < memory }
        guard failures.count > capacity else { return }
        for (key, _) in failures.sorted(by: { $0.value.last < $1.value.last }).prefix(capacity / 8) { failures[key] = nil }
    }

    /// Returns the part of an address that one owner has: an IPv4 address, or the first 64 bits of an IPv6 address.
    private static func network(of address: String) -> String {
        guard let bytes = SystemSocket.bytes(ofIPv6: address) else { return address }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped { return bytes[12...].map(String.init).joined(separator: ".") }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
    }
}
