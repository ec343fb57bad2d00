internal import Foundation
internal import MobileCrypto
internal import MobileObjects

/// The files next to a database with the contents that a download names: segments of rows, and long values. They stay until their group is stored, also
/// after a cut or a kill, so that the next synchronization continues with them.
///
/// A content under its name is complete; one with the suffix `.part` is not. The import compares it with its name.
struct DownloadFiles: Sendable {
    /// The maximum number of bytes of the contents of one download.
    static let maximumBytes: Int64 = 8 << 30

    private let folder: String

    init(_ package: PackageDatabase) { folder = package.downloadFolder }

    private func folder(of group: String) -> String {
        folder + "/" + (group.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? group)
    }

    func path(of content: ListedContent) -> String { folder(of: content.group) + "/" + content.name }

    private func partialPath(of content: ListedContent) -> String { path(of: content) + ".part" }

    /// Prepares the folders of a download's groups, and removes the files there that the download does not name.
    func prepare(_ groups: [String], _ contents: [ListedContent]) throws {
        let files = FileManager.default
        for group in groups {
            let names = Set(contents.lazy.filter { $0.group == group }.flatMap { [$0.name, $0.name + ".part"] }), folder = folder(of: group)
            guard !names.isEmpty else {
                remove(group)
                continue
            }
            try files.createDirectory(atPath: folder, withIntermediateDirectories: true)
            for name in try files.contentsOfDirectory(atPath: folder) where !names.contains(name) {
                try files.removeItem(atPath: folder + "/" + name)
            }
        }
    }

    /// Removes the files of a group, and the whole folder after the last one.
    func remove(_ group: String) {
        let files = FileManager.default
        try? files.removeItem(atPath: folder(of: group))
        if (try? files.contentsOfDirectory(atPath: folder))?.isEmpty == true { try? files.removeItem(atPath: folder) }
    }

    /// Removes a file whose content is damaged.
    func remove(_ content: ListedContent) {
        for path in [path(of: content), partialPath(of: content)] { try? FileManager.default.removeItem(atPath: path) }
    }

    // MARK: Arrival

    /// The number of bytes that have arrived so far.
    func length(of content: ListedContent) -> Int64 {
        for path in [path(of: content), partialPath(of: content)] {
            let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? NSNumber
            if let size { return size.int64Value }
        }
        return 0
    }

    /// Whether the content is complete. Its last byte gives it its name.
    func isComplete(_ content: ListedContent) throws -> Bool {
        let files = FileManager.default, path = path(of: content), length = length(of: content)
        guard length >= content.length else { return false }
        guard length == content.length else {
            remove(content)
            return false
        }
        if !files.fileExists(atPath: path) { try files.moveItem(atPath: partialPath(of: content), toPath: path) }
        return true
    }

    /// Opens a content for the bytes that follow those that have arrived.
    func appending(to content: ListedContent) throws -> FileHandle {
        let path = partialPath(of: content)
        if !FileManager.default.fileExists(atPath: path), !FileManager.default.createFile(atPath: path, contents: nil) {
            throw SyncError(.persistence, .localDatabase, "file \(path) of the download cannot be written")
        }
        guard let handle = FileHandle(forWritingAtPath: path) else {
            throw SyncError(.persistence, .localDatabase, "file \(path) of the download cannot be written")
        }
        try handle.seekToEnd()
        return handle
    }

    // MARK: Import

    /// Reads a complete content piece by piece, and compares it with its name at the end. A damaged file is removed, so that the next synchronization
    /// fetches it again.
    /// - Throws: ``SyncError/Code/synchronizationCommunication`` for a damaged file, also where `take` has failed because of it; the errors of `take`.
    func read(_ content: ListedContent, _ take: (RawSpan) throws -> Void) throws {
        guard let handle = FileHandle(forReadingAtPath: path(of: content)) else { throw damaged(content, "is missing") }
        var digest = try SHA256(), failure: (any Error)?
        while let data = try handle.read(upToCount: 1 << 16), !data.isEmpty {
            try digest.update(data.bytes)
            if failure != nil { continue }
            do { try take(data.bytes) } catch let error as SyncError { throw error } catch {
                // Damaged bytes are the likely reason: the digest decides.
                failure = error
            }
        }
        guard try digest.finish().hexadecimal == content.name else {
            remove(content)
            throw damaged(content, "is damaged")
        }
        if let failure { throw failure }
    }

    private func damaged(_ content: ListedContent, _ what: String) -> SyncError {
        SyncError(
            .synchronize, .synchronizationCommunication, "download: content \(content.name) of \"\(content.object)\" \(what); synchronize again")
    }
}

/// A content that a download names.
struct ListedContent: Sendable, Hashable {
    enum Kind: Sendable { case segment, largeValue }

    let kind: Kind
    let object: String
    /// The group that the content belongs to.
    var group = ""
    let name: String
    let grant: String
    /// The number of its bytes.
    let length: Int64
}
