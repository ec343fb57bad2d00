internal import Synchronization

/// Makes guessing slow: after some failures each further try has to wait twice as long as the one before.
///
/// It counts by user *and* address, so that nobody can lock a user out: the right password of another address is looked at. And by address
/// alone, with more patience, for those who try one password with many users. What is counted lies in memory: a restart forgets it, several
/// processes count by themselves. That gives a guesser a few tries more, no way in.
final class LoginThrottle: Sendable {
    /// How many failures are free, and the longest delay in milliseconds.
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

    /// Entries that are kept; then the oldest go. One takes some 200 bytes.
    static let capacity = 20_000
    /// Milliseconds until failures are forgotten.
    static let memory: Int64 = 3_600_000
    /// Bytes of the longest user name.
    static let longestName = 256

    private let failures = Mutex<[Key: Failures]>([:])

    /// How many entries there are.
    var count: Int { failures.withLock { $0.count } }

    /// Milliseconds until a try is looked at; 0: now.
    func delay(user: String, address: String, now: Int64) -> Int64 {
        failures.withLock { failures in
            keys(user, address).map { key -> Int64 in
                guard let entry = failures[key], now - entry.last < Self.memory else { return 0 }
                // A clock that was set back must not lock anybody out for longer than the rule says.
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

    /// Forgives the user; not the address, or an account of one's own would open it for guesses at others.
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

    /// What one owner has: an address of IPv4, the first 64 bits of one of IPv6.
    private static func network(of address: String) -> String {
        guard let bytes = SystemSocket.bytes(ofIPv6: address) else { return address }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        if isMapped { return bytes[12...].map(String.init).joined(separator: ".") }
        return bytes[..<8].map { String($0, radix: 16) }.joined(separator: ":")
    }
}
