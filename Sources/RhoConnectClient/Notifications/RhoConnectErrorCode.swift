public import Foundation

/// The code of a failure, as the documented clients report it. RhoConnect: `RHO_ERR_...`.
///
/// The documents call a notification's code the HTTP status; it is this number.
public struct RhoConnectErrorCode: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    /// The documented number.
    public let rawValue: Int
    /// Makes a code from its number.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// 0: success. RhoConnect: `RHO_ERR_NONE`.
    public static let none = RhoConnectErrorCode(rawValue: 0)
    /// 1: there was no HTTP response: refused, timed out, not trusted. RhoConnect: `RHO_ERR_NETWORK`.
    public static let network = RhoConnectErrorCode(rawValue: 1)
    /// 2: any status other than 200 and 401; the message is the body, such as `Unknown client`. RhoConnect: `RHO_ERR_REMOTESERVER`.
    public static let remoteServer = RhoConnectErrorCode(rawValue: 2)
    /// 3: a failure on the device: an unknown model, a database that cannot be written. RhoConnect: `RHO_ERR_RUNTIME`.
    public static let runtime = RhoConnectErrorCode(rawValue: 3)
    /// 4: a response that does not have the specified form. RhoConnect: `RHO_ERR_UNEXPECTEDSERVERRESPONSE`.
    public static let unexpectedServerResponse = RhoConnectErrorCode(rawValue: 4)
    /// 5: historic, not reported. RhoConnect: `RHO_ERR_DIFFDOMAINSINSYNCSRC`.
    public static let differentDomainsInSource = RhoConnectErrorCode(rawValue: 5)
    /// 6: historic, not reported. RhoConnect: `RHO_ERR_NOSERVERRESPONSE`.
    public static let noServerResponse = RhoConnectErrorCode(rawValue: 6)
    /// 7: there is no session: log in. RhoConnect: `RHO_ERR_CLIENTISNOTLOGGEDIN`.
    public static let clientIsNotLoggedIn = RhoConnectErrorCode(rawValue: 7)
    /// 8: the server's application reported errors; ``RhoConnectNotify/serverErrors`` has them. RhoConnect: `RHO_ERR_CUSTOMSYNCSERVER`.
    public static let customSyncServer = RhoConnectErrorCode(rawValue: 8)
    /// 9: the server refused the session, or the login. RhoConnect: `RHO_ERR_UNATHORIZED`.
    public static let unauthorized = RhoConnectErrorCode(rawValue: 9)
    /// 10: the application stopped the work. RhoConnect: `RHO_ERR_CANCELBYUSER`.
    public static let cancelledByUser = RhoConnectErrorCode(rawValue: 10)
    /// 11: the server speaks another version of the protocol. RhoConnect: `RHO_ERR_SYNCVERSION`.
    public static let syncVersion = RhoConnectErrorCode(rawValue: 11)
    /// 12: not used by synchronization. RhoConnect: `RHO_ERR_GEOLOCATION`.
    public static let geolocation = RhoConnectErrorCode(rawValue: 12)

    /// The name of the code, such as `customSyncServer`.
    public var description: String {
        let names = [
            "none", "network", "remoteServer", "runtime", "unexpectedServerResponse", "differentDomainsInSource", "noServerResponse",
            "clientIsNotLoggedIn", "customSyncServer", "unauthorized", "cancelledByUser", "syncVersion", "geolocation",
        ]
        return names.indices.contains(rawValue) ? names[rawValue] : "code \(rawValue)"
    }
}

/// The error of this module.
public struct RhoConnectError: Error, Sendable, CustomStringConvertible {
    /// The documented code.
    public let code: RhoConnectErrorCode
    /// The failure, or the server's text; one line unless the server sent more.
    public let message: String
    /// The underlying failure; nil without one.
    public let cause: (any Error)?

    /// Makes an error.
    public init(_ code: RhoConnectErrorCode, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    /// Whether the server does not know the client id. The texts differ in case between versions of the server.
    var isUnknownClient: Bool { code == .remoteServer && message.lowercased() == "unknown client" }
}

extension RhoConnectError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for unknown codes.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (RhoConnectError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [RhoConnectErrorCode: String] = [
        .none: "None needed.",
        .network: "Check network, host, port and certificate; repeat.",
        .remoteServer: "Read the message, which is the text of the server; look into its log.",
        .runtime: "Correct the call, or make room for the database; the message names the model or the file.",
        .unexpectedServerResponse: "Check the address and proxies between device and server; repeat.",
        .differentDomainsInSource: "None needed. It is not reported any more.",
        .noServerResponse: "None needed. It is not reported any more.",
        .clientIsNotLoggedIn: "Log in, then repeat.",
        .customSyncServer: "Read the errors of the server; correct the objects that they name.",
        .unauthorized: "Ask the user for the credentials and log in again.",
        .cancelledByUser: "None needed. The next synchronization continues.",
        .syncVersion: "Update the application or the server.",
        .geolocation: "None needed. It is not reported by synchronization.",
    ]
}
