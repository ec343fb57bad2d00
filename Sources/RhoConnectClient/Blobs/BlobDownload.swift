internal import Foundation
internal import MobileStore
internal import MobileTransport

/// The files that were downloaded for a page.
struct DownloadedBlobs {
    /// One attribute of one object.
    struct Place: Hashable {
        let object: String
        let attribute: String
    }

    /// The stored values.
    var files: [Place: String] = [:]
    /// Names without suffix that arrived with one, or did so earlier.
    var names: Set<String> = []
    /// Whether the page has names with the suffix of files.
    var hasSuffixes = false
    /// The first file that the server does not have: its attribute is left out.
    var failure: RhoConnectError?

    func isBlob(_ key: String, of source: Source) -> Bool {
        key.hasSuffix(ReservedNames.blobSuffix) || source.blobAttributes[key] != nil || names.contains(key)
    }
}

/// Downloads the files of BLOB attributes before their page is applied.
struct BlobDownload {
    private let run: SyncRun
    private let source: Source

    init(_ run: SyncRun, _ source: Source) {
        self.run = run
        self.source = source
    }

    /// Downloads the files of a page. A file that the server refuses is noted as a failure; without a connection the whole page is left for the next time.
    /// - Throws: ``RhoConnectErrorCode/network``, ``RhoConnectErrorCode/unauthorized``, ``RhoConnectErrorCode/cancelledByUser``.
    func files(of page: PageResponse) throws(RhoConnectError) -> DownloadedBlobs {
        var blobs = DownloadedBlobs()
        let id = source.id, table = source.table
        blobs.names = try run.core.database.read { try BlobNames.read(id, in: $0) }
        blobs.hasSuffixes = page.hasBlobSuffix
        guard blobs.hasSuffixes || !source.blobAttributes.isEmpty || !blobs.names.isEmpty else { return blobs }
        let inserts = page[.insert]
        for (object, attributes) in zip(inserts.keys, inserts) {
            for (key, value) in zip(attributes.keys, attributes) where blobs.isBlob(key, of: source) {
                let isSuffixed = key.hasSuffix(ReservedNames.blobSuffix)
                let name = isSuffixed ? String(key.dropLast(ReservedNames.blobSuffix.count)) : key
                if isSuffixed { blobs.names.insert(name) }
                let isDeleted = page[.delete][object][key].exists
                let local = try run.core.database.read { try table.attributes(of: object, in: $0)?[name] }
                if let local, !local.isEmpty, !isDeleted, source.blobAttributes[name] != .overwrites {
                    blobs.files[.init(object: object, attribute: name)] = local
                    continue
                }
                blobs.files[.init(object: object, attribute: name)] = try file(value.scalarText ?? "", &blobs)
            }
        }
        let names = blobs.names
        try run.write("blob names") { try BlobNames.write(names, id, in: $0) }
        return blobs
    }

    private func file(_ url: String, _ blobs: inout DownloadedBlobs) throws(RhoConnectError) -> String? {
        guard url.contains("://") else { return url }
        do throws(RhoConnectError) {
            return try download(url)
        } catch {
            guard error.code == .remoteServer else { throw error }
            blobs.failure = blobs.failure ?? error
            return nil
        }
    }

    /// Downloads one file.
    /// - Returns: its name in the folder.
    func download(_ url: String) throws(RhoConnectError) -> String {
        let calls = run.calls
        let isOwn = ServerAddress.origin(of: url) == calls.address.origin
        var address = url, headers: [(name: String, value: String)] = []
        if isOwn {
            // Session and client id are for the server alone.
            address += (url.contains("?") ? "&" : "?") + "client_id=" + calls.clientID.urlEncoded
            if let session = calls.session { headers.append(("Cookie", session)) }
        }
        let name = BlobFolder.newName(for: url), path = run.core.database.blobFolder + name
        try FileDownload(run).fetch(address, headers: headers, to: path, maximum: nil)
        return name
    }
}

/// A download into a file.
struct FileDownload {
    private let run: SyncRun

    init(_ run: SyncRun) { self.run = run }

    /// Downloads into a new file, which is removed again when the download fails.
    func fetch(_ url: String, headers: [(name: String, value: String)] = [], to path: String, maximum: ByteCount?) throws(RhoConnectError) {
        var request = TransportRequest(url: url, headers: headers)
        request.cancellation = run.cancellation
        request.stallTimeout = run.calls.settings.requestTimeout
        do {
            guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
                throw RhoConnectError(.runtime, "the file \(path) cannot be made")
            }
            var length = 0
            do {
                _ = try run.core.transport.send(request) { chunk in
                    length += chunk.byteCount
                    if let maximum, length > maximum.bytes {
                        throw RhoConnectError(.unexpectedServerResponse, "\(request.urlWithoutQuery): longer than \(maximum)")
                    }
                    try file.write(contentsOf: chunk.withUnsafeBytes { Data($0) })
                }
                try file.close()
            } catch {
                try? FileManager.default.removeItem(atPath: path)
                throw error
            }
        } catch let error as TransportError where error.code == .httpStatus {
            throw ServerCalls.refusal(error.status ?? 0, error.body)
        } catch {
            throw ServerCalls.failure(of: error)
        }
    }
}

/// The attributes of a property bag that have arrived as files.
enum BlobNames {
    static func read(_ sourceID: Int, in connection: Connection) throws(StoreError) -> Set<String> {
        let text = try connection.first("SELECT blob_attribs FROM sources WHERE source_id = ?1", [Value(sourceID)])?.first?.text ?? ""
        return Set(text.split(separator: ",").map(String.init))
    }

    static func write(_ names: Set<String>, _ sourceID: Int, in connection: Connection) throws(StoreError) {
        guard try read(sourceID, in: connection) != names else { return }
        try SourceRow.set("blob_attribs = ?1", [.text(names.sorted().joined(separator: ","))], of: sourceID, in: connection)
    }
}
