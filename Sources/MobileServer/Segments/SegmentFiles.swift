internal import Foundation
internal import MobileCrypto
internal import MobileExecution
internal import MobileProtocol
internal import MobileStore

/// The contents that clients fetch, as files of this process under their names. They are a cache: a missing file is written again from its source.
///
/// Several processes may use one folder, since a file is complete before it gets its name. A file that the process did not write itself is compared
/// with its name before it is used for the first time.
final class SegmentFiles: Sendable {
    private struct File {
        let length: Int64
        /// The time of the last use as a count.
        var used: Int
        /// Whether this process knows that the content is that of the name.
        var isChecked: Bool
    }

    private struct State {
        var known: [String: File] = [:]
        var total: Int64 = 0
        var uses = 0
        var isPrepared = false
        /// Whether a file could not be written before a request for it, and none since.
        var isFull = false
        var isClosed = false
    }

    let directory: String
    /// The number of bytes from which on the files that were not used for longest are removed.
    private let limit: Int64
    /// Whether the folder belongs to this process alone, and ends with it.
    private let isPrivate: Bool
    private let state = SystemLock(State())
    /// The files that are being written.
    private let locks = KeyedLocks<String>()

    init(_ configuration: ServerConfiguration) {
        limit = configuration.segmentCacheSize
        isPrivate = configuration.segmentDirectory == nil && configuration.storeAddress != nil
        directory =
            configuration.segmentDirectory
            ?? (isPrivate
                ? (NSTemporaryDirectory() as NSString).appendingPathComponent("mobile-segments-\(configuration.random(12).hexadecimal)")
                : configuration.cachePath + "-segments")
    }

    func path(of name: String) -> String { (directory as NSString).appendingPathComponent(name) }

    /// Makes sure that there is the file of a content.
    /// - Parameter source: writes the content by calls of its argument; returns false if the content is gone.
    /// - Returns: whether there is a file.
    func provide(_ name: String, from source: (_ write: ([UInt8]) throws -> Void) throws -> Bool) throws -> Bool {
        try prepare()
        // Several devices want a new content at the same time: it is read from its source once.
        return isThere(name) ? true : try locks.withLock(name) { try isThere(name) || make(name, from: source) }
    }

    /// Adds the file of a content before the first request for it, if there is room for it without the removal of another one. It is the first one to be removed.
    /// - Parameter name: the digest of the content, which the caller has just made.
    func add(_ content: [UInt8], named name: String) {
        try? prepare()
        guard state.withLock({ $0.isPrepared && !$0.isFull && $0.total + Int64(content.count) <= limit }) else { return }
        locks.withLock(name) {
            guard !isThere(name) else { return }
            do {
                let length = try write(name, path(of: name), isDigest: true) { take in
                    try take(content)
                    return true
                }
                if let length { keep(name, length, isUsed: false) }
            } catch {
                // A disk without room is left to what must be written.
                state.withLock { $0.isFull = true }
            }
        }
    }

    private func isThere(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(of: name)) && isAtHand(name) }

    private func make(_ name: String, from source: (_ write: ([UInt8]) throws -> Void) throws -> Bool) throws -> Bool {
        let path = path(of: name)
        guard let length = try checkedLength(name, path) ?? write(name, path, source) else { return false }
        keep(name, length)
        return true
    }

    /// Removes the files of contents, if there are any. Requests that send one of them continue.
    func remove(_ names: [String]) {
        for name in names {
            locks.withLock(name) {
                state.withLock { $0.total -= $0.known.removeValue(forKey: name)?.length ?? 0 }
                try? FileManager.default.removeItem(atPath: path(of: name))
            }
        }
    }

    /// Removes the folder if it was that of this process. No file is written afterwards.
    func close() {
        state.withLock { $0.isClosed = true }
        if isPrivate { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// Takes note of the files of earlier processes: they count, and are removed as well.
    private func prepare() throws {
        guard !state.withLock({ $0.isPrepared }) else { return }
        let files = FileManager.default
        try makeDirectory()
        var found: [String: File] = [:]
        for name in try files.contentsOfDirectory(atPath: directory) {
            let attributes = try? files.attributesOfItem(atPath: path(of: name))
            if name.hasSuffix(Self.partial) {
                // A file that another process is writing is younger.
                let made = attributes?[.modificationDate] as? Date
                if let made, made < Date(timeIntervalSinceNow: -3600) { try? files.removeItem(atPath: path(of: name)) }
            } else if NamedContent.isName(name), let size = attributes?[.size] as? NSNumber {
                found[name] = File(length: size.int64Value, used: 0, isChecked: false)
            }
        }
        state.withLock { state in
            guard !state.isPrepared else { return }
            state.isPrepared = true
            state.known = found
            state.total = found.values.reduce(0) { $0 + $1.length }
        }
    }

    /// Makes the folder unless there is one. The name of a private one is random: in a common folder of temporary files, another user cannot make it first.
    private func makeDirectory() throws {
        let files = FileManager.default
        var isFolder: ObjCBool = false
        if files.fileExists(atPath: directory, isDirectory: &isFolder), isFolder.boolValue { return }
        guard !state.withLock({ $0.isClosed }) else { throw StoreError(.misuse, "the folder \(directory) is closed") }
        do {
            try files.createDirectory(
                atPath: directory, withIntermediateDirectories: !isPrivate, attributes: [.posixPermissions: isPrivate ? 0o700 : 0o750])
        } catch {
            // Another thread may have made it meanwhile.
            guard files.fileExists(atPath: directory, isDirectory: &isFolder), isFolder.boolValue else { throw error }
        }
    }

    private static let partial = ".part"

    private func checkedLength(_ name: String, _ path: String) throws -> Int64? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        var digest = try SHA256(), length: Int64 = 0
        while let data = try handle.read(upToCount: 1 << 20), !data.isEmpty {
            try digest.update(Array(data))
            length += Int64(data.count)
        }
        return try digest.finish().hexadecimal == name ? length : nil
    }

    /// - Parameter isDigest: whether the name is known to be the digest of the content.
    /// - Returns: the length; nil if the source has no such content any more.
    private func write(
        _ name: String, _ path: String, isDigest: Bool = false, _ source: (_ write: ([UInt8]) throws -> Void) throws -> Bool
    ) throws -> Int64? {
        let files = FileManager.default, partial = path + "." + UUID().uuidString + Self.partial
        // The folder may have been removed to free its space.
        try makeDirectory()
        guard files.createFile(atPath: partial, contents: nil, attributes: [.posixPermissions: 0o640]),
            let handle = FileHandle(forWritingAtPath: partial)
        else { throw StoreError(.io, "file \(partial) cannot be written") }
        var isComplete = false
        defer { if !isComplete { try? files.removeItem(atPath: partial) } }
        var digest = try SHA256(), length: Int64 = 0
        let isThere = try source { bytes in
            if !isDigest { try digest.update(bytes) }
            try handle.write(contentsOf: bytes)
            length += Int64(bytes.count)
        }
        try handle.close()
        guard isThere, try isDigest || digest.finish().hexadecimal == name else { return nil }
        if (try? files.moveItem(atPath: partial, toPath: path)) == nil {
            // Another request has written the same file meanwhile, or there is a damaged one.
            if let length = try checkedLength(name, path) { return length }
            try files.removeItem(atPath: path)
            try files.moveItem(atPath: partial, toPath: path)
        }
        isComplete = true
        return length
    }

    /// Whether this process has the checked file of a content, as far as it knows. The file counts as used then.
    func isAtHand(_ name: String) -> Bool {
        state.withLock { state in
            guard state.known[name]?.isChecked == true else { return false }
            state.uses += 1
            state.known[name]?.used = state.uses
            return true
        }
    }

    /// Notes a file, and removes others if there are too many bytes. Requests that send one of them continue.
    private func keep(_ name: String, _ length: Int64, isUsed: Bool = true) {
        let superfluous = state.withLock { state in
            if isUsed { (state.uses, state.isFull) = (state.uses + 1, false) }
            state.total += length - (state.known[name]?.length ?? 0)
            state.known[name] = File(length: length, used: isUsed ? state.uses : 0, isChecked: true)
            guard state.total > limit else { return [String]() }
            var removed: [String] = []
            for (other, entry) in state.known.sorted(by: { $0.value.used < $1.value.used }) where other != name && state.total > limit / 2 {
                state.known[other] = nil
                state.total -= entry.length
                removed.append(other)
            }
            return removed
        }
        for name in superfluous { try? FileManager.default.removeItem(atPath: path(of: name)) }
    }
}
