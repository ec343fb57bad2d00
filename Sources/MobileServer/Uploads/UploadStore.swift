internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileProtocol

/// Uploads that arrive in pieces: files that wait until their client synchronizes with them.
///
///     PUT (0), PUT (offset), ... --all bytes, right digest--> complete --synchronize, any number of times--> DELETE, or its end
///
/// An upload is named by the SHA-256 of its bytes, so that a client that has forgotten everything finds what it has sent, and a file is never taken for
/// another one. **The files are a help, not a truth**: pieces that are
/// lost, damaged or cut off are sent again, and operations that were replayed are not replayed again.
struct UploadStore: Sendable {
    /// The owner of an upload: no other client can find it.
    struct Key: Hashable, Sendable {
        private let user: String
        private let application: String
        private let device: String
        /// SHA-256 in 64 hexadecimal digits.
        let id: String

        /// Fails for a text that is not a digest.
        init?(_ id: some StringProtocol, of session: Accounts.Session) {
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9"), letters = UInt8(ascii: "a")...UInt8(ascii: "f")
            guard id.utf8.count == 64, id.utf8.allSatisfy({ digits.contains($0) || letters.contains($0) }) else { return nil }
            (user, application, device, self.id) = (session.user, session.application, session.device, String(id))
        }

        /// The name of the user's folder.
        fileprivate var folder: String { get throws { try SHA256.digest(of: user).hexadecimal } }
        /// The name of the file.
        fileprivate var name: String { get throws { try SHA256.digest(of: [application, device, id].joined(separator: "\n")).hexadecimal } }
    }

    /// The result of a piece.
    enum Outcome: Equatable, Sendable {
        case stored(offset: Int, isComplete: Bool)
        /// The piece begins elsewhere than the upload ends.
        case conflict(offset: Int)
        /// The bytes have another digest than the name says; the upload is gone.
        case damaged
    }

    /// The maximum size of one piece, in bytes.
    static let longestPiece = 8 << 20

    private let folder: String
    /// Whether the folder belongs to this process alone.
    private let isTemporary: Bool
    private let limits: RequestLimits
    private let clock: @Sendable () -> Int64
    /// The uploads that a request works on. Requests of other processes write the same bytes at the same places.
    private let busy = SystemLock(Set<Key>())

    init(_ configuration: ServerConfiguration) {
        isTemporary = configuration.uploadFolder == nil && configuration.cachePath.isEmpty
        // No other user can prepare a folder of a random name.
        let temporary = NSTemporaryDirectory() + "mobile-uploads-" + UUID().uuidString
        folder = configuration.uploadFolder ?? (isTemporary ? temporary : configuration.cachePath + "-uploads")
        (limits, clock) = (configuration.limits, configuration.clock)
    }

    /// Removes the folder if no later process can know it.
    func close() { if isTemporary { try? FileManager.default.removeItem(atPath: folder) } }

    // MARK: Requests

    /// Returns the number of bytes that are there, and whether these are all; nil for an unknown upload.
    func state(of key: Key) throws -> (offset: Int, isComplete: Bool)? {
        let path = try path(of: key)
        if let size = Self.size(path + ".complete") { return (size, true) }
        return Self.size(path).map { ($0, false) }
    }

    /// Adds a piece.
    /// - Parameters:
    ///   - piece: at most ``longestPiece`` bytes.
    ///   - offset: its place in the upload.
    ///   - length: the length of the whole upload.
    /// - Throws: ``RequestFailure`` 413 for an upload that is too long, 429 for too many uploads, 503 for one that another request is about.
    func add(_ piece: Spool, at offset: Int, length: Int, to key: Key) throws -> Outcome {
        guard busy.withLock({ $0.insert(key).inserted }) else { throw RequestFailure(.unavailable, "another request sends the same upload") }
        defer { busy.withLock { _ = $0.remove(key) } }
        guard length <= limits.uploadBytes, offset >= 0, offset <= length, piece.length <= length - offset else {
            throw RequestFailure(
                .tooLarge, "upload of \(length) bytes, piece of \(piece.length) at \(offset): at most \(limits.uploadBytes) are accepted")
        }
        let known = try state(of: key)
        if let known, known.isComplete { return .stored(offset: known.offset, isComplete: true) }
        guard offset == known?.offset ?? 0 else { return .conflict(offset: known?.offset ?? 0) }
        if known == nil { try makeRoom(for: key) }
        try write(piece, at: offset, to: path(of: key))
        guard offset + piece.length == length else { return .stored(offset: offset + piece.length, isComplete: false) }
        let outcome = try complete(key, length)
        if outcome == .damaged { try remove(key) }
        return outcome
    }

    /// Returns a complete upload, ready to be read.
    /// - Throws: ``RequestFailure`` 409 for an upload that is not complete, or not this client's.
    func spool(of key: Key) throws -> Spool {
        var known = try state(of: key)
        // The process may have ended between the last piece and the check.
        if let found = known, !found.isComplete, case .stored = try complete(key, found.offset) { known = (found.offset, true) }
        guard known?.isComplete == true, let spool = try? Spool(readingFile: path(of: key) + ".complete") else {
            throw RequestFailure(.conflict, "the upload is not complete; send the rest of it")
        }
        return spool
    }

    /// Removes an upload; no effect if it is not there.
    func remove(_ key: Key) throws {
        let path = try path(of: key)
        for path in [path, path + ".complete"] { try? FileManager.default.removeItem(atPath: path) }
    }

    // MARK: Files

    private func path(of key: Key) throws -> String { try "\(folder)/\(key.folder)/\(key.name)" }

    private static func size(_ path: String) -> Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
    }

    private func write(_ piece: Spool, at offset: Int, to path: String) throws {
        do {
            if offset == 0 {
                _ = FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600])
            }
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            try file.seek(toOffset: UInt64(offset))
            piece.rewind()
            while let bytes = try piece.nextChunk(maximum: 1 << 20) { try file.write(contentsOf: bytes) }
        } catch {
            // Half a piece: the next request finds the length, and continues there.
            throw ProtocolError(.spool, "cannot store a piece of an upload in \(folder): \(error)")
        }
    }

    /// Checks the digest of all bytes.
    private func complete(_ key: Key, _ length: Int) throws -> Outcome {
        let path = try path(of: key)
        let spool = try Spool(readingFile: path)
        var digest = try SHA256()
        while let bytes = try spool.nextChunk(maximum: 1 << 20) { try digest.update(bytes) }
        guard spool.length == length, try digest.finish().hexadecimal == key.id else { return .damaged }
        try FileManager.default.moveItem(atPath: path, toPath: path + ".complete")
        return .stored(offset: length, isComplete: true)
    }

    /// Prepares for a new upload: removes those whose time is over, and makes the user's folder.
    private func makeRoom(for key: Key) throws {
        let manager = FileManager.default, own = try "\(folder)/\(key.folder)"
        let oldest = Date(timeIntervalSince1970: Double(clock()) / 1000 - limits.uploadLifetime / .seconds(1))
        for user in (try? manager.contentsOfDirectory(atPath: folder)) ?? [] {
            for name in (try? manager.contentsOfDirectory(atPath: "\(folder)/\(user)")) ?? [] {
                let path = "\(folder)/\(user)/\(name)"
                guard let date = try? manager.attributesOfItem(atPath: path)[.modificationDate] as? Date, date < oldest else { continue }
                try? manager.removeItem(atPath: path)
            }
        }
        do {
            try manager.createDirectory(atPath: own, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch { throw ProtocolError(.spool, "cannot make the folder \(own): \(error)") }
        let names = try manager.contentsOfDirectory(atPath: own)
        let bytes = names.reduce(0) { $0 + (Self.size("\(own)/\($1)") ?? 0) }
        guard names.count < limits.uploadsPerUser, bytes <= limits.uploadBytes else {
            throw RequestFailure(.tooMany, "\(names.count) uploads of \(bytes) bytes wait: synchronize with one of them, or delete it")
        }
    }
}
