internal import MobileTransport

/// The cookies of one client, kept by name, domain and path.
struct CookieJar {
    /// The cookie of the anonymous user. It survives restarts of the application and new connects.
    static let persistentName = "WL_PERSISTENT_COOKIE"
    /// The header field with which a server sets a cookie.
    static let responseField = "Set-Cookie"
    /// The most cookies; the oldest one goes first. A server that sends more cannot fill the memory.
    static let maximumCookies = 100

    private struct Entry {
        var cookie: WLCookie
        /// The client's counter when the cookie got its value.
        let since: UInt64
    }

    private var entries: [Entry] = [] { didSet { last = nil } }
    /// The field of the last request, with the times between which it is right: most requests of a client go to one address.
    private var last: (target: RequestTarget, field: String?, times: Range<Double>)?

    var cookies: [WLCookie] { entries.map(\.cookie) }

    /// The cookie that survives restarts.
    var persistent: WLCookie? { entries.last { $0.cookie.name == Self.persistentName }?.cookie }

    /// Removes all cookies that do not survive a connect.
    mutating func startOver() { entries.removeAll { $0.cookie.name != Self.persistentName } }

    /// Adds a cookie, or replaces the one of the same name, domain and path.
    mutating func set(_ cookie: WLCookie, now: Double, counter: UInt64 = 0) {
        let since = entry(like: cookie).flatMap { $0.cookie.value == cookie.value ? $0.since : nil } ?? counter
        entries.removeAll { $0.cookie.isSame(as: cookie) }
        if !cookie.isExpired(now) { entries.append(Entry(cookie: cookie, since: since)) }
        if entries.count > Self.maximumCookies { entries.removeFirst() }
    }

    private func entry(like cookie: WLCookie) -> Entry? { entries.first { $0.cookie.isSame(as: cookie) } }

    /// The cookies of a response, taken over or not.
    struct Taken {
        var isChanged = false
        /// Whether a cookie was not taken, because the jar has a newer value of it.
        var isLate = false
    }

    /// Takes the cookies of a response over, except for those that got another value after the request was sent. The server did not know that value: when a session
    /// has ended, it begins one for each request in flight, and the last of these answers would end the session in which the others log in.
    /// - Parameters:
    ///   - sentAt: the client's counter when the request was sent.
    ///   - counter: the present one.
    mutating func take(
        _ headers: [(name: String, value: String)], from url: RequestTarget, sentAt: UInt64, counter: UInt64, now: Double
    ) -> Taken {
        var taken = Taken()
        // Before all of them: one response may set a cookie twice.
        let known = self
        for (name, value) in headers where name.isField(Self.responseField) {
            guard let cookie = WLCookie(setCookie: value, from: url, now: now) else { continue }
            if let newer = known.entry(like: cookie), newer.since > sentAt {
                taken.isLate = taken.isLate || newer.cookie.value != cookie.value
                continue
            }
            set(cookie, now: now, counter: counter)
            taken.isChanged = true
        }
        return taken
    }

    /// Returns the field `Cookie` of a request; nil if no cookie fits.
    mutating func field(for url: RequestTarget, now: Double) -> String? {
        if let last, last.times.contains(now), last.target == url { return last.field }
        let field = composedField(for: url, now: now)
        let end = entries.lazy.compactMap(\.cookie.expires).filter { $0 > now }.min() ?? .infinity
        if now < end { last = (url, field, now..<end) }
        return field
    }

    private func composedField(for url: RequestTarget, now: Double) -> String? {
        var fitting: [WLCookie] = []
        for entry in entries where !entry.cookie.isExpired(now) && entry.cookie.fits(url) {
            // Longer paths come first (RFC 6265, section 5.4), those of one length in their order.
            let length = entry.cookie.path.utf8.count
            let place = fitting.lastIndex { $0.path.utf8.count >= length }.map { $0 + 1 } ?? 0
            fitting.insert(entry.cookie, at: place)
        }
        guard !fitting.isEmpty else { return nil }
        var field = ""
        for cookie in fitting {
            if !field.isEmpty { field += "; " }
            field += cookie.name
            field += "="
            field += cookie.value
        }
        return field
    }
}

/// The parts of an address that decide about cookies.
struct RequestTarget: Equatable {
    let isSecure: Bool
    let host: String
    let path: String

    init(_ url: String) {
        // Works on UTF-8 bytes, because all delimiters are ASCII.
        let url = url.utf8, scheme = url.prefix { $0 != UInt8(ascii: ":") }
        let rest = url.dropFirst(scheme.count + 3)
        isSecure = Substring(scheme).lowercased() == "https"
        let place = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        // After a user's name and password; the colons of an IPv6 address are in brackets.
        let server = place.lastIndex(of: UInt8(ascii: "@")).map { place[place.index(after: $0)...] } ?? place
        let bracket = server.first == UInt8(ascii: "[") ? server.firstIndex(of: UInt8(ascii: "]")) : nil
        host = Substring(bracket.map { server[...$0] } ?? server.prefix { $0 != UInt8(ascii: ":") }).lowercased()
        let path = rest.dropFirst(place.count).prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        self.path = path.isEmpty ? "/" : String(Substring(path))
    }
}

extension WLCookie {
    /// Reads a field `Set-Cookie` (RFC 6265, section 5.2).
    /// - Returns: nil for a field without a name, and for a domain that is not that of the server.
    init?(setCookie field: String, from url: RequestTarget, now: Double) {
        let parts = field.split(separator: ";", omittingEmptySubsequences: false).map { $0.trimmed }
        guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
        let name = pair[..<equals].trimmed
        guard !name.isEmpty else { return nil }
        var domain = url.host, hasDomain = false, path = WLCookie.defaultPath(of: url.path), isSecure = false
        var expiry: Double?, age: Double?
        for part in parts.dropFirst() {
            let value = part.firstIndex(of: "=").map { part[part.index(after: $0)...].trimmed } ?? ""
            switch part.prefix(while: { $0 != "=" }).trimmed.lowercased() {
            case "domain" where !value.isEmpty:
                domain = (value.hasPrefix(".") ? String(value.dropFirst()) : value).lowercased()
                hasDomain = true
            case "path" where value.hasPrefix("/"): path = value
            case "secure": isSecure = true
            case "expires": expiry = HTTPDate.seconds(of: value).map { Double($0) }
            case "max-age": age = Double(value).map { now + $0 }
            default: break
            }
        }
        guard url.host == domain || hasDomain && url.host.hasSuffix("." + domain) && domain.contains(".") else { return nil }
        self.init(
            name: name, value: pair[pair.index(after: equals)...].trimmed, domain: domain, path: path, expires: age ?? expiry, isSecure: isSecure,
            isForSubdomains: hasDomain)
    }

    private static func defaultPath(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return "/" }
        return String(path[..<slash])
    }

    /// Whether one takes the place of the other.
    func isSame(as other: WLCookie) -> Bool { name == other.name && domain == other.domain && path == other.path }

    func isExpired(_ now: Double) -> Bool { expires.map { $0 <= now } ?? false }

    /// Whether the cookie belongs to a request.
    func fits(_ url: RequestTarget) -> Bool {
        let isHost = url.host == domain || isForSubdomains && url.host.hasSuffix("." + domain)
        let isPath = path.isEmpty || url.path == path || url.path.hasPrefix(path.hasSuffix("/") ? path : path + "/")
        return isHost && isPath && (url.isSecure || !isSecure)
    }
}

extension StringProtocol {
    /// The text without blanks at its ends.
    fileprivate var trimmed: String {
        var rest = Substring(self)
        while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
        while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
        return String(rest)
    }
}
