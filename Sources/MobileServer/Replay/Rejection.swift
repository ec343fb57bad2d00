internal import MobileProtocol
internal import MobileStore

/// The rejection or deferral of an operation by the back end, or by the server before it.
struct Rejection: Error, Sendable {
    /// A ``ResultCode``.
    let code: Int64
    /// The back end's own code; empty if there is none.
    let backEndCode: String
    /// The message for the device.
    let message: String
    /// The back end's own message, with its statement: for the server's log alone. Empty if ``message`` is complete.
    let detail: String

    init(_ code: Int64, _ message: String, backEndCode: String = "", detail: String = "") {
        self.code = code
        self.message = message
        self.backEndCode = backEndCode
        self.detail = detail
    }

    /// Whether another attempt may succeed. The operation is deferred then, which is not recorded, since nothing was decided.
    var isTransient: Bool { ResultCode.isRecoverable(code) }

    /// The outcome of the operation.
    var outcome: ReplayResult.Outcome { isTransient ? .deferred : .rejected }

    /// The end of a sentence about the operation.
    private var verb: String { isTransient ? "was deferred" : "was rejected" }

    /// Returns the rejection of a correct operation whose batch was rolled back.
    func shared(by culprit: String) -> Rejection {
        Rejection(code, "not done, because another operation of its batch \(verb): \(culprit)\(message)", backEndCode: backEndCode, detail: detail)
    }

    /// Returns the rejection of an operation that needs a row whose creation has this one.
    func shared(byCreationOf object: String) -> Rejection {
        Rejection(code, "not done, because the creation of the row of \"\(object)\" that it needs \(verb)")
    }

    /// Maps a failure of the back end to a code, by the table of checklist area ERR: 412 constraint, 409 busy, 404 no such table,
    /// 503 down, 500 all others.
    /// - Parameter object: the object of the operation; nil if no single operation failed.
    init(_ error: any Error, of object: ObjectPlan?) {
        switch error {
        case let rejection as Rejection:
            self = rejection
        case let error as StoreError:
            let backEndCode = error.sqliteCode.map(String.init) ?? ""
            let code = Self.code(of: error)
            self.init(
                code, RejectionSentence(object: object).text(of: error, code: code), backEndCode: backEndCode, detail: error.message)
        default:
            self.init(ResultCode.failure, "the server could not do this; its log says why", detail: "\(error)")
        }
    }

    private static func code(of error: StoreError) -> Int64 {
        switch error.code {
        case .constraint: return ResultCode.constraint
        case .timeout: return ResultCode.conflict
        case .full, .io, .closed: return ResultCode.unavailable
        default: break
        }
        switch (error.sqliteCode ?? 0) & 0xFF {
        case 5, 6: return ResultCode.conflict  // SQLITE_BUSY, SQLITE_LOCKED
        case 10, 13, 14: return ResultCode.unavailable  // SQLITE_IOERR, SQLITE_FULL, SQLITE_CANTOPEN
        case 19: return ResultCode.constraint  // SQLITE_CONSTRAINT
        case 1 where error.message.contains("no such table"): return ResultCode.notFound
        default: return ResultCode.failure
        }
    }
}
