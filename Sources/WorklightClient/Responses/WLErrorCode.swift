public import MobileStore

/// The kinds of failures. Worklight 5.0.6: enum `WLErrorCode`, with the same values in the same order.
public enum WLErrorCode: Int, Sendable, CaseIterable {
    /// `UNEXPECTED_ERROR`: an unexpected error, such as an answer that is not understood.
    case unexpectedError = 0
    /// `UNRESPONSIVE_HOST`: the service is currently not available.
    case unresponsiveHost = 1
    /// `REQUEST_TIMEOUT`: the request timed out.
    case requestTimeout = 2
    /// `PROCEDURE_ERROR`: the procedure reported a failure.
    case procedureError = 3
    /// `APP_VERSION_ACCESS_DENIAL`: this version of the application is disabled.
    case applicationVersionDenied = 4
    /// `APP_VERSION_ACCESS_NOTIFY`: the server has a message about the application's version. Not in the document, but in the headers of the SDK.
    case applicationVersionNotify = 5

    /// The name of the code in the member `errorCode` of an answer.
    public var wireName: String {
        switch self {
        case .unexpectedError: "UNEXPECTED_ERROR"
        case .unresponsiveHost: "UNRESPONSIVE_HOST"
        case .requestTimeout: "REQUEST_TIMEOUT"
        case .procedureError: "PROCEDURE_ERROR"
        case .applicationVersionDenied: "APP_VERSION_ACCESS_DENIAL"
        case .applicationVersionNotify: "APP_VERSION_ACCESS_NOTIFY"
        }
    }

    /// The text of the code for developers. Worklight 5.0.6: `getErrorMessageFromCode:`.
    public var message: String {
        switch self {
        case .unexpectedError: "Unexpected errorCode occurred. Please try again."
        case .unresponsiveHost: "The service is currently not available."
        case .requestTimeout: "Request timed out."
        case .procedureError: "Procedure invocation errorCode."
        case .applicationVersionDenied: "Application version denied."
        case .applicationVersionNotify: "Notify application version changed."
        }
    }

    /// Creates a code from its name on the wire; nil for an unknown name.
    public init?(wireName: String) {
        guard let code = Self.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = code
    }

    /// Determines the code that an answer names.
    /// - Returns: ``unexpectedError`` for nil, without the member `errorCode`, and for an unknown name. Worklight 5.0.6: `getWLErrorCodeFromJSON:`.
    public init(json: JSONObject?) {
        self = json?["errorCode"]?.string.flatMap { WLErrorCode(wireName: $0) } ?? .unexpectedError
    }

    /// Determines the code of an answer that is not a success.
    /// - Parameters:
    ///   - status: its HTTP status. Statuses from 408 to 499 count as timeouts, because the original clients do that.
    ///   - errorCode: its member `errorCode`; nil if the answer is a JSON object without it.
    ///   - isJSON: whether the answer is a JSON object.
    init(status: Int, errorCode: JSONNode?, isJSON: Bool) {
        if isJSON, let errorCode, errorCode.exists, !errorCode.isNull {
            if let code = errorCode.string.flatMap({ WLErrorCode(wireName: $0) }) {
                self = code
                return
            }
        } else if isJSON {
            self = .unexpectedError
            return
        }
        switch status {
        case 500...: self = .unresponsiveHost
        case 408...499: self = .requestTimeout
        default: self = .unexpectedError
        }
    }
}
