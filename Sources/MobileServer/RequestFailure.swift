internal import MobileProtocol

/// A refusal of a request: its code and text are the answer, and nothing has changed.
struct RequestFailure: Error, Sendable {
    let code: Int64
    let message: String

    enum Kind: Int64 {
        case badRequest = 400, unauthorized = 401, forbidden = 403, notFound = 404, methodNotAllowed = 405
        case conflict = 409, tooLarge = 413, tooMany = 429, failure = 500, unavailable = 503
        /// The device is not registered (checklist ERR-15).
        case unknownRegistration = 580
        /// The client speaks an older version of the protocol.
        case outdatedApplication = 581
    }

    init(_ kind: Kind, _ message: String) {
        code = kind.rawValue
        self.message = message
    }

    /// No connection to the cache or to a back end was available in time.
    static var busy: RequestFailure { RequestFailure(.unavailable, "the server is busy; try again") }

    /// The failure in the form of an answer.
    var wire: ProtocolFailure { ProtocolFailure(code: code, message: message) }

    /// The HTTP status of an answer that consists of this failure only.
    var status: Int {
        switch code {
        case Kind.unknownRegistration.rawValue: 401
        case Kind.outdatedApplication.rawValue: 400
        default: Int(code)
        }
    }
}
