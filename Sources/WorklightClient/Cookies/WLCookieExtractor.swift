internal import MobileExecution

/// One cookie.
public struct WLCookie: Sendable, Hashable {
    /// The name.
    public var name: String
    /// The value as it is sent.
    public var value: String
    /// The server's name, in lower case; empty for the server of the client's configuration.
    public var domain: String
    /// The beginning of the paths to which it is sent; empty for all.
    public var path: String
    /// Seconds since 1970 at which it ends; nil: with the session.
    public var expires: Double?
    /// Whether it is sent over TLS only.
    public var isSecure: Bool
    /// Whether it is sent to servers below ``domain`` too.
    public var isForSubdomains: Bool

    /// Creates a cookie.
    public init(
        name: String, value: String, domain: String = "", path: String = "/", expires: Double? = nil, isSecure: Bool = false,
        isForSubdomains: Bool = false
    ) {
        self.name = name
        self.value = value
        self.domain = domain
        self.path = path
        self.expires = expires
        self.isSecure = isSecure
        self.isForSubdomains = isForSubdomains
    }
}

/// Cookies that a client shares with the web pages of the application. Passed to ``WLClient/connect(delegate:cookieExtractor:timeout:)``, its cookies are
/// sent with the first request, and it gets every cookie that the server sets. Worklight 5.0.6: class `WLCookieExtractor`.
public final class WLCookieExtractor: Sendable {
    private let jar: SystemLock<[WLCookie]>
    private let changed: @Sendable ([WLCookie]) -> Void

    /// Creates a storage.
    /// - Parameters:
    ///   - cookies: the cookies of the web pages.
    ///   - changed: called with all cookies after the server has set some; default: nothing.
    public init(_ cookies: [WLCookie] = [], changed: @escaping @Sendable ([WLCookie]) -> Void = { _ in }) {
        jar = SystemLock(cookies)
        self.changed = changed
    }

    /// The cookies.
    public var cookies: [WLCookie] { jar.withLock { $0 } }

    /// Adds cookies of the web pages; the client takes them over at the next connect.
    public func add(_ cookies: [WLCookie]) { jar.withLock { $0 += cookies } }

    /// Takes the cookies of the client over.
    func share(_ cookies: [WLCookie]) {
        jar.withLock { $0 = cookies }
        changed(cookies)
    }
}
