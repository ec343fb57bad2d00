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
    /// The back end's row, for the device; nil without one.
    let row: JSONObject?

    init(_ code: Int64, _ message: String, backEndCode: String = "", detail: String = "", row: JSONObject? = nil) {
        self.code = code
        self.message = message
        self.backEndCode = backEndCode
        self.detail = detail
        self.row = row
    }

    /// Whether another attempt may succeed. The operation is deferred then, which is not recorded, since nothing was decided.
    var isTransient: Bool { ResultCode.isRecoverable(code) }

    /// The outcome of the operation.
    var outcome: ReplayResult.Outcome { isTransient ? .deferred : .rejected }

    /// The end of a sentence about the operation.
    private var verb: String { isTransient ? "was deferred" : "was rejected" }

    /// Returns the rejection of a correct operation whose batch was rolled back.
    func shared(by culprit: String) -> Rejection {
        // The conflict is that of the culprit's row alone.
        let code = code == ResultCode.changedSince ? ResultCode.failedDependency : code
        return Rejection(
            code, "not done, because another operation of its batch \(verb): \(culprit)\(message)", backEndCode: backEndCode, detail: detail)
    }

    /// Returns the rejection of an operation that needs a row whose creation has this one.
    func shared(byCreationOf object: String) -> Rejection {
        Rejection(code, "not done, because the creation of the row of \"\(object)\" that it needs \(verb)")
    }

    /// Takes a failure as the back end explains it.
    init(_ failure: BackEndFailure) {
        self.init(failure.code, failure.message, backEndCode: failure.backEndCode, detail: failure.detail)
    }

    /// Explains the failure of an operation or of its batch.
    /// - Parameter object: the object of the operation; nil if no single operation failed.
    init(_ error: any Error, of object: ObjectPlan?, on backEnd: any BackEnd) {
        switch error {
        case let rejection as Rejection: self = rejection
        case let failure as BackEndFailure: self.init(failure)
        default: self.init(backEnd.classify(error, of: object?.model))
        }
    }
}
