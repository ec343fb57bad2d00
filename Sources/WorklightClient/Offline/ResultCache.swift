internal import MobileStore

/// Results of procedures in the store of the client.
struct ResultCache: Sendable {
    let engine: WLEngine

    /// Stores a result.
    func keep(_ response: WLResponse, _ data: WLProcedureInvocationData, _ options: WLProcedureOptions) {
        guard options.cache.kind != .none, let store = engine.store else { return }
        let now = engine.configuration.clock()
        engine.keep(or: ()) {
            try store.database.write(label: "result of a procedure") { connection in
                try connection.execute(
                    "INSERT OR REPLACE INTO wl_result (scope, adapter, procedure, parameters, stored, body) VALUES (?, ?, ?, ?, ?, ?)",
                    key(data, options) + [.real(now), .blob(response.body.bytes)])
            }
        }
    }

    /// Returns a result that is used without asking the server.
    func fresh(_ data: WLProcedureInvocationData, _ options: WLProcedureOptions) -> WLResponse? {
        options.cache.kind == .first ? stored(data, options) : nil
    }

    /// Returns a result that is used when the server is out of reach.
    func anyway(_ data: WLProcedureInvocationData, _ options: WLProcedureOptions) -> WLResponse? {
        options.cache.kind == .none ? nil : stored(data, options)
    }

    /// Removes results.
    /// - Parameter scope: those of one scope; nil for all.
    func clear(scope: String?) throws {
        try engine.store?.database.write(label: "results of procedures") { connection in
            try connection.execute("DELETE FROM wl_result WHERE ?1 IS NULL OR scope = ?1", [Value(scope)])
        }
    }

    private func key(_ data: WLProcedureInvocationData, _ options: WLProcedureOptions) -> [Value] {
        [.text(options.cache.scope), .text(data.adapter), .text(data.procedure), .text(JSONValue.array(data.parameters).description)]
    }

    private func stored(_ data: WLProcedureInvocationData, _ options: WLProcedureOptions) -> WLResponse? {
        guard let store = engine.store else { return nil }
        let row = engine.keep(or: nil) {
            try store.database.read { connection in
                try connection.first(
                    "SELECT stored, body FROM wl_result WHERE scope = ? AND adapter = ? AND procedure = ? AND parameters = ?", key(data, options))
            }
        }
        guard let time = row?[0].real, let bytes = row?[1].blob else { return nil }
        if let age = options.cache.maximumAge, Duration.seconds(engine.configuration.clock() - time) > age { return nil }
        let body = ResponseBody(bytes)
        return WLResponse(
            status: 200, body: body, result: WLProcedureInvocationResult(body), context: options.invocationContext, cachedAt: Int64(time))
    }
}
