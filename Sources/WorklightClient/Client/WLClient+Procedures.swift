internal import MobileStore

/// Calls of procedures.
extension WLClient {
    /// Calls a procedure of an adapter. Worklight 5.0.6: `invokeProcedure:withDelegate:`, `invokeProcedure:withDelegate:options:`.
    /// - Parameters:
    ///   - data: the procedure and its parameters.
    ///   - delegate: is called once with the result. Before a successful connect, it gets ``WLErrorCode/unexpectedError``, unless the call may wait or
    ///     has a stored result.
    ///   - options: the time-out, the context and the rules for work without a network.
    public func invokeProcedure(
        _ data: WLProcedureInvocationData, delegate: (any WLDelegate)?, options: WLProcedureOptions = WLProcedureOptions()
    ) {
        invoke(data, options) { Self.report($0, to: delegate) }
    }

    /// Calls a procedure of an adapter. Cancelling the task ends the call; a call in the outbox stays there.
    /// - Throws: ``WLFailResponse``.
    @discardableResult
    public func invokeProcedure(_ data: WLProcedureInvocationData, options: WLProcedureOptions = WLProcedureOptions()) async throws -> WLResponse {
        try await result { invoke(data, options, $0) }
    }

    /// Calls a procedure and reads its result as a type of the application.
    /// - Parameters:
    ///   - data: the procedure and its parameters.
    ///   - type: the type.
    ///   - member: the member of the result to read, such as `resultSet`; nil (default) for all of it.
    ///   - options: as for ``invokeProcedure(_:delegate:options:)``.
    /// - Throws: ``WLFailResponse``; `DecodingError` if the result does not fit the type.
    public func invokeProcedure<T: Decodable>(
        _ data: WLProcedureInvocationData, as type: T.Type, member: String? = nil, options: WLProcedureOptions = WLProcedureOptions()
    ) async throws -> T {
        let response = try await invokeProcedure(data, options: options)
        guard let result = response.invocationResult else { throw WLFailResponse(.unexpectedError, "the answer is not a JSON object", of: response) }
        return try result.decode(type, member: member)
    }

    @discardableResult
    func invoke(
        _ data: WLProcedureInvocationData, _ options: WLProcedureOptions, _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void
    ) -> WLRequest? {
        if let stored = outbox.results.fresh(data, options) {
            engine.mailbox.later { completion(.success(stored)) }
            return nil
        }
        // Taken now: calls whose sending fails later, in any order, wait in the order in which they were made.
        let place = options.replay == .never ? 0 : outbox.nextPlace()
        if options.replay != .never, outbox.mustWait(isConnected: isConnected) {
            outbox.add(data, options, at: place, completion)
            replayWaitingCalls()
            return nil
        }
        guard isConnected else {
            let failure = WLFailResponse(.unexpectedError, "connect before calling procedures", context: options.invocationContext)
            let stored = outbox.results.anyway(data, options)
            engine.mailbox.later { completion(stored.map { .success($0) } ?? .failure(failure)) }
            return nil
        }
        return sendProcedure(data, options) { outcome in
            switch outcome {
            case .success(let response):
                self.outbox.results.keep(response, data, options)
                completion(outcome)
            case .failure(let failure):
                if let stored = failure.isOutOfReach ? self.outbox.results.anyway(data, options) : nil {
                    completion(.success(stored))
                } else if options.replay.allowsReplay(after: failure) {
                    self.outbox.add(data, options, at: place, completion)
                } else {
                    completion(outcome)
                }
            }
        }
    }

    /// Sends a call, without the rules for work without a network.
    @discardableResult
    func sendProcedure(
        _ data: WLProcedureInvocationData, _ options: WLProcedureOptions, _ completion: @escaping @Sendable (WLRequest.Outcome) -> Void
    ) -> WLRequest {
        var fields = data.fields
        if options.compressResponse { fields[3].value = "true" }
        let request = WLRequest(
            .procedure, to: engine.procedures, fields: fields, timeout: options.timeout ?? configuration.defaultTimeout,
            context: options.invocationContext, completion: completion)
        engine.mailbox.post { self.engine.transmission(of: request) }
        return request
    }
}
