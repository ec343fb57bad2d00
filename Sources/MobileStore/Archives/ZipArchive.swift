internal import MobileCore

/// A ZIP archive in a file, whose entries are read as streams.
///
///     let archive = try ZipArchive(path: "data.rzip")
///     try archive.extract(archive.entries[0]) { piece in try file.write(piece) }
///
/// Archives from outside are safe to open: every number is checked against the file, and every entry against its length and its sum. Encrypted entries,
/// archives of several parts and those of 4 GB and more are refused. An archive is used by one thread at a time.
@safe public final class ZipArchive {
    /// One entry of an archive.
    public struct Entry: Sendable, Hashable {
        /// The position in the archive's directory, from 0.
        public let index: Int
        /// The name, with a path where the archive has one. It comes from outside: do not write to it without a check.
        public let name: String
        /// The size after extraction, as announced.
        public let size: ByteCount
    }

    private let handle: OpaquePointer

    /// The entries in the order of the directory.
    public let entries: [Entry]

    /// Opens a file and reads its directory.
    /// - Parameters:
    ///   - path: the file.
    ///   - maximumEntry: the longest entry that is extracted, at most 4 GB; a longer one throws ``StoreError/Code/limit``.
    /// - Throws: ``StoreError/Code/compression`` (no archive, or a damaged one), ``StoreError/Code/limit``, ``StoreError/Code/notFound``,
    ///   ``StoreError/Code/io``.
    public init(path: String, maximumEntry: ByteCount = .megabytes(4000)) throws(StoreError) {
        var handle: OpaquePointer?
        try unsafe StoreError.check { unsafe mc_zip_open_file(path, UInt64(max(1, maximumEntry.bytes)), 0, &handle, $0) }
        let archive = unsafe handle!  // MC_OK promises an archive
        unsafe self.handle = archive
        entries = unsafe (0..<mc_zip_entry_count(archive)).compactMap { index in
            guard let entry = unsafe mc_zip_entry_at(archive, index)?.pointee else { return nil }
            let name = unsafe String(decoding: UnsafeRawBufferPointer(start: entry.name, count: entry.name_length), as: UTF8.self)
            return unsafe Entry(index: index, name: name, size: .bytes(Int(entry.size)))
        }
    }

    deinit { unsafe mc_zip_free(handle) }

    /// Extracts an entry.
    /// - Parameters:
    ///   - entry: the entry, of this archive.
    ///   - take: receives the content in pieces of up to 64 KB. An error that it throws ends the extraction and is thrown by this function.
    /// - Throws: ``StoreError/Code/compression`` when the entry is damaged, ``StoreError/Code/limit`` when it is longer than allowed; `take` has then
    ///   received a part of it.
    public func extract(_ entry: Entry, _ take: (RawSpan) throws -> Void) throws {
        try withoutActuallyEscaping(take) { take in
            let sink = PieceSink(take)
            do throws(StoreError) {
                try unsafe StoreError.check {
                    unsafe mc_zip_extract(handle, entry.index, PieceSink.callback, Unmanaged.passUnretained(sink).toOpaque(), $0)
                }
            } catch {
                throw sink.failure ?? error
            }
        }
    }
}

/// Writes a ZIP archive of deflated entries, as a stream.
///
///     let writer = try ZipWriter { piece in try file.write(piece) }
///     try writer.begin("kim_1795000000.data")
///     while let bytes = try source.next() { try writer.push(bytes) }
///     try writer.end()
///     try writer.finish()
///
/// Equal contents give equal archives: entries have no date. After an error it cannot be used. One thread at a time.
@safe public final class ZipWriter {
    private let handle: OpaquePointer
    private let sink: PieceSink

    /// Makes a writer.
    /// - Parameter take: receives the archive in pieces.
    /// - Throws: ``StoreError/Code/noMemory``.
    public init(_ take: @escaping (RawSpan) throws -> Void) throws(StoreError) {
        let sink = PieceSink(take)
        var handle: OpaquePointer?
        try unsafe StoreError.check {
            unsafe mc_zip_writer_open(PieceSink.callback, Unmanaged.passUnretained(sink).toOpaque(), &handle, $0)
        }
        unsafe self.handle = handle!  // MC_OK promises a writer
        self.sink = sink
    }

    deinit { unsafe mc_zip_writer_free(handle) }

    /// Begins an entry.
    /// - Throws: ``StoreError/Code/misuse`` while an entry is open, or for an empty name; ``StoreError/Code/limit`` beyond 10,000 entries, or for a name
    ///   of more than 1,024 bytes; and the errors of the receiver.
    public func begin(_ name: String) throws {
        var name = name
        try unsafe check { error in
            name.withUTF8 { utf8 in
                unsafe utf8.withMemoryRebound(to: CChar.self) { text in
                    guard let start = text.baseAddress else { return unsafe mc_zip_writer_begin(handle, "", 0, error) }
                    return unsafe mc_zip_writer_begin(handle, start, text.count, error)
                }
            }
        }
    }

    /// Deflates the next bytes of the entry.
    /// - Throws: ``StoreError/Code/misuse`` without an open entry, ``StoreError/Code/limit`` at 4 GB, and the errors of the receiver.
    public func push(_ bytes: RawSpan) throws {
        try unsafe bytes.withUnsafeBytes { bytes in
            try unsafe check { unsafe mc_zip_writer_push(handle, bytes.baseAddress, bytes.count, $0) }
        }
    }

    /// Ends the entry.
    /// - Throws: as ``push(_:)``.
    public func end() throws { try unsafe check { unsafe mc_zip_writer_end(handle, $0) } }

    /// Writes the directory, which completes the archive.
    /// - Throws: as ``push(_:)``; ``StoreError/Code/misuse`` while an entry is open.
    public func finish() throws { try unsafe check { unsafe mc_zip_writer_finish(handle, $0) } }

    private func check(_ call: (UnsafeMutablePointer<mc_error>) -> mc_status) throws {
        do throws(StoreError) {
            try unsafe StoreError.check(call)
        } catch {
            throw sink.failure ?? error
        }
    }
}

/// Passes pieces from the core to a closure, and keeps the error that it throws.
private final class PieceSink {
    private let take: (RawSpan) throws -> Void
    private(set) var failure: (any Error)?

    init(_ take: @escaping (RawSpan) throws -> Void) { self.take = take }

    static let callback: mc_zip_sink = { context, bytes, length, error in
        let sink = unsafe Unmanaged<PieceSink>.fromOpaque(context!).takeUnretainedValue()  // the callers pass one
        do {
            try sink.take(unsafe RawSpan(_unsafeStart: bytes, byteCount: length))
            return MC_OK
        } catch let failure {
            sink.failure = failure
            unsafe error?.pointee = mc_error()
            unsafe error?.pointee.code = MC_ERROR_INTERRUPTED
            return MC_ERROR_INTERRUPTED
        }
    }
}
