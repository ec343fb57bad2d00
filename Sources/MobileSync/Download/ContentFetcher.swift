internal import Dispatch
internal import Foundation
internal import MobileExecution
internal import MobileProtocol
internal import MobileTransport

/// Fetches the contents that a download names into files, two at a time, and continues broken ones where they broke.
///
/// The calling thread waits, reports the progress, and ends the work when the synchronization is cancelled.
final class ContentFetcher: Sendable {
    /// The result of one download's contents.
    enum Outcome: Equatable {
        case complete
        /// The server has a content no more, or the permission for it has ended: the next download names what is there now.
        case gone
    }

    /// Requests the bytes of a content from an offset on.
    /// - Returns: the HTTP status.
    typealias Request = @Sendable (ListedContent, _ offset: Int64, _ receive: (RawSpan) throws -> Void) throws -> Int

    private enum Event: Sendable {
        case received(Int)
        case completed(ListedContent)
        case ended(SyncError?)
    }

    private struct State {
        var waiting: ArraySlice<ListedContent>
        var isStopped = false
        var events: [Event] = []
    }

    /// The number of contents that are fetched at a time.
    static let width = 2
    /// The number of requests for one content in a row that bring no byte, after which the synchronization ends.
    static let fruitlessAttempts = 3

    private let files: DownloadFiles
    private let request: Request
    private let cancel: @Sendable () -> Void
    private let state: SystemLock<State>
    private let bell = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - contents: several may have the same bytes, and so the same file.
    ///   - request: requests one content.
    ///   - cancel: ends all requests; called when the synchronization is cancelled.
    init(_ contents: [ListedContent], _ files: DownloadFiles, request: @escaping Request, cancel: @escaping @Sendable () -> Void) {
        self.files = files
        self.cancel = cancel
        self.request = request
        var paths = Set<String>()
        state = SystemLock(State(waiting: contents.filter { paths.insert(files.path(of: $0)).inserted }[...]))
    }

    func run(_ progress: SynchronizationProgress) throws(SyncError) -> Outcome {
        let threads = BlockingWork(threads: Self.width)
        for _ in 0..<Self.width { threads.start { self.work() } }
        var running = Self.width, failure: SyncError?
        while running > 0 {
            bell.wait()
            switch state.withLock({ $0.events.removeFirst() }) {
            case .ended(let error):
                running -= 1
                failure = failure ?? error
            case .received(let count): failure = failure ?? Self.failure { () throws(SyncError) in try progress.received(bytes: count) }
            case .completed(let content):
                let state = content.kind == .segment ? SynchronizationStatusInfo.State.receivingTable : .receivingData
                failure = failure ?? Self.failure { () throws(SyncError) in try progress.enter(state, object: content.object) }
            }
            if failure != nil { state.withLock { $0.isStopped = true } }
            if failure?.code == .cancelled { cancel() }
        }
        guard let failure else { return .complete }
        guard failure.code == .notFound || failure.code == .notAuthorized else { throw failure }
        return .gone
    }

    private static func failure(of body: () throws(SyncError) -> Void) -> SyncError? {
        do throws(SyncError) { try body() } catch { return error }
        return nil
    }

    // MARK: Threads

    private func post(_ event: Event) {
        state.withLock { state in
            state.events.append(event)
            // With the lock held: the other thread ends because of this one, and its error comes later.
            if case .ended(.some) = event { state.isStopped = true }
        }
        bell.signal()
    }

    private var isStopped: Bool { state.withLock { $0.isStopped } }

    private func work() {
        do {
            while let content = state.withLock({ $0.isStopped ? nil : $0.waiting.popFirst() }) {
                try fetch(content)
                post(.completed(content))
            }
            post(.ended(nil))
        } catch {
            let error =
                error as? SyncError
                ?? SyncError(.persistence, .localDatabase, "the files of the download cannot be written: \(error)", cause: error)
            post(.ended(error))
        }
    }

    private func fetch(_ content: ListedContent) throws {
        var fruitless = 0
        while try !files.isComplete(content) {
            let before = files.length(of: content)
            do { try request(content, from: before) } catch let error as SyncError where error.code == .serverNotReached && !isStopped {
                fruitless = files.length(of: content) > before ? 0 : fruitless + 1
                guard fruitless < Self.fruitlessAttempts else { throw error }
            }
        }
    }

    private func request(_ content: ListedContent, from offset: Int64) throws {
        let handle = try files.appending(to: content)
        defer { try? handle.close() }
        var length = offset
        let status = try request(content, offset) { bytes in
            length += Int64(bytes.byteCount)
            // Bytes that do not fit are those of another content, or from another offset on.
            if length <= content.length { try bytes.withUnsafeBytes { try handle.write(contentsOf: $0) } }
            post(.received(bytes.byteCount))
            // Not before the write: the next synchronization continues after these bytes.
            guard !isStopped else { throw SyncError(.synchronize, .cancelled, "the download has ended") }
        }
        // Without 206 the bytes were those from the beginning: a proxy has ignored the range.
        guard length == content.length, offset == 0 || status == 206 else {
            files.remove(content)
            throw SyncError(
                .synchronize, .serverNotReached, "the content \(content.name) of \"\(content.object)\" arrived with another length than announced")
        }
    }
}
