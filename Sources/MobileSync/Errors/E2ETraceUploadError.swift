public import MobileObjects

/// The upload of an end-to-end trace failed. No data is lost, because the caller still has the document. SMP 2.3: `SUPE2ETraceUploadException`.
public struct E2ETraceUploadError: Error, Sendable {
    /// The reason: ``SyncError/Code/serverNotReached``, ``SyncError/Code/applicationNotRegistered``, ``SyncError/Code/authenticationFailed``,
    /// ``SyncError/Code/refused`` (not a document of a business transaction), ``SyncError/Code/tooLarge``, ``SyncError/Code/invalidState`` (no
    /// application uses the service), and other codes of the server.
    public let code: SyncError.Code
    /// A description in one line.
    public let message: String
    /// The underlying failure; nil if there is none.
    public let cause: (any Error)?

    init(_ code: SyncError.Code, _ message: String, cause: (any Error)? = nil) {
        (self.code, self.message, self.cause) = (code, "upload of a trace: " + message, cause)
    }

    init(_ error: any Error) {
        switch error {
        case let error as E2ETraceUploadError: self = error
        case let error as SyncError: self.init(error.code, error.message, cause: error)
        default: self.init(.unknown, "\(error)", cause: error)
        }
    }
}

extension E2ETraceUploadError: BaseError {
    public var errorCode: Int { code.rawValue }

    public var recovery: ErrorRecovery { code.isRecoverable ? .retry : .removeCause }
}

extension E2ETraceUploadError: CustomStringConvertible {
    /// Message and number in one line.
    public var description: String { "\(message) (\(code.rawValue))" }
}
