internal import MobileExecution
internal import MobileStore
internal import MobileTransport

extension RhoConnectClient {
    /// Logs in, and waits for the result, which has a code and a message. A synchronization in progress is stopped. When another user logs in than before, the
    /// local data is destroyed first. RhoConnect: `loginWithUser:pwd:`.
    @discardableResult
    public func login(user: String, password: String) -> RhoConnectNotify {
        stopSync()
        return core.perform(.login(user: user, password: password), .init(callsCallbacks: false))
    }

    /// Logs in, and calls back with a code and a message. RhoConnect: `loginWithUser:pwd:callback:target:`.
    /// - Parameters:
    ///   - user: the name of the user.
    ///   - password: the password.
    ///   - callback: called on the client's thread.
    public func login(user: String, password: String, callback: @escaping @Sendable (RhoConnectNotify) -> Void) {
        core.cancelCurrent()
        _ = core.submit(
            .login(user: user, password: password), .init(callsCallbacks: false, final: NotificationCallback(parameters: "", call: callback)))
    }

    /// Logs in; as the blocking twin, without a thread that waits.
    @discardableResult
    public func login(user: String, password: String) async -> RhoConnectNotify {
        core.cancelCurrent()
        return await core.submit(.login(user: user, password: password), .init(callsCallbacks: false)).notification
    }

    /// Whether there is a session. RhoConnect: `is_logged_in`.
    public var isLoggedIn: Bool { (try? core.read { try ClientInfo(in: $0).session != nil }) ?? false }

    /// Ends the session on this device, and tells the server in the background to send no more pushes. Data and client id stay. RhoConnect: `logout`.
    /// - Throws: ``RhoConnectErrorCode/runtime``.
    public func logout() throws(RhoConnectError) {
        stopSync()
        let info = try core.write("logout") { connection in
            let info = try ClientInfo(in: connection)
            try ClientInfo.set("session = NULL", in: connection)
            return info
        }
        guard let session = info.session, !info.clientID.isEmpty else { return }
        let core = core
        RegistrationCall.threads.start {
            do throws(RhoConnectError) {
                var calls = try ServerCalls(core, .init())
                (calls.session, calls.clientID) = (session, info.clientID)
                try RegistrationCall.send(nil, calls)
            } catch {
                core.log(.warning, "logout: the server was not notified: \(error)")
            }
        }
    }

    /// Sets the device for push notifications. It is sent with the next login or synchronization, once per pin and login.
    public func setDevice(_ device: Device?) { core.withState { $0.device = device } }

    /// Synchronizes the models that a push notification names; `all` stands for all models, unknown names are ignored. RhoConnect: `do_sync`.
    /// - Returns: the result in the form of `syncAll()`.
    @discardableResult
    public func handlePush(doSync names: [String]) -> RhoConnectNotify {
        if names.contains("all") { return syncAll() }
        let ids = core.withState { state in state.sources.filter { names.contains($0.name) }.map(\.id) }
        guard !ids.isEmpty else { return RhoConnectNotify(status: .ok) }
        return core.performOrStart(.sync(sources: ids, primary: nil))
    }
}

/// The registration of a device for push notifications.
enum RegistrationCall {
    /// Messages to the server that the application does not wait for.
    static let threads = BlockingWork(threads: 2)

    /// Sends the device; nil unregisters it.
    static func send(_ device: RhoConnectClient.Device?, _ calls: ServerCalls) throws(RhoConnectError) {
        var members: [(key: String, value: JSONValue)] = [
            ("device_pin", .string(device?.pin ?? "")), ("device_port", .string(device?.port ?? "")), ("device_type", .string(device?.type ?? "")),
            ("device_push_type", .string(device?.pushType ?? "")),
        ]
        if let device, !device.phoneID.isEmpty { members.append(("phone_id", .string(device.phoneID))) }
        if calls.address.style == .version3 {
            members.append(("client_id", .string(calls.clientID)))
        } else if let device {
            members += [("device_app_id", .string(device.applicationID)), ("device_app_version", .string(device.applicationVersion))]
        }
        _ = try calls.send("POST", calls.address.register(calls.clientID), json: JSONValue.object(JSONObject(uniqueKeys: members)).bytes)
    }
}

extension SyncRun {
    /// Logs in.
    func login(user: String, password: String) -> RhoConnectNotify {
        var notify = RhoConnectNotify()
        do throws(RhoConnectError) {
            let body = JSONValue.object(["login": .string(user), "password": .string(password), "remember_me": 1])
            let answer = try calls.send("POST", calls.address.login, json: body.bytes)
            guard let session = answer.session else { throw PageResponse.unexpected("the login was answered without a session") }
            try write("login") { connection in
                let info = try ClientInfo(in: connection)
                if let before = info.userName, before != user { try LocalReset.full.apply(in: connection) }
                try ClientInfo.set("session = ?1, user_name = ?2, token_sent = 0", [.text(session), .text(user)], in: connection)
            }
            (calls.session, calls.clientID) = (session, try core.database.read { try ClientInfo(in: $0).clientID })
        } catch {
            (notify.status, notify.errorCode, notify.errorMessage) = (.error, error.code, error.message)
        }
        if notify.errorCode == .none { register() }
        audience.final?.call(notify)
        return notify
    }

    /// Sends the device, if the server does not have it. A failure is tried again with the next synchronization.
    func register() {
        guard let device = core.withState(\.device), !calls.clientID.isEmpty else { return }
        do throws(RhoConnectError) {
            let info = try core.database.read { try ClientInfo(in: $0) }
            guard !(info.isPushSent && info.pushPin == device.pin) else { return }
            try RegistrationCall.send(device, calls)
            try write("register") { try ClientInfo.set("token = ?1, token_sent = 1", [.text(device.pin)], in: $0) }
        } catch {
            core.log(.warning, "the device was not registered: \(error)")
        }
    }
}
