/// The version of the protocol, on which both ends must agree first.
public enum ProtocolVersion {
    /// The version that this code speaks. A stream or message of another version is refused as
    /// ``ProtocolError/Code/unsupportedVersion``.
    ///
    /// 1: results were accepted or rejected, and operations had no digests. 2: the present version.
    public static let current: Int64 = 2
}

/// The paths of a server.
public enum Endpoint {
    /// `POST`: one JSON message or an array of messages; the answer is an array of messages.
    public static let messages = "/mobile/v1/messages"
    /// `POST`: one frame stream in each direction.
    public static let synchronize = "/mobile/v1/synchronize"
    /// `POST`: the XML of an end-to-end trace, which the server keeps.
    public static let traces = "/mobile/v1/traces"
    /// `GET`, followed by a slash and the name of a ``SegmentPart`` or of a large value's content: its bytes. The parameter `grant` of the query is that
    /// of the frame.
    public static let segments = "/mobile/v1/segments"
    /// `GET`: a ``ServerStatus`` as JSON; needs no session.
    public static let status = "/mobile/v1/status"

    /// `POST` or `GET`: server-sent events about the groups of the session's packages.
    public static let events = "/mobile/v1/events"
    /// `POST`: a back end reports that its rows have changed; needs an operator's token in place of a session.
    public static let changes = "/mobile/v1/changes"

    /// Followed by an upload's SHA-256 in hexadecimal digits. `PUT`: a piece of the upload; `HEAD`: how much is there; `DELETE`.
    public static let uploads = "/mobile/v1/uploads/"
    /// The header field of a synchronization whose body is an upload, in lower case: its SHA-256.
    public static let uploadID = "upload-id"
    /// The header field of a piece and of the answer, in lower case: the number of bytes before it, or those that are there.
    public static let uploadOffset = "upload-offset"
    /// The header field of a piece, in lower case: the length of the whole upload.
    public static let uploadLength = "upload-length"

    /// The media type of server-sent events.
    public static let eventContentType = "text/event-stream"
    /// The media type of frame streams.
    public static let frameContentType = "application/vnd.mobileobjects.frames"
    /// The media type of segments and of large values.
    public static let segmentContentType = "application/octet-stream"
    /// The media type of traces.
    public static let traceContentType = "application/xml"
    /// The media type of messages, and of errors that are neither messages nor frames.
    public static let messageContentType = "application/json"
}

/// The limits of the protocol; a stream that exceeds one of them is refused.
public enum ProtocolLimit {
    /// The maximum number of bytes of a frame's payload.
    public static let framePayload = 1 << 20
    /// The number of bytes before a frame's payload.
    public static let frameHeader = 8
    /// The number of bytes of a data frame whose length the writer can choose.
    public static let dataFrame = 65_536
    /// The maximum number of bytes of one request or answer at ``Endpoint/messages``.
    public static let messages = 4 << 20
    /// The maximum number of bytes of one trace at ``Endpoint/traces``.
    public static let trace = 4 << 20
}

/// The codes of replay results, log records, failures and errors. HTTP's code is used where HTTP has one (checklist area ERR).
public enum ResultCode {
    /// Done.
    public static let success: Int64 = 200
    /// The client had settled the operation before it arrived: it is not done, whether again or for the first time.
    public static let alreadySettled: Int64 = 208
    /// The request contradicts the protocol.
    public static let badRequest: Int64 = 400
    /// Unknown session, or wrong user or password.
    public static let unauthorized: Int64 = 401
    /// The user may not do this.
    public static let forbidden: Int64 = 403
    /// There is no such package, object or table.
    public static let notFound: Int64 = 404
    /// The endpoint does not take this HTTP method.
    public static let methodNotAllowed: Int64 = 405
    /// The back end was busy or deadlocked; a later attempt may succeed.
    public static let conflict: Int64 = 409
    /// A constraint of the back end refused the operation.
    public static let constraint: Int64 = 412
    /// The request is longer than the server accepts.
    public static let tooLarge: Int64 = 413
    /// The operation needs a row whose creation was rejected.
    public static let failedDependency: Int64 = 424
    /// A failure without a code of its own.
    public static let failure: Int64 = 500
    /// The back end is down; a later attempt may succeed.
    public static let unavailable: Int64 = 503
    /// The device is not registered; HTTP responses carry it under status 401.
    /// Original: `COMMUNICATION_DEVICEVAL_INVALID_ACTIVE_CODE`, SMP 2.3.
    public static let unknownRegistration: Int64 = 580
    /// The client speaks an older version of the protocol; HTTP responses carry it under status 400.
    public static let outdatedApplication: Int64 = 581
    /// Another operation arrived under the id and client id of this one: two devices have copies of one local database.
    public static let clonedDevice: Int64 = 582
    /// The row changed in the back end since the device last saw it, and the object refuses such operations.
    public static let changedSince: Int64 = 583

    /// Whether a later attempt may succeed: the operation is deferred then. Original: table of recoverable and unrecoverable errors, SMP 2.3.
    public static func isRecoverable(_ code: Int64) -> Bool { code == conflict || code == unavailable }
}
