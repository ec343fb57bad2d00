internal import MobileStore

/// The contents of a session.
struct SessionContent: Equatable {
    /// The anti-XSRF value; it never changes in a session.
    var instance: String
    /// The token of the device realm's open challenge.
    var token: String
    /// The device; empty until it has named itself.
    var device = ""
    /// The time from which the certificate is valid with which the device has proven its name, in seconds since 1970.
    var certified: Int64 = 0
    /// The satisfied realms, with their identities.
    var identities = JSONObject()
    /// The realms that were satisfied and are not named to the client yet.
    var unannounced: [String] = []
    /// The message of the remote disable realm that was confirmed; empty for none.
    var confirmed = ""
    /// The application of the session's last request to one.
    var application = ""
    /// The identifier of the anonymous user.
    var anonymous = ""

    init(instance: String, token: String) {
        self.instance = instance
        self.token = token
    }

    /// Reads the stored text.
    init?(_ text: String) {
        guard let object = (try? JSONValue(parsing: text, maximumDepth: 256))?.object, let instance = object["instance"]?.string,
            let token = object["token"]?.string
        else { return nil }
        self.init(instance: instance, token: token)
        device = object["device"]?.string ?? ""
        certified = object["certified"]?.integer ?? 0
        identities = object["identities"]?.object ?? [:]
        unannounced = object["unannounced"]?.array?.compactMap(\.string) ?? []
        confirmed = object["confirmed"]?.string ?? ""
        application = object["application"]?.string ?? ""
        anonymous = object["anonymous"]?.string ?? ""
    }

    var text: String {
        JSONValue.object([
            "instance": .string(instance), "token": .string(token), "device": .string(device),
            "certified": .integer(certified), "identities": .object(identities),
            "unannounced": .array(unannounced.map { .string($0) }), "confirmed": .string(confirmed), "application": .string(application),
            "anonymous": .string(anonymous),
        ]).description
    }

    /// Notes that a realm is satisfied; the next answer names it.
    mutating func satisfy(_ realm: String, _ identity: JSONObject) {
        identities[realm] = .object(identity)
        if !unannounced.contains(realm) { unannounced.append(realm) }
    }

    mutating func remove(_ realm: String) {
        identities[realm] = nil
        unannounced.removeAll { $0 == realm }
    }

    /// The user to whom preferences and subscriptions belong: of the first realm of users, otherwise the anonymous one.
    var owner: String {
        for member in identities where !member.key.hasPrefix("wl_") {
            if let user = member.value["userId"]?.string { return "user:" + user }
        }
        return "anonymous:" + anonymous
    }
}
