public import Foundation

/// The address of the server, the identity of the application, and the settings of a client. Worklight 5.0.6: the file `worklight.plist`.
public struct WLConfiguration: Sendable {
    /// `http` or `https`; key `protocol`.
    public var scheme: String
    /// The name or address of the server; key `host`.
    public var host: String
    /// The port as text; empty for none. Key `port`.
    public var port: String
    /// The context root, with or without slashes at its ends; key `wlServerContext`.
    public var serverContext: String
    /// The identifier of the application; key `application id`.
    public var applicationID: String
    /// The version of the application; key `application version`.
    public var applicationVersion: String
    /// The environment, such as `iOSnative`; key `environment`.
    public var environment: String
    /// The version of the platform, from 6.0; nil: the header field is not sent. Keys `platformVersion` and `wlPlatformVersion`.
    public var platformVersion: String?

    /// The description of the device for the device realm and for logs.
    public var device = WLDevice()
    /// The languages of the user, as `Accept-Language`; nil (default): the field is not sent.
    public var acceptLanguage: String?
    /// The beginning of `User-Agent`; the text ` WLNativeAPI(...)` follows.
    public var userAgent = "MobileObjects"
    /// The time for one sending and its answer, if a call has none of its own; default 10 s.
    public var defaultTimeout: Duration = .seconds(10)
    /// The time between two signs of life after a successful connect; default 420 s, zero or less: none.
    public var heartbeatInterval: Duration = .seconds(420)
    /// Whether notifications can reach this device; default true. Worklight 5.0.6: `isPushSupported`.
    public var isPushSupported = true
    /// The rule for a full log: false (default): nothing more is kept until the log was sent; true: the full part waits for the next sending, and a
    /// new one begins, as from 6.2.
    public var rotatesFullLog = false
    /// Computes the answer to a challenge of the authenticity realm; nil (default): such a request fails. The algorithm belongs to the platform's
    /// owner.
    public var authenticityAnswer: (@Sendable (_ challengeData: String) -> String?)?
    /// The keys of the device for servers that demand a device certificate; nil (default): requests to them fail.
    public var deviceKeys: (any WLDeviceKeys)?
    /// Shows a message of the server to the user and calls `dismissed` when the user has read it. nil (default): the message goes to ``log`` and
    /// counts as read.
    public var showMessage: (@Sendable (_ message: String, _ dismissed: @escaping @Sendable () -> Void) -> Void)?
    /// Receives lines about the work of the client; default: discards them. No line has credentials, cookies or contents.
    public var log: @Sendable (String) -> Void = { _ in }
    /// Seconds since 1970; for tests and for devices with a clock of their own.
    public var clock: @Sendable () -> Double = { Date().timeIntervalSince1970 }

    /// Creates a configuration in code.
    public init(
        scheme: String = "http", host: String, port: String = "", serverContext: String = "/", applicationID: String, applicationVersion: String,
        environment: String = "iOSnative", platformVersion: String? = nil
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.serverContext = serverContext
        self.applicationID = applicationID
        self.applicationVersion = applicationVersion
        self.environment = environment
        self.platformVersion = platformVersion
    }

    /// Reads a file with the keys of `worklight.plist`. Keys that only other tools need are ignored.
    /// - Throws: ``WLConfigurationError``: the file cannot be read, or a value is missing or has the wrong type.
    public init(plist path: String) throws(WLConfigurationError) {
        let object: Any
        do {
            object = try PropertyListSerialization.propertyList(from: Data(contentsOf: URL(filePath: path)), format: nil)
        } catch { throw WLConfigurationError(.unreadable, "\(path): \(error.localizedDescription)", cause: error) }
        guard let values = object as? [String: Any] else { throw WLConfigurationError(.unreadable, "\(path): its root is not a dictionary") }
        func text(_ key: String) throws(WLConfigurationError) -> String? {
            switch values[key] {
            case nil: return nil
            case let text as String: return text.trimmingCharacters(in: .whitespaces)
            // Hand-written files have the port as a number.
            case let number as Int: return String(number)
            default: throw WLConfigurationError(.invalidValue, "\(path): the value of \"\(key)\" is not a text")
            }
        }
        func required(_ key: String) throws(WLConfigurationError) -> String {
            guard let value = try text(key), !value.isEmpty else { throw WLConfigurationError(.missingValue, "\(path): \"\(key)\" is missing") }
            return value
        }
        var platformVersion = try text("platformVersion")
        if platformVersion == nil { platformVersion = try text("wlPlatformVersion") }
        self.init(
            scheme: try text("protocol") ?? "http", host: try required("host"), port: try text("port") ?? "",
            serverContext: try text("wlServerContext") ?? "/", applicationID: try required("application id"),
            applicationVersion: try required("application version"), environment: try text("environment") ?? "iOSnative",
            platformVersion: platformVersion)
        guard ["http", "https"].contains(scheme) else {
            throw WLConfigurationError(.invalidValue, "\(path): the protocol \"\(scheme.prefix(20))\" is neither http nor https")
        }
    }

    /// The address of the server with its context, without a slash at its end.
    public var rootURL: String {
        let isDefault = port.isEmpty || scheme == "https" && port == "443"
        let context = serverContext.split(separator: "/").joined(separator: "/")
        return "\(scheme)://\(host)\(isDefault ? "" : ":\(port)")\(context.isEmpty ? "" : "/" + context)"
    }

    /// The address below which the requests of the application go, with a slash at its end.
    public var applicationURL: String { "\(rootURL)/apps/services/api/\(applicationID)/\(environment)/" }

    /// The address of the services that belong to no application, with a slash at its end.
    var servicesURL: String { rootURL + "/apps/services/" }

    /// The name of the client in `User-Agent`.
    var fullUserAgent: String { "\(userAgent) WLNativeAPI(\(device.model); \(device.os))" }
}

/// The description of a device.
public struct WLDevice: Sendable, Hashable {
    /// The identifier of the device; nil (default): one is made at the first use, and kept in the client's store.
    public var id: String?
    /// The version of the operating system.
    public var os: String
    /// The model, such as `iPhone7,2`.
    public var model: String
    /// The environment that the device realm names; default `iOS`.
    public var environment: String

    /// Describes a device; by default the one on which the program runs.
    public init(id: String? = nil, os: String? = nil, model: String = "Linux", environment: String = "iOS") {
        let version = ProcessInfo.processInfo.operatingSystemVersion
        self.id = id
        self.os = os ?? "\(version.majorVersion).\(version.minorVersion).\(version.patchVersion)"
        self.model = model
        self.environment = environment
    }
}

/// A configuration file that cannot be used.
public struct WLConfigurationError: Error, Sendable, CustomStringConvertible {
    /// A stable name of a kind of failure.
    public struct Code: RawRepresentable, Hashable, Sendable {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The file does not exist or is not a property list.
        public static let unreadable = Code(rawValue: "unreadable")
        /// A required key is missing or empty.
        public static let missingValue = Code(rawValue: "missingValue")
        /// A value has the wrong type or form.
        public static let invalidValue = Code(rawValue: "invalidValue")
    }

    /// The kind of failure.
    public let code: Code
    /// The file and the failure; one line.
    public let message: String
    /// The failure below this one; nil if there is none.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }

    public var description: String { message }
}

extension WLConfigurationError: LocalizedError, CustomDebugStringConvertible {
    /// The message.
    public var errorDescription: String? { message }
    /// The message.
    public var failureReason: String? { message }
    /// The remedy, as in the article *Errors*; nil for codes of a newer release.
    public var recoverySuggestion: String? { Self.remedies[code] }
    /// Message, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(message) (WLConfigurationError \(code.rawValue))" + (recoverySuggestion.map { ". \($0)" } ?? "") }

    private static let remedies: [Code: String] = [
        .unreadable: "Correct the path or the file.",
        .missingValue: "Add the key that the message names.",
        .invalidValue: "Correct the value that the message names.",
    ]
}
