internal import Foundation
internal import MobileExecution
internal import MobileStore
internal import MobileTransport

/// The work of a client: sends requests, and processes challenges. Its state is used by jobs of the mailbox only; what other threads read has a lock.
final class WLEngine: @unchecked Sendable {
    let configuration: WLConfiguration
    /// ``WLConfiguration/applicationURL``, composed once.
    let applicationURL: String
    /// The address of procedures.
    let procedures: RequestAddress
    let store: ClientStore?
    let mailbox: Mailbox
    /// Threads of transmissions, callbacks and timers.
    let threads: BlockingWork
    let headers = GlobalHeaders()
    let jar = SystemLock(CookieJar())
    private let transport: any Transport

    /// The requests in progress at a time; further ones wait for a thread.
    static let maximumTransmissions = 32
    /// How long an idle thread keeps polling after its last job: an application often makes the next call in a callback, or right after it.
    private static let lingering = Duration.microseconds(50)
    /// The responses with a challenge that one request may get.
    static let maximumRounds = 10

    /// Handlers of realms that the server names.
    var slots: [String: ChallengeSlot] = [:]
    /// Handlers that recognize responses, in the order of their registration.
    var customSlots: [ChallengeSlot] = []
    var extractor: WLCookieExtractor?
    /// Called with the state of push subscriptions of a response.
    var onSubscriptionState: ((JSONNode) -> Void)?
    private let plainFields: HeaderFields
    private let standardFields: HeaderFields
    private var cacheBuster = CacheBuster()
    /// Counts sendings and acceptances, for their order.
    private var counter: UInt64 = 0
    private var knownMessageID: String??
    private let knownDeviceID = SystemLock<String?>(nil)

    init(_ configuration: WLConfiguration, _ store: ClientStore?, _ transport: any Transport) {
        self.configuration = configuration
        self.store = store
        self.transport = transport
        applicationURL = configuration.applicationURL
        procedures = RequestAddress(applicationURL + "query")
        plainFields = Self.fields(of: configuration, isPlain: true)
        standardFields = Self.fields(of: configuration, isPlain: false)
        threads = BlockingWork(threads: Self.maximumTransmissions + 2, lingering: Self.lingering)
        mailbox = Mailbox(threads)
        let builtIn = [AntiXSRFHandler(), DeviceHandler(), ProvisionedDeviceHandler(), AuthenticityHandler(), RemoteDisableHandler()]
        for handler in builtIn as [WLChallengeHandler] { register(handler) }
        if let value = keep(or: nil, { try store?.setting(.persistentCookie) }) {
            jar.withLock {
                $0.set(
                    WLCookie(
                        name: CookieJar.persistentName, value: value, domain: procedures.target.host,
                        expires: configuration.clock() + 31_536_000), now: configuration.clock())
            }
        }
    }

    // MARK: Sending

    /// Sends a request, again after a challenge.
    func send(_ request: WLRequest) {
        if let transmission = transmission(of: request) { mailbox.start(transmission) }
    }

    /// Prepares the sending of a request.
    /// - Returns: the work that sends it; nil if it has ended, or is on its way.
    func transmission(of request: WLRequest) -> Mailbox.Work? {
        guard !request.isFinished, !request.isInFlight else { return nil }
        counter += 1
        request.sentAt = counter
        request.isInFlight = true
        request.transmission = TransportCancellation()
        let transmission = HandedOver(composed(request)), transport = transport
        return {
            let result = HandedOver(Result { try transport.send(transmission.value, maximumLength: ResponseBody.maximumLength) })
            return { self.receive(result.value, request) }
        }
    }

    /// The header fields of the configuration.
    private static func fields(of configuration: WLConfiguration, isPlain: Bool) -> HeaderFields {
        var fields = HeaderFields()
        fields["User-Agent"] = configuration.fullUserAgent
        fields["x-wl-app-version"] = configuration.applicationVersion
        fields["Accept-Encoding"] = "gzip"
        if isPlain { return fields }
        fields["X-Requested-With"] = "XMLHttpRequest"
        fields["x-wl-platform-version"] = configuration.platformVersion
        fields["Accept-Language"] = configuration.acceptLanguage
        return fields
    }

    private func composed(_ request: WLRequest) -> TransportRequest {
        var url = request.url, body = request.body
        var fields = plainFields, form = request.fields
        if case .plain = request.kind {
        } else {
            fields = standardFields
            fields[AntiXSRFHandler.field] = headers.instanceID
            form += [("isAjaxRequest", "true"), ("x", cacheBuster.next())]
        }
        for (name, value) in request.headers { fields[name] = value }
        if request.method == "GET" {
            url += (url.contains("?") ? "&" : "?") + String(decoding: FormEncoding.body(form), as: UTF8.self)
        } else if body == nil {
            fields["Content-Type"] = "application/x-www-form-urlencoded; charset=UTF-8"
            body = FormEncoding.body(form)
        }
        if case .plain = request.kind {} else { headers.add(to: &fields) }
        let answers = request.takeAnswers()
        if !answers.isEmpty { fields["Authorization"] = FormEncoding.ascii(.object(answers)) }
        fields["Cookie"] = cookieField(for: request.target)
        var message = TransportRequest(
            method: request.method, url: url, headers: fields.all, body: body.map { .bytes($0) } ?? .none)
        message.isSentOnce = !request.mayRepeat
        message.expects = .any
        message.totalTimeout = request.timeout
        message.stallTimeout = nil
        message.connectTimeout = request.timeout.map { min($0, .seconds(10)) } ?? .seconds(300)
        message.cancellation = request.transmission
        return message
    }

    private func cookieField(for target: RequestTarget) -> String? {
        let now = configuration.clock()
        return jar.withLock { $0.field(for: target, now: now) }
    }

    // MARK: Receiving

    private func receive(_ result: Result<(response: TransportResponse, body: [UInt8]), any Error>, _ request: WLRequest) {
        request.isInFlight = false
        let answered = slots.values.filter { $0.answering === request }
        for slot in answered { slot.answering = nil }
        switch result {
        case .failure(let error): finish(request, .failure(failure(of: error, request)))
        case .success(let (head, bytes)):
            // Also for a request that was cancelled: the session of the cookie exists on the server.
            let isLate = takeCookies(head.headers, request)
            do {
                let body = try ResponseBody(bytes, contentEncoding: head.header("content-encoding"))
                evaluate(head, body, request, isLate: isLate)
            } catch { finish(request, .failure(WLFailResponse(.unexpectedError, status: head.status, context: request.context, cause: error))) }
        }
        // The answer was not accepted, and the request does not try again: the first one that waits does.
        for slot in answered where slot.active == nil && slot.answering == nil { release(slot) }
    }

    /// - Parameter isLate: whether the response belongs to another session than the one that the client has by now.
    private func evaluate(_ head: TransportResponse, _ body: ResponseBody, _ request: WLRequest, isLate: Bool) {
        if case .plain = request.kind {
            finish(request, .success(WLResponse(status: head.status, headers: head.headers, body: body, context: request.context)))
            return
        }
        let isChallenge = head.status == 401 && head.header("WWW-Authenticate")?.lowercased() == "wl-composite-challenge"
        // Once: a server that sets another cookie with each answer is late each time.
        if isChallenge, isLate, !request.wasLate {
            request.wasLate = true
            return send(request)
        }
        acceptRealms(body.member("WL-Authentication-Success"))
        if isChallenge { return handleChallenges(body, head, request) }
        if head.status == 403, let refusals = body.member("WL-Authentication-Failure"), refusals.isObject {
            return handleRefusals(refusals, body, head, request)
        }
        let result = request.isProcedure ? WLProcedureInvocationResult(body) : nil
        let response = WLResponse(status: head.status, headers: head.headers, body: body, result: result, context: request.context)
        if let slot = customSlots.first(where: { ($0.handler as? ChallengeHandler)?.isCustomResponse(response) == true }) {
            return startCustomChallenge(slot, response, request)
        }
        finish(request, outcome(response, request))
    }

    /// Determines the end of a request whose response is not a challenge.
    private func outcome(_ response: WLResponse, _ request: WLRequest) -> WLRequest.Outcome {
        guard response.httpStatus == 200 else { return .failure(WLFailResponse(of: response)) }
        if let state = response.body.member("notificationSubscriptionState"), state.isObject { onSubscriptionState?(state) }
        guard request.isProcedure else { return .success(response) }
        guard let result = response.invocationResult else {
            return .failure(WLFailResponse(.unexpectedError, "the answer is not a JSON object", of: response))
        }
        return result.isSuccessful ? .success(response) : .failure(WLFailResponse(.procedureError, nil, of: response))
    }

    private func failure(of error: any Error, _ request: WLRequest) -> WLFailResponse {
        let error = error as? TransportError
        let code: WLErrorCode =
            switch error?.code {
            case .cannotConnect?, .tls?: .unresponsiveHost
            case .timeout? where error?.isBeforeConnection == true: .unresponsiveHost
            case .timeout?: .requestTimeout
            default: .unexpectedError
            }
        return WLFailResponse(code, context: request.context, cause: error)
    }

    // MARK: Used by other parts

    /// Advances the counter.
    func tick() -> UInt64 {
        counter += 1
        return counter
    }

    /// Returns the result of `body`, or `value` after noting why it failed: a device whose store fails still works with its server.
    func keep<T>(or value: T, _ body: () throws -> T) -> T {
        do { return try body() } catch {
            configuration.log("the store of the Worklight client: \(error)")
            return value
        }
    }

    /// The identifier of the device, the same at each start.
    var deviceID: String {
        if let id = configuration.device.id { return id }
        return knownDeviceID.withLock { known in
            let id = known ?? keep(or: nil, { try store?.setting(.device) }) ?? UUID().uuidString
            if known == nil { keep(or: (), { try store?.set(.device, id) }) }
            known = id
            return id
        }
    }

    /// The description of device and application for the realms of devices.
    func deviceDescription(_ token: String) -> JSONObject {
        [
            "token": .string(token), "app": ["id": .string(configuration.applicationID), "version": .string(configuration.applicationVersion)],
            "device": [
                "id": .string(deviceID), "os": .string(configuration.device.os), "model": .string(configuration.device.model),
                "environment": .string(configuration.device.environment),
            ],
            "custom": [:],
        ]
    }

    /// The identifier of the last message that was shown.
    var lastMessageID: String? {
        get {
            if case .some(let known) = knownMessageID { return known }
            let stored = keep(or: nil, { try store?.setting(.message) })
            knownMessageID = .some(stored)
            return stored
        }
        set {
            knownMessageID = .some(newValue)
            keep(or: (), { try store?.set(.message, newValue) })
        }
    }

    /// Takes a new anti-XSRF value.
    func setInstanceID(_ value: String?) {
        guard headers.instanceID != value else { return }
        headers.instanceID = value
        if extractor != nil { keep(or: (), { try store?.set(.instance, value) }) }
    }

    /// - Returns: whether the response is late; see ``CookieJar/Taken``.
    private func takeCookies(_ headers: [(name: String, value: String)], _ request: WLRequest) -> Bool {
        let counter = tick()
        guard headers.contains(where: { $0.name.isField(CookieJar.responseField) }) else { return false }
        let now = configuration.clock(), target = request.target, sentAt = request.sentAt
        let (taken, cookies, before, after) = jar.withLock { jar in
            let before = jar.persistent
            let taken = jar.take(headers, from: target, sentAt: sentAt, counter: counter, now: now)
            return (taken, taken.isChanged ? jar.cookies : [], before, jar.persistent)
        }
        if taken.isChanged {
            extractor?.share(cookies)
            if before?.value != after?.value { keep(or: (), { try store?.set(.persistentCookie, after?.value) }) }
        }
        return taken.isLate
    }
}

/// A value that one thread makes and another one uses. Sound because only one has it at a time.
struct HandedOver<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

extension WLFailResponse {
    /// The failure that a response reports.
    convenience init(of response: WLResponse) {
        let body = response.body
        let code = WLErrorCode(status: response.httpStatus ?? 500, errorCode: body.member("errorCode"), isJSON: body.document != nil)
        self.init(code, body.member("errorMsg")?.string, of: response)
    }

    /// A failure of this kind, with the response.
    convenience init(_ code: WLErrorCode, _ message: String?, of response: WLResponse) {
        self.init(
            code, message, status: response.httpStatus, headers: response.headers, body: response.body, result: response.invocationResult,
            context: response.invocationContext)
    }
}
