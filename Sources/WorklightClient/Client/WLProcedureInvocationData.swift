public import MobileStore

/// The name and the parameters of a procedure. Worklight 5.0.6: class `WLProcedureInvocationData`.
public struct WLProcedureInvocationData: Sendable, Hashable {
    /// The name of the adapter.
    public let adapter: String
    /// The name of the procedure.
    public let procedure: String
    /// The parameters in their order; default none. Booleans stay apart from numbers. Worklight 5.0.6: `setParameters:`.
    public var parameters: [JSONValue]

    /// Names a procedure. Worklight 5.0.6: `initWithAdapter:procedure:`.
    public init(adapter: String, procedure: String, parameters: [JSONValue] = []) {
        self.adapter = adapter
        self.procedure = procedure
        self.parameters = parameters
    }

    /// The fields of a request that calls the procedure.
    var fields: [(name: String, value: String)] {
        [("adapter", adapter), ("procedure", procedure), ("parameters", JSONValue.array(parameters).description), ("compressResponse", "false")]
    }
}

/// The options of a call. Worklight 5.0.6: the dictionary `options` of `invokeProcedure:withDelegate:options:`.
public struct WLProcedureOptions: Sendable {
    /// The time for one sending and its answer, in whole milliseconds; zero for no limit, nil (default) for that of the client (10 s).
    /// Time in a challenge handler does not count. Worklight 5.0.6: `timeout`.
    public var timeout: Duration?
    /// An object that is returned with the response and never sent. Worklight 5.0.6: `invocationContext`.
    public var invocationContext: (any Sendable)?
    /// Whether the server may compress the answer; default false.
    public var compressResponse: Bool
    /// The use of stored results; default ``WLCachePolicy/none``.
    public var cache: WLCachePolicy
    /// Whether the call waits in the outbox while the server is out of reach; default ``WLReplayPolicy/never``.
    public var replay: WLReplayPolicy

    /// Creates options.
    public init(
        timeout: Duration? = nil, invocationContext: (any Sendable)? = nil, compressResponse: Bool = false, cache: WLCachePolicy = .none,
        replay: WLReplayPolicy = .never
    ) {
        self.timeout = timeout
        self.invocationContext = invocationContext
        self.compressResponse = compressResponse
        self.cache = cache
        self.replay = replay
    }
}
