public import Foundation
public import MobileStore
internal import MobileTransport

/// The answer of the server to a request. Worklight 5.0.6: class `WLResponse`.
public class WLResponse: @unchecked Sendable {  // all properties are constants
    /// The HTTP status as text, such as `200`. A request that got no answer has `500`, as in the original SDK. Worklight 5.0.6: `status`.
    public let status: String
    /// The HTTP status; nil for a request without an answer, and for a failure before sending.
    public let httpStatus: Int?
    /// The header fields of the answer, in the order in which they arrived.
    public let headers: [(name: String, value: String)]
    /// The result of a procedure; nil for other requests, and for an answer without a JSON object. Worklight 5.0.6: `invocationResult`.
    public let invocationResult: WLProcedureInvocationResult?
    /// The object that was passed with the request. It never leaves the device. Worklight 5.0.6: `invocationContext`.
    public let invocationContext: (any Sendable)?
    /// Seconds since 1970 at which the answer was stored, if it comes from the device's store; nil for an answer of the server.
    public let cachedAt: Int64?
    let body: ResponseBody

    init(
        status: Int?, headers: [(name: String, value: String)] = [], body: ResponseBody = .empty, result: WLProcedureInvocationResult? = nil,
        context: (any Sendable)? = nil, cachedAt: Int64? = nil
    ) {
        self.status = String(status ?? 500)
        httpStatus = status
        self.headers = headers
        self.body = body
        invocationResult = result
        invocationContext = context
        self.cachedAt = cachedAt
    }

    /// The text of the answer as the server sent it, with the prefix of secured JSON. Worklight 5.0.6: `responseText`.
    public var responseText: String { body.text }

    /// The root of the answer, if it is a JSON object. Worklight 5.0.6: `getResponseJson`.
    /// - Returns: the object; nil for every other answer.
    public func getResponseJson() -> JSONObject? { body.object }

    /// The first header field of this name in any case; nil if there is none.
    public func header(_ name: String) -> String? { headers.first { $0.name.isField(name) }?.value }
}

/// A failure, with the server's answer if there was one. Worklight 5.0.6: class `WLFailResponse`.
public final class WLFailResponse: WLResponse, Error, CustomStringConvertible, @unchecked Sendable {
    /// The kind of failure. Worklight 5.0.6: `errorCode`.
    public let errorCode: WLErrorCode
    /// The text for developers: that of the server, otherwise that of the code. Worklight 5.0.6: `errorMsg`.
    public let errorMsg: String
    /// The failure below this one; nil if the server reported it.
    public let cause: (any Error)?

    init(
        _ code: WLErrorCode, _ message: String? = nil, status: Int? = nil, headers: [(name: String, value: String)] = [],
        body: ResponseBody = .empty, result: WLProcedureInvocationResult? = nil, context: (any Sendable)? = nil, cause: (any Error)? = nil
    ) {
        errorCode = code
        errorMsg = message ?? code.message
        self.cause = cause
        super.init(status: status, headers: headers, body: body, result: result, context: context)
    }

    /// The code and the text.
    public var description: String { "\(errorCode.wireName): \(errorMsg)" }

    /// Returns the text of a code. Worklight 5.0.6: `getErrorMessageFromCode:`.
    public static func getErrorMessage(from code: WLErrorCode) -> String { code.message }

    /// Returns the text of an answer: its member `errorMsg`, otherwise the text of its code. Worklight 5.0.6: `getErrorMessageFromJSON:`.
    public static func getErrorMessage(from json: JSONObject?) -> String {
        json?["errorMsg"]?.string ?? WLErrorCode(json: json).message
    }

    /// Returns the code of an answer. Worklight 5.0.6: `getWLErrorCodeFromJSON:`.
    public static func getWLErrorCode(from json: JSONObject?) -> WLErrorCode { WLErrorCode(json: json) }
}

extension WLFailResponse: LocalizedError, CustomDebugStringConvertible {
    /// ``errorMsg``.
    public var errorDescription: String? { errorMsg }
    /// The description of ``cause``; ``errorMsg`` without one.
    public var failureReason: String? { cause.map { "\($0)" } ?? errorMsg }
    /// The remedy, as in the article *Errors*.
    public var recoverySuggestion: String? {
        switch errorCode {
        case .unexpectedError: "Read errorMsg and cause."
        case .unresponsiveHost: "Repeat later, or use a stored result."
        case .requestTimeout: "Repeat, or raise the timeout."
        case .procedureError: "Read invocationResult.procedureInvocationErrors."
        case .applicationVersionDenied: "Install a newer version."
        case .applicationVersionNotify: "Show the message to the user."
        }
    }
    /// Text, code and remedy: what a program prints that ends with the error.
    public var debugDescription: String { "\(errorMsg) (WLFailResponse \(errorCode.wireName)). " + (recoverySuggestion ?? "") }
}
