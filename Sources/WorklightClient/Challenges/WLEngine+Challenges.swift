internal import MobileStore
internal import MobileTransport

/// The processing of challenges: which request answers, which wait, and when they are sent again. All functions are called in jobs of the mailbox.
extension WLEngine {
    func register(_ handler: BaseChallengeHandler) {
        let slot = ChallengeSlot(handler)
        handler.register(self, slot)
        if handler is ChallengeHandler {
            for old in customSlots where old.realm == handler.realm { give(slot, requestsOf: old) }
            customSlots.removeAll { $0.realm == handler.realm }
            customSlots.append(slot)
        } else {
            if let old = slots[handler.realm] { give(slot, requestsOf: old) }
            slots[handler.realm] = slot
        }
    }

    /// Sends the requests of a replaced handler again, so that they meet the new one.
    private func give(_ slot: ChallengeSlot, requestsOf old: ChallengeSlot) {
        old.answering = nil
        let requests = [old.takeActive()?.request].compactMap { $0 } + old.takeWaiting()
        for request in requests { goOn(request, without: old.realm) }
    }

    // MARK: Challenges of the platform

    func handleChallenges(_ body: ResponseBody, _ head: TransportResponse, _ request: WLRequest) {
        guard !request.isFinished else { return }
        let response = WLResponse(status: head.status, headers: head.headers, body: body, context: request.context)
        guard let challenges = body.member("challenges")?.object, !challenges.isEmpty else {
            return finish(request, .failure(WLFailResponse(.unexpectedError, "the challenge of the server cannot be read", of: response)))
        }
        request.rounds += 1
        guard request.rounds <= Self.maximumRounds, !challenges.contains(where: { request.isRefused($0.key, $0.value) }) else {
            return finish(request, .failure(WLFailResponse(.unexpectedError, "the server repeats its challenge", of: response)))
        }
        // All first: a handler may answer at once, and the request must wait for the others.
        for member in challenges { request.expectAnswer(member.key) }
        var unknown: String?
        for member in challenges {
            if let slot = slots[member.key] {
                startChallenge(slot, member.value, request)
            } else {
                unknown = unknown ?? member.key
            }
        }
        guard let unknown else { return }
        finish(request, .failure(WLFailResponse(.unexpectedError, "there is no handler for realm \(unknown.prefix(80))", of: response)))
    }

    private func startChallenge(_ slot: ChallengeSlot, _ challenge: JSONValue, _ request: WLRequest) {
        guard !(slot.handler is AntiXSRFHandler) else {
            // The value is taken at once, so no request has to wait.
            slot.active = (request, challenge)
            return (slot.handler as? AntiXSRFHandler)?.start(challenge.object ?? [:], self, slot) ?? ()
        }
        guard !isOutdated(request, slot) else { return }
        let isBusy = slot.active != nil || slot.answering.map { $0.isInFlight && !$0.isFinished && $0 !== request } ?? false
        guard !isBusy else { return slot.waiting.append(request) }
        slot.active = (request, challenge)
        (slot.handler as? WLChallengeHandler)?.start(challenge.object ?? [:], self, slot)
    }

    /// Ends the challenge of a request that was sent before the last one was decided: it is sent again after a success, and fails after a failure. In this way, any number of simultaneous requests
    /// meets one login.
    private func isOutdated(_ request: WLRequest, _ slot: ChallengeSlot) -> Bool {
        guard max(slot.satisfiedAt, slot.failedAt) > request.sentAt else { return false }
        if slot.satisfiedAt > slot.failedAt {
            goOn(request, without: slot.realm)
        } else {
            finish(request, .failure(WLFailResponse(.unexpectedError, "the login failed meanwhile", context: request.context)))
        }
        return true
    }

    /// Answers for the request that the handler works on; nil continues without an answer.
    func submitAnswer(_ slot: ChallengeSlot, _ answer: JSONValue?) {
        guard let (request, challenge) = slot.takeActive() else { return }
        guard let answer else {
            slot.answering = slot.handler is AntiXSRFHandler ? nil : request
            return goOn(request, without: slot.realm)
        }
        slot.answering = request
        request.setAnswer(slot.realm, answer)
        request.noteAnswer(slot.realm, to: challenge)
        sendIfComplete(request)
    }

    /// Fails the request that the handler works on, because the challenge cannot be answered. Others that wait meet the challenge themselves.
    func breakProtocol(_ slot: ChallengeSlot, _ reason: String) {
        guard let (request, _) = slot.takeActive() else { return }
        finish(request, .failure(WLFailResponse(.unexpectedError, reason, status: 401, context: request.context)))
        release(slot)
    }

    /// Notes the realms that the server accepted, and sends the requests again that waited for them.
    func acceptRealms(_ realms: JSONNode?) {
        guard let realms = realms?.object else { return }
        for member in realms {
            guard let slot = slots[member.key] else { continue }
            slot.satisfiedAt = tick()
            slot.answering = nil
            (slot.handler as? WLChallengeHandler)?.handleSuccess(member.value.object ?? [:])
            release(slot)
        }
    }

    func handleRefusals(_ refusals: JSONNode, _ body: ResponseBody, _ head: TransportResponse, _ request: WLRequest) {
        let response = WLResponse(status: head.status, headers: head.headers, body: body, context: request.context)
        var failure: WLFailResponse?
        for member in refusals.object ?? [:] {
            let reasons = member.value.object ?? [:]
            let isDisabled = member.key == BuiltInRealm.remoteDisable
            let text = reasons["message"]?.string ?? reasons["reason"]?.string
            let own = WLFailResponse(isDisabled ? .applicationVersionDenied : .unexpectedError, text, of: response)
            if failure == nil || isDisabled { failure = own }
            guard let slot = slots[member.key] else { continue }
            slot.failedAt = tick()
            (slot.handler as? WLChallengeHandler)?.handleFailure(Self.withoutEmptyLink(reasons))
            for waiting in slot.takeWaiting() {
                finish(waiting, .failure(WLFailResponse(own.errorCode, text, status: head.status, body: body, context: waiting.context)))
            }
        }
        finish(request, .failure(failure ?? WLFailResponse(.unexpectedError, nil, of: response)))
    }

    /// The server writes the absence of a link in three ways.
    private static func withoutEmptyLink(_ reasons: JSONObject) -> JSONObject {
        var reasons = reasons
        if let link = reasons["downloadLink"], link.isNull || link.string.map({ $0.isEmpty || $0 == "null" }) == true {
            reasons["downloadLink"] = nil
        }
        return reasons
    }

    // MARK: Challenges of the application

    func startCustomChallenge(_ slot: ChallengeSlot, _ response: WLResponse, _ request: WLRequest) {
        guard !request.isFinished, let handler = slot.handler as? ChallengeHandler else { return }
        if case .authentication(let origin) = request.kind, origin === slot {
            // The login itself asks for the login: the handler continues, and the request has done its work.
            request.finishSilently()
            return handler.handleChallenge(response)
        }
        request.rounds += 1
        guard request.rounds <= Self.maximumRounds else {
            return finish(request, .failure(WLFailResponse(.unexpectedError, "the server repeats its challenge", of: response)))
        }
        request.expectAnswer(slot.realm)
        guard !isOutdated(request, slot) else { return }
        guard slot.active == nil else { return slot.waiting.append(request) }
        slot.active = (request, .null)
        handler.handleChallenge(response)
    }

    func submitSuccess(_ slot: ChallengeSlot) {
        guard slot.active != nil else { return }
        let active = slot.takeActive()
        slot.satisfiedAt = tick()
        if let request = active?.request { goOn(request, without: slot.realm) }
        release(slot)
    }

    func submitFailure(_ slot: ChallengeSlot, _ response: WLResponse?) {
        guard slot.active != nil else { return }
        slot.failedAt = tick()
        let failed = [slot.takeActive()?.request].compactMap { $0 } + slot.takeWaiting()
        let text = (response as? WLFailResponse)?.errorMsg
        for request in failed {
            finish(
                request,
                .failure(
                    WLFailResponse(
                        .unexpectedError, text, status: response?.httpStatus, headers: response?.headers ?? [], body: response?.body ?? .empty,
                        context: request.context)))
        }
    }

    // MARK: Sending again

    /// Sends the waiting requests of a handler again.
    func release(_ slot: ChallengeSlot) {
        for request in slot.takeWaiting() { goOn(request, without: slot.realm) }
    }

    private func goOn(_ request: WLRequest, without realm: String) {
        request.removeAnswer(realm)
        sendIfComplete(request)
    }

    private func sendIfComplete(_ request: WLRequest) {
        if request.isComplete { send(request) }
    }

    /// Ends a request, with its callback. Requests that wait for an answer that it can no longer carry are sent again.
    func finish(_ request: WLRequest, _ outcome: WLRequest.Outcome) {
        request.finish(outcome)
        guard !request.isInFlight else { return }
        for slot in slots.values where slot.answering === request {
            slot.answering = nil
            if slot.active == nil { release(slot) }
        }
    }

    /// Ends a request at the wish of the application.
    func cancel(_ request: WLRequest) {
        finish(request, .failure(WLFailResponse(.unexpectedError, "the request was cancelled", context: request.context)))
    }

    // MARK: Requests of handlers

    func sendLoginForm(
        _ url: String, _ parameters: [String: String], _ headers: [String: String], _ timeout: Duration, _ method: String,
        _ completion: @escaping (WLRequest.Outcome) -> Void
    ) {
        guard ["GET", "POST"].contains(method) else {
            return completion(.failure(WLFailResponse(.unexpectedError, "a login form is sent with GET or POST, not with \(method.prefix(20))")))
        }
        let isAbsolute = url.hasPrefix("http") && url.contains(":")
        let address = isAbsolute ? url : applicationURL + url.drop { $0 == "/" }
        let fields = [("isAjaxRequest", "true")] + parameters.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        send(
            WLRequest(
                .plain, method: method, to: RequestAddress(address), fields: fields, headers: headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) },
                timeout: timeout > .zero ? timeout : configuration.defaultTimeout, completion: completion))
    }

    func sendAuthentication(
        _ slot: ChallengeSlot, _ data: WLProcedureInvocationData, _ options: WLProcedureOptions, _ completion: @escaping (WLRequest.Outcome) -> Void
    ) {
        send(
            WLRequest(
                .authentication(slot), to: RequestAddress(configuration.rootURL + "/invoke"), fields: data.fields,
                timeout: options.timeout ?? configuration.defaultTimeout,
                context: options.invocationContext, completion: completion))
    }
}
