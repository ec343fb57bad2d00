internal import MobileStore
internal import PostgreSQLClient

extension ServerConfiguration {
    /// Opens the store of the server's state: the PostgreSQL database of ``storeAddress``, or the file ``cachePath``.
    /// - Parameter createsFile: whether a file that does not exist is created.
    /// - Throws: ``ServerError/Code/cache``; ``ServerError/Code/configuration`` for an address that contains a password.
    func openStateStore(createsFile: Bool) throws -> any StateStore {
        guard let storeAddress else { return try SQLiteStateStore(self, createsFile: createsFile) }
        var settings = PostgreSQLConfiguration(storeAddress, applicationName: "MobileServer", connectionTimeout: connectionTimeout)
        settings.timeLimit = PostgreSQLStateStore.longTimeLimit
        return try PostgreSQLStateStore(settings)
    }
}

/// Whether the error means that the state store, or a back end during a load, was out of reach, too busy, or in conflict: the same request can succeed later.
func isStateUnavailable(_ error: any Error) -> Bool {
    switch error {
    case let error as StoreError: error.code == .timeout
    case let error as PostgreSQLError: error.canBeRepeated || [.timeout, .closed, .commitUnknown, .cancelled].contains(error.code)
    case let error as PostgreSQLBackEndError: isStateUnavailable(error.error)
    case let failure as BackEndFailure: failure.kind != .refused
    default: false
    }
}
