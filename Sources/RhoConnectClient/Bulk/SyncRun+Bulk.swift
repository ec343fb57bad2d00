internal import Foundation
internal import MobileStore

extension SyncRun {
    /// Loads the data by the server's database files, if the application wants that.
    /// - Throws: an error whose cause is ``ReportedFailure`` when it failed: its notification was sent.
    func synchronizeBulk() throws(RhoConnectError) {
        let state = try core.database.read { try ClientInfo(in: $0).bulkState }
        guard state == .notSynchronized || state == .loadingBlobs else { return }
        var isAtBlobs = state == .loadingBlobs
        do throws(RhoConnectError) {
            if !isAtBlobs {
                reportBulk(.inProgress, .start)
                for partition in [RhomModel.Partition.user, .app] { try load(partition) }
                try write("bulk") { try ClientInfo.set("bulksync_state = 2", in: $0) }
            }
            isAtBlobs = true
            reportBulk(.inProgress, .blobs)
            for source in core.withState(\.synchronizationOrder) where source.model.syncType != .none { try loadBlobs(of: source) }
            try write("bulk") { try ClientInfo.set("bulksync_state = 1", in: $0) }
        } catch {
            // Files are missing, but the data is there: the documents report that in progress.
            var notify = bulkNotification(isAtBlobs ? .inProgress : .error, isAtBlobs ? .error : nil, nil)
            (notify.errorCode, notify.errorMessage) = (isAtBlobs ? .unexpectedServerResponse : error.code, error.message)
            report(notify)
            throw RhoConnectError(notify.errorCode, error.message, cause: ReportedFailure())
        }
        reportBulk(.ok, .complete)
    }

    private func load(_ partition: RhomModel.Partition) throws(RhoConnectError) {
        let sources = core.withState(\.synchronizationOrder).filter { $0.model.partition == partition && $0.model.syncType != .none }
        guard !sources.isEmpty else { return }
        reportBulk(.inProgress, .start, partition)
        for source in sources where source.isIncremental { try SourceSync(self, source).completeLastPage() }
        guard let path = try requestFile(partition, sources.map(\.name)) else { return reportBulk(.ok, .ok, partition) }
        guard !path.isEmpty else { throw PageResponse.unexpected("the server has no bulk file: a source reported an error") }
        reportBulk(.inProgress, .download, partition)
        let folder = core.database.store.path + "-bulk-" + partition.rawValue
        defer { removeFiles(folder) }
        removeFiles(folder)
        try FileDownload(self).fetch(calls.address.file(path + ".rzip"), to: folder + ".rzip", maximum: calls.settings.maximumBulkFile)
        try unpack(folder + ".rzip", to: folder + ".data")
        reportBulk(.inProgress, .changeDatabase, partition)
        do {
            try BulkFile(path: folder + ".data").merge(sources, of: self)
        } catch let error as RhoConnectError {
            throw error
        } catch {
            throw RhoConnectError(
                .unexpectedServerResponse, "the bulk file cannot be read: \((error as? StoreError)?.message ?? "\(error)")", cause: error)
        }
        reportBulk(.inProgress, .ok, partition)
    }

    private func removeFiles(_ folder: String) {
        for suffix in [".rzip", ".data", ".data-wal", ".data-shm", ".data-journal"] { try? FileManager.default.removeItem(atPath: folder + suffix) }
    }

    /// Asks for the file until it is ready.
    /// - Returns: its path on the server; nil when there is nothing to load.
    private func requestFile(_ partition: RhomModel.Partition, _ names: [String]) throws(RhoConnectError) -> String? {
        let isCurrent = calls.address.style == .version4
        let body = JSONValue.object(["partition": .string(partition.rawValue), "sources": .array(names.map { .string($0) })])
        let url = calls.address.bulkData(client: calls.clientID, partition: partition.rawValue, sources: names)
        for attempt in 0..<max(1, calls.settings.bulkAttempts) {
            if attempt > 0 { try pause(calls.settings.bulkInterval) }
            let answer = try calls.send(isCurrent ? "POST" : "GET", url, json: isCurrent ? body.bytes : nil)
            calls.session = answer.session ?? calls.session
            let json = try? JSONValue(parsing: answer.body)
            switch json?["result"]?.string {
            case "wait": continue
            case "nop": return nil
            case "url": return json?["url"]?.string ?? ""
            default: throw PageResponse.unexpected("the answer to the request for a bulk file has no known result")
            }
        }
        throw PageResponse.unexpected("the bulk file was not ready after \(calls.settings.bulkAttempts) questions")
    }

    /// Unpacks the one entry of the archive; the name inside of the archive does not count.
    private func unpack(_ archive: String, to path: String) throws(RhoConnectError) {
        do {
            let zip = try ZipArchive(path: archive, maximumEntry: calls.settings.maximumBulkFile)
            guard zip.entries.count == 1 else { throw PageResponse.unexpected("the bulk archive has \(zip.entries.count) entries instead of one") }
            guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path) else {
                throw RhoConnectError(.runtime, "the file \(path) cannot be made")
            }
            try zip.extract(zip.entries[0]) { piece in try file.write(contentsOf: piece.withUnsafeBytes { Data($0) }) }
            try file.close()
        } catch let error as StoreError {
            throw RhoConnectError(.unexpectedServerResponse, "the bulk archive is damaged: \(error.message)", cause: error)
        } catch {
            throw RhoConnectError(error)
        }
    }

    // MARK: Files of BLOB attributes

    /// Renames attributes with the suffix of files, and downloads the files whose addresses are stored.
    private func loadBlobs(of source: Source) throws(RhoConnectError) {
        let id = source.id, suffix = ReservedNames.blobSuffix, isBag = source.table.columns == nil
        let names = try write("blob names") { connection in
            var names = try BlobNames.read(id, in: connection)
            guard isBag else { return names.union(source.blobAttributes.keys) }
            // From one attribute to the next by the index of values, past all its values.
            let suffixed = try connection.rows(
                """
                WITH RECURSIVE names (attrib) AS (
                    SELECT min(attrib) FROM object_values WHERE source_id = ?1
                    UNION ALL SELECT (SELECT min(attrib) FROM object_values WHERE source_id = ?1 AND attrib > names.attrib) FROM names
                    WHERE attrib IS NOT NULL)
                SELECT attrib FROM names WHERE attrib IS NOT NULL
                """, [Value(id)]
            ).compactMap(\.first?.text).filter { $0.hasSuffix(suffix) && $0.count > suffix.count }
            for attribute in suffixed {
                let plain = String(attribute.dropLast(suffix.count))
                try connection.execute(
                    "UPDATE OR REPLACE object_values SET attrib = ?1 WHERE source_id = ?2 AND attrib = ?3",
                    [.text(plain), Value(id), .text(attribute)])
                names.insert(plain)
            }
            try BlobNames.write(names, id, in: connection)
            return names.union(source.blobAttributes.keys)
        }
        for name in names.sorted() { try loadBlobs(of: source, name) }
    }

    private func loadBlobs(of source: Source, _ name: String) throws(RhoConnectError) {
        let query = try ObjectQuery(source, RhomQuery(where: [RhomCondition(name, .contains("://"))]))
        let table = source.table
        for object in try core.database.read({ try query.ids(in: $0) }) {
            guard let url = try core.database.read({ try table.attributes(of: object, in: $0)?[name] }), url.contains("://") else { continue }
            let file = try BlobDownload(self, source).download(url)
            try write("blob") { connection in
                // Changed meanwhile: the user's file counts.
                guard try table.attributes(of: object, in: connection)?[name] == url else { return }
                try table.put([name: file], of: object, in: connection)
            }
        }
    }

    // MARK: Reports

    private func bulkNotification(
        _ status: RhoConnectNotify.Status, _ bulk: RhoConnectNotify.BulkStatus?, _ partition: RhomModel.Partition?
    ) -> RhoConnectNotify {
        var notify = RhoConnectNotify(status: status)
        (notify.syncType, notify.bulkStatus, notify.partition) = (.bulk, bulk, partition)
        return notify
    }

    private func reportBulk(_ status: RhoConnectNotify.Status, _ bulk: RhoConnectNotify.BulkStatus, _ partition: RhomModel.Partition? = nil) {
        report(bulkNotification(status, bulk, partition))
    }
}
