internal import MobileExecution
public import MobileObjects
internal import MobileTransport

extension E2ETraceService {
    /// Sends a business transaction to the server, which keeps it with its own lines about the same requests. Blocks: not for the main thread.
    /// - Parameter transaction: the XML document that `stopTrace()` returned.
    /// - Returns: true; a failure is thrown.
    /// - Throws: ``E2ETraceUploadError``; the same document can be sent again.
    /// SMP 2.3: `uploadTrace:`.
    @available(*, noasync, message: "it blocks the thread: write `try await`, in an async function")
    @discardableResult
    public func uploadTrace(_ transaction: [UInt8]) throws(E2ETraceUploadError) -> Bool {
        guard let uploader else { throw E2ETraceUploadError(.invalidState, "no application uses this trace service") }
        do { try uploader(transaction) { _ in } } catch { throw E2ETraceUploadError(error) }
        return true
    }

    /// Does the same without blocking a cooperative thread. Cancelling the task cancels the upload.
    @discardableResult
    public func uploadTrace(_ transaction: [UInt8]) async throws(E2ETraceUploadError) -> Bool {
        guard let uploader else { throw E2ETraceUploadError(.invalidState, "no application uses this trace service") }
        let isCancelled = Promise<Void, Never>()
        do {
            try await withTaskCancellationHandler {
                try await BlockingWork.run { try uploader(transaction) { end in isCancelled.observe { _ in end() } } }
            } onCancel: {
                isCancelled.resolve(.success(()))
            }
        } catch { throw E2ETraceUploadError(error) }
        return true
    }
}

extension Application {
    /// Sends a trace in the session of the registration. A session that the server does not know is renewed once.
    func upload(trace document: [UInt8], _ cancellation: TransportCancellation) throws(SyncError) {
        let session = try session()
        let server = Server(self, session.properties, cancellation: cancellation)
        do throws(SyncError) {
            try server.upload(trace: document, token: session.token)
        } catch let error where error.code == .authenticationFailed {
            try server.upload(trace: document, token: renewSession(insteadOf: session.token, cancellation: cancellation))
        }
    }
}
