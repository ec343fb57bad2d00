internal import MobileCrypto
internal import MobileExecution
internal import MobileObjects
internal import MobileProtocol
internal import MobileTransport

/// A long upload on its way to the server, in pieces: after a cut it continues where the server's bytes end, also after a restart of the application.
///
/// It waits in a temporary file on the disk of the database, never whole in memory. The server knows it by the SHA-256 of its bytes: the same
/// operations make the same upload.
struct LargeUpload {
    /// The size of large values and operations from which on an upload goes in pieces, in bytes. A shorter one is simply sent again.
    static let threshold: Int64 = 1 << 20
    /// The size of the first piece, in bytes. Each piece that arrives doubles it, up to ``longestPiece``; each cut divides it by 4.
    static let firstPiece = 256 << 10
    static let longestPiece = 4 << 20
    private static let shortestPiece = 16 << 10
    /// The number of cuts in a row, without a byte in between, after which the synchronization fails.
    static let mostCuts = 5

    let spool: Spool
    let id: String

    /// Writes the whole upload to the spool.
    init(_ upload: UploadStream, directory: String) throws(SyncError) {
        do {
            let spool = Spool(directory: directory)
            var digest = try SHA256()
            while let piece = try upload.next() {
                try spool.append(piece)
                try digest.update(piece)
            }
            (self.spool, id) = (spool, try digest.finish().hexadecimal)
        } catch let error as SyncError {
            throw error
        } catch {
            throw SyncError(.persistence, .localDatabase, "prepare a long upload: \(error)", cause: error)
        }
    }

    /// Brings all bytes to the server.
    /// - Parameters:
    ///   - offset: asks the server for the number of bytes that it has; nil for an unknown upload.
    ///   - send: sends a piece; returns the number of bytes that the server has then.
    ///   - isCancelled: whether the synchronization is over.
    /// - Returns: false if the server takes no uploads in pieces.
    func send(
        pausing policy: RetryPolicy = RetryPolicy(initialDelay: .milliseconds(200), maximumDelay: .seconds(5)),
        _ random: RandomNumberSource, isCancelled: () -> Bool, offset ask: () throws -> Int?, _ send: ([UInt8], _ offset: Int) throws -> Int
    ) throws -> Bool {
        var offset: Int?, size = Self.firstPiece, cuts = 0, random = random
        while true {
            do {
                let begin = try min(offset ?? ask() ?? 0, spool.length)
                guard let piece = try spool.chunk(at: begin, maximum: size) else { return true }
                let end = try send(piece, begin)
                if end > begin { cuts = 0 } else { cuts += 1 }
                guard cuts < Self.mostCuts else {
                    throw SyncError(.synchronize, .synchronizationCommunication, "the server does not take the upload from byte \(begin) on")
                }
                (offset, size) = (end, min(size * 2, Self.longestPiece))
            } catch let error as TransportError where error.code == .httpStatus && [404, 405, 501].contains(error.status) {
                return false
            } catch let error as TransportError where [.cannotConnect, .timeout, .interrupted].contains(error.code) {
                cuts += 1
                guard cuts < Self.mostCuts, !isCancelled() else { throw error }
                // Not longer than a few seconds, and on the synchronization's own thread.
                let pause = Promise<Void, Never>()
                _ = pause.wait(timeout: policy.delay(failures: cuts - 1, using: &random))
                if isCancelled() { throw TransportError(.cancelled, "the upload was cancelled") }
                (offset, size) = (nil, max(size / 4, Self.shortestPiece))
            }
        }
    }
}

extension OutboxReader {
    /// Whether the operations and their large values have at least `limit` bytes, roughly.
    func isLonger(than limit: Int64) throws -> Bool {
        var size: Int64 = 0, last: Int64 = 0
        while true {
            let page = try operations(after: last)
            guard let end = page.last else { return false }
            last = end.id
            for operation in page {
                // A small operation has about this size.
                size += 256
                for value in operation.largeValues { if let id = value.id { size += try reader(of: id).byteCount } }
                if size >= limit { return true }
            }
        }
    }
}
