/// The address of the client of a request. Behind a proxy, every connection comes from the proxy; limits for each address and lines of the log need
/// the client's own.
enum ClientAddress {
    /// The longest text of an address: IPv6 with an embedded IPv4 address.
    private static let longest = 45

    /// Returns the address that a connection comes from or, if that is a trusted proxy, the last address in `X-Forwarded-For` that is not one. Entries
    /// before it may be the client's own invention.
    static func of(peer: String, headers: [String: String], trusting proxies: Set<String>) -> String {
        guard proxies.contains(peer), let forwarded = headers["x-forwarded-for"] else { return peer }
        var address = peer
        for entry in forwarded.split(separator: ",", omittingEmptySubsequences: false).reversed() {
            let text = entry.drop { $0 == " " }.prefix { $0 != " " }
            guard isAddress(text) else { break }
            address = String(text)
            if !proxies.contains(address) { break }
        }
        return address
    }

    private static func isAddress(_ text: Substring) -> Bool {
        (2...longest).contains(text.utf8.count) && text.utf8.allSatisfy { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") || isHexadecimal($0) }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }
}
