import Foundation
import MobileExecution
import MobileStore

/// A small server with sessions, for tests of many requests at a time: anti-XSRF and device realm in ordered steps, then a login form. It counts what
/// each procedure call did.
final class SessionServer: Sendable {
    private struct Session {
        var instance: String
        var token: String
        var hasDevice = false
        var isLoggedIn = false
    }

    private struct State {
        var sessions: [String: Session] = [:]
        var counter = 0
        var logins = 0
        /// How often each call was executed, by its parameter.
        var executed: [Int64: Int] = [:]
        var isLocked = false
    }
    private let state = SystemLock(State())
    /// Whether sessions begin with the realms of the platform; otherwise with the login form alone.
    private let hasRealms: Bool

    init(hasRealms: Bool = true) { self.hasRealms = hasRealms }

    /// The number of successful logins.
    var logins: Int { state.withLock { $0.logins } }
    /// How often each call was executed, by its parameter.
    var executed: [Int64: Int] { state.withLock { $0.executed } }
    /// The number of sessions.
    var sessions: Int { state.withLock { $0.sessions.count } }
    /// Whether logins are refused.
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }

    /// Ends all sessions.
    func endSessions() { state.withLock { $0.sessions = [:] } }
    /// Ends the identity of the user in all sessions.
    func logOut() {
        state.withLock { state in
            for key in state.sessions.keys { state.sessions[key]?.isLoggedIn = false }
        }
    }

    func answer(_ request: StrictRequest) -> Reply {
        state.withLock { state in
            state.counter += 1
            var id = request.cookies["JSESSIONID"] ?? ""
            var isNew = false
            if state.sessions[id] == nil {
                if request.isLoginForm { return .page }
                id = "s\(state.counter)"
                state.sessions[id] = Session(instance: "i\(state.counter)", token: "t\(state.counter)")
                isNew = true
            }
            var session = state.sessions[id]!
            var reply = answer(request, &session, &state)
            state.sessions[id] = session
            if isNew { reply = reply.with("Set-Cookie", "JSESSIONID=\(id); Path=/; HttpOnly") }
            return reply
        }
    }

    private func answer(_ request: StrictRequest, _ session: inout Session, _ state: inout State) -> Reply {
        if request.isLoginForm {
            guard !state.isLocked, request.field("j_password") == "right" else { return .page }
            state.logins += 1
            session.isLoggedIn = true
            return .json([:])
        }
        if hasRealms { return afterRealms(request, &session, &state) }
        return session.isLoggedIn || request.name != "query" ? executed(request, &state) : .page
    }

    private func afterRealms(_ request: StrictRequest, _ session: inout Session, _ state: inout State) -> Reply {
        guard request.headers["wl-instance-id"] == session.instance else {
            return .challenge(["wl_antiXSRFRealm": ["WL-Instance-Id": .string(session.instance)]])
        }
        var accepted = JSONObject()
        if !session.hasDevice {
            guard request.answers?["wl_deviceNoProvisioningRealm"]?["ID"]?["token"]?.string == session.token else {
                return .challenge(["wl_deviceNoProvisioningRealm": ["token": .string(session.token)]])
            }
            session.hasDevice = true
            accepted["wl_deviceNoProvisioningRealm"] = ["isUserAuthenticated": 1]
        }
        return request.name == "query" && !session.isLoggedIn ? .page : executed(request, &state, accepted: accepted)
    }

    private func executed(_ request: StrictRequest, _ state: inout State, accepted: JSONObject = [:]) -> Reply {
        if request.name == "query", let number = request.parameters?.first?.integer { state.executed[number, default: 0] += 1 }
        return .json(["isSuccessful": true, "WL-Authentication-Success": .object(accepted), "n": request.parameters?.first ?? .null])
    }
}

extension StrictServer {
    /// A server over a session server.
    convenience init(_ sessions: SessionServer) throws { try self.init { request, _ in sessions.answer(request) } }
}
