public import MobileStore

/// The contents of a Worklight face: applications, adapters and realms.
public struct WorklightConfiguration: Sendable {
    /// The context root below which everything lies, such as `/Demo`; empty for none. With or without slashes at its ends.
    public var context: String
    /// The applications.
    public var applications: [WorklightApplication]
    /// The adapters, whose procedures clients call.
    public var adapters: [WorklightAdapter]
    /// The realms of users.
    public var realms: [WorklightRealm]
    /// The time after which an unused session ends; default 10 minutes.
    public var sessionIdleLimit: Duration = .seconds(600)
    /// The longest body of a request in bytes, compressed or not; default 8 MiB.
    public var maximumBody = 8 << 20
    /// The most preferences of a user.
    public static let maximumPreferences = 100
    /// The longest name of a preference, in characters.
    public static let maximumPreferenceKey = 128
    /// The longest value of a preference, in characters.
    public static let maximumPreferenceValue = 3072
    /// The entries of logs of devices that are kept; the oldest go first.
    public static let maximumLogEntries = 100_000

    /// Creates a configuration.
    public init(context: String = "", applications: [WorklightApplication], adapters: [WorklightAdapter] = [], realms: [WorklightRealm] = []) {
        self.context = context
        self.applications = applications
        self.adapters = adapters
        self.realms = realms
    }

    /// The context with a slash at its beginning and none at its end; empty for none.
    var root: String {
        let parts = context.split(separator: "/").joined(separator: "/")
        return parts.isEmpty ? "" : "/" + parts
    }
}

/// An application that clients connect.
public struct WorklightApplication: Sendable {
    /// The identifier: letters, digits and underscores.
    public var id: String
    /// The environments in which it exists, such as `iOSnative`; empty for all.
    public var environments: Set<String>
    /// Whether devices must name themselves (`wl_deviceNoProvisioningRealm`), in the step after anti-XSRF and remote disable; default true.
    public var requiresDevice: Bool
    /// Certificates with which devices prove their names (`wl_deviceAutoProvisioningRealm`), in place of ``requiresDevice``; nil (default) for none.
    public var provisioning: WorklightProvisioning?
    /// The name of a realm that guards all requests of the application; nil (default) for none.
    public var userRealm: String?
    /// Properties that `init` reports as `gadgetProps`.
    public var properties: JSONObject

    /// Describes an application.
    public init(
        id: String, environments: Set<String> = [], requiresDevice: Bool = true, provisioning: WorklightProvisioning? = nil, userRealm: String? = nil,
        properties: JSONObject = [:]
    ) {
        self.id = id
        self.environments = environments
        self.requiresDevice = requiresDevice
        self.provisioning = provisioning
        self.userRealm = userRealm
        self.properties = properties
    }
}

/// A realm of users.
public struct WorklightRealm: Sendable {
    /// The way to log in.
    public enum Login: Sendable {
        /// An HTML page with a form, sent to a path that ends with `j_security_check`.
        /// - Parameters:
        ///   - page: makes the page with an error text, which is empty at first; it must contain `j_security_check`.
        ///   - accepts: checks name and password, and returns attributes of the user; nil: wrong. nil for the accounts of the server.
        case form(page: @Sendable (_ error: String) -> String, accepts: (@Sendable (_ user: String, _ password: String) throws -> JSONObject?)? = nil)
        /// An object that an adapter's clients recognize; a procedure logs in with ``WorklightInvocation/setUser(_:realm:attributes:)``.
        case adapter(challenge: @Sendable () -> JSONObject)
    }

    /// The name.
    public var name: String
    /// The way to log in.
    public var login: Login

    /// Describes a realm.
    public init(_ name: String, login: Login) {
        self.name = name
        self.login = login
    }

    /// A realm with a plain form, for the accounts of the server.
    public static func form(_ name: String) -> WorklightRealm {
        WorklightRealm(name, login: .form(page: { LoginPage.html(error: $0) }))
    }
}

/// The login page of realms without one of their own.
enum LoginPage {
    static func html(error: String) -> String {
        let text = error.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return """
            <!DOCTYPE html>
            <html><head><meta charset="UTF-8"><title>Login</title></head><body>
            <form method="post" action="j_security_check">
            <p class="error">\(text)</p>
            <input type="text" name="j_username"><input type="password" name="j_password"><input type="submit" value="Log in">
            </form></body></html>
            """
    }
}
