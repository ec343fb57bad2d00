public import MobileServer
public import MobileStore

/// The administration of a face: versions of applications, notifications, logs of devices, and statistics. Any thread may use it, also while the
/// face serves, and in another process that shares the state store.
public struct WorklightAdministration: Sendable {
    let state: FaceState
    let clock: @Sendable () -> Int64

    init(state: FaceState, clock: @escaping @Sendable () -> Int64) { (self.state, self.clock) = (state, clock) }

    /// Opens the state of a face, next to the face itself, which may serve meanwhile in another process.
    /// - Parameter configuration: that of the server. Only the path or the address of the store, its time limits and the clock are used.
    /// - Throws: `ServerError`, also when there is no such store.
    public init(stateOf configuration: ServerConfiguration) throws {
        self.init(
            state: try FaceState(configuration, createsFile: false) { WorklightTables.statements($0) }, clock: configuration.clock)
    }

    /// Closes the state. Only for one that ``init(stateOf:)`` has opened, not for that of a face.
    public func close() throws { try state.close() }

    // MARK: Versions

    /// The decision of an administrator about a version of an application.
    public enum Version: Sendable, Hashable {
        /// The version works.
        case active
        /// The version works after its user has seen a message, once for each `id` and session.
        case notify(message: String, id: String)
        /// The version does not work. Worklight: remote disable.
        /// - Parameter link: where to find a newer one; nil for nowhere.
        case disabled(message: String, link: String?)
    }

    /// Decides about a version of an application.
    /// - Parameters:
    ///   - decision: the decision, which replaces an earlier one.
    ///   - application: its identifier.
    ///   - environment: such as `iOSnative`.
    ///   - version: the version; nil for all versions without a decision of their own.
    /// - Throws: `ServerError`, `StoreError`.
    public func set(_ decision: Version, application: String, environment: String, version: String?) throws {
        let (state, message, id, link): (VersionRule.State, String, String, String?) =
            switch decision {
            case .active: (.active, "", "", nil)
            case .notify(let message, let id): (.notify, message, id, nil)
            case .disabled(let message, let link): (.disabled, message, "", link)
            }
        try self.state.write(label: "version of an application") {
            try $0.execute(
                """
                INSERT INTO _wl_rule (application, environment, version, state, message, message_id, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
                ON CONFLICT (application, environment, version) DO UPDATE SET
                    state = excluded.state, message = excluded.message, message_id = excluded.message_id, link = excluded.link
                """,
                [.text(application), .text(environment), .text(version ?? ""), .text(state.rawValue), .text(message), .text(id), Value(link)])
        }
    }

    /// The decision about a version of an application.
    public struct VersionDecision: Sendable, Hashable {
        /// The identifier of the application.
        public let application: String
        /// Its environment.
        public let environment: String
        /// The version; nil for all versions without a decision of their own.
        public let version: String?
        /// The decision.
        public let decision: Version
    }

    /// Returns the decisions about versions, by application, environment and version.
    /// - Throws: `ServerError`, `StoreError`.
    public func versions() throws -> [VersionDecision] {
        let rows = try state.read {
            try $0.rows(
                """
                SELECT application, environment, version, state, message, message_id, link FROM _wl_rule ORDER BY application, environment, version
                """)
        }
        return rows.map { row in
            let message = row[4].text ?? "", version = row[2].text ?? ""
            let decision: Version =
                switch row[3].text.flatMap({ VersionRule.State(rawValue: $0) }) {
                case .notify: .notify(message: message, id: row[5].text ?? "")
                case .disabled: .disabled(message: message, link: row[6].text)
                case .active, nil: .active
                }
            return VersionDecision(
                application: row[0].text ?? "", environment: row[1].text ?? "", version: version.isEmpty ? nil : version, decision: decision)
        }
    }

    func rule(application: String, environment: String, version: String) throws -> VersionRule? {
        let row = try state.read {
            try $0.rows(
                """
                SELECT state, message, message_id, link FROM _wl_rule WHERE application = ?1 AND environment = ?2 AND version IN (?3, '')
                ORDER BY version DESC LIMIT 1
                """, [.text(application), .text(environment), .text(version)]
            ).first
        }
        guard let row, let state = row[0].text.flatMap({ VersionRule.State(rawValue: $0) }), state != .active else { return nil }
        return VersionRule(state: state, message: row[1].text ?? "", messageID: row[2].text ?? "", link: row[3].text)
    }

    // MARK: Notifications

    /// A notification for one device, to be passed to a push service.
    public struct Notification: Sendable, Hashable {
        /// The token of the device.
        public let token: String
        /// The user or anonymous user, such as `user:ada`.
        public let owner: String
        /// The object that the device gets: `aps` and `payload` with the alias.
        public let userInfo: JSONObject
    }

    /// Makes the notifications of an event source, one for each subscription whose device has a token.
    /// - Parameters:
    ///   - adapter: the adapter of the event source.
    ///   - eventSource: its name.
    ///   - user: only for this user; nil (default) for all.
    ///   - alert: a text to show; nil (default) for none.
    ///   - badge: a number at the application's icon; nil (default) for none.
    ///   - sound: the name of a sound; nil (default) for none.
    ///   - payload: data for the application.
    /// - Returns: the notifications; delivering them is the caller's.
    /// - Throws: `ServerError`, `StoreError`.
    public func notifications(
        adapter: String, eventSource: String, user: String? = nil, alert: String? = nil, badge: Int? = nil, sound: String? = nil,
        payload: JSONObject = [:]
    ) throws -> [Notification] {
        let rows = try state.read {
            try $0.rows(
                """
                SELECT t.token, s.owner, s.alias, s.options FROM _wl_subscription AS s
                JOIN _wl_token AS t ON t.application = s.application AND t.owner = s.owner AND t.device = s.device
                WHERE s.adapter = ?1 AND s.source = ?2 AND (CAST(?3 AS TEXT) IS NULL OR s.owner = ?3) ORDER BY s.application, s.owner, s.device, s.alias
                """, [.text(adapter), .text(eventSource), Value(user.map { "user:" + $0 })])
        }
        return rows.map { row in
            let options = row[3].text.flatMap { try? JSONValue(parsing: $0).object } ?? [:]
            var aps = JSONObject(), data = payload
            if let alert, options["alert"] != false { aps["alert"] = .string(alert) }
            if let badge, options["badge"] != false { aps["badge"] = .integer(Int64(badge)) }
            if let sound, options["sound"] != false { aps["sound"] = .string(sound) }
            data["alias"] = .string(row[2].text ?? "")
            return Notification(
                token: row[0].text ?? "", owner: row[1].text ?? "",
                userInfo: ["aps": .object(aps), "payload": .string(JSONValue.object(data).description)])
        }
    }

    // MARK: Logs and statistics

    /// One entry of a device's log.
    public struct LogEntry: Sendable, Hashable {
        /// The identifier of the device.
        public let device: String
        /// The description that came with the log.
        public let description: JSONObject
        /// The entry: timestamp, level, pkg, msg and metadata.
        public let entry: JSONObject
    }

    /// Returns the entries of devices' logs in the order of their arrival.
    /// - Parameter device: only of this device; nil (default) for all.
    /// - Throws: `ServerError`, `StoreError`.
    public func logEntries(device: String? = nil) throws -> [LogEntry] {
        let rows = try state.read {
            try $0.rows(
                "SELECT device, description, entry FROM _wl_log WHERE CAST(?1 AS TEXT) IS NULL OR device = ?1 ORDER BY id", [Value(device)])
        }
        return rows.map { row in
            func object(_ value: Value) -> JSONObject { value.text.flatMap { try? JSONValue(parsing: $0, maximumDepth: 128).object } ?? [:] }
            return LogEntry(device: row[0].text ?? "", description: object(row[1]), entry: object(row[2]))
        }
    }

    func keep(_ entries: [JSONValue], _ device: JSONObject) throws {
        let now = clock()
        func text(_ value: JSONValue?) -> String { (value?.string ?? "").replacing("\0", with: "") }
        let common: [Value] = [
            .text(text(device["deviceId"])), .text(text(device["appName"])), .text(text(device["appVersion"])),
            .text(JSONValue.object(device).description),
        ]
        try state.write(label: "log of a device") { transaction in
            for entry in entries {
                try transaction.execute(
                    "INSERT INTO _wl_log (device, application, version, description, entry, received) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                    common + [.text(entry.description), .integer(now)])
            }
            let last = try transaction.rows("SELECT max(id) FROM _wl_log").first?[0].integer ?? 0
            try transaction.execute("DELETE FROM _wl_log WHERE id <= ?1", [.integer(last - Int64(WorklightConfiguration.maximumLogEntries))])
        }
    }

    /// How often an activity was reported.
    public struct ActivityCount: Sendable, Hashable {
        /// The application.
        public let application: String
        /// The activity.
        public let activity: String
        /// The number of reports.
        public let count: Int
        /// The number of devices.
        public let devices: Int
    }

    /// Returns the statistics of activities, by application and activity. Worklight: the tables `GADGET_STAT_N`.
    /// - Throws: `ServerError`, `StoreError`.
    public func activities() throws -> [ActivityCount] {
        let rows = try state.read {
            try $0.rows(
                """
                SELECT application, activity, count(*), count(DISTINCT device) FROM _wl_activity GROUP BY application, activity
                ORDER BY application, activity
                """)
        }
        return rows.map { row in
            ActivityCount(
                application: row[0].text ?? "", activity: row[1].text ?? "", count: Int(row[2].integer ?? 0), devices: Int(row[3].integer ?? 0))
        }
    }
}
