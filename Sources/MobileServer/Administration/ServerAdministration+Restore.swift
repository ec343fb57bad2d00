internal import MobileCrypto
internal import MobileStore

extension ServerAdministration {
    /// A part of the server that an administrator has restored from a backup.
    public enum RestoredPart: Sendable, Hashable {
        /// The server's own store.
        case store
        /// A back end: the path of its SQLite file, or the address of its PostgreSQL database.
        case backEnd(String)
    }

    /// Records that a part was restored from a backup. Data that devices have from later than the backup do not hold from then on: devices load the
    /// objects concerned again, and report their operations that the back end has lost.
    ///
    /// A server notices a restored part by itself when it is started on it, and a PostgreSQL database that was recovered to an earlier time or restored
    /// as another database. This is for a PostgreSQL database that was filled again in place. Stop the servers first.
    /// - Throws: ``ServerError/Code/missingBackEnd`` for a back end that is not there or has no record of operations.
    public func declareRestored(_ part: RestoredPart) throws {
        let eras = Eras(configuration)
        switch part {
        case .store: try stateStore.write(label: "era") { _ = try eras.begin(in: $0) }
        case .backEnd(let place):
            let next = try stateStore.read { try PackageCache.nextKey(in: $0) }
            try withBackEnd(place) { try RecordEras.begin(configuration.random(8).hexadecimal, nextKey: next, in: $0.system) }
        }
    }

    /// Removes everything that has come to its end, see ``Retention``. Works in short transactions, also while servers run.
    /// - Parameter places: the paths or addresses of back ends whose record of operations is pruned as well.
    /// - Returns: the names of the parts with the numbers of rows that were removed.
    public func prune(backEnds places: [String] = []) throws -> [(name: String, rows: Int)] {
        try configuration.retention.check()
        let files = SegmentFiles(configuration)
        var counts = try Pruning(stateStore: stateStore, backEnds: [], files: files, configuration: configuration).run()
        for place in places {
            try withBackEnd(place) { backEnd in
                counts.append(
                    (.clients, try Pruning(stateStore: stateStore, backEnds: [backEnd], files: files, configuration: configuration).run(.clients)))
            }
        }
        return counts.filter { $0.rows > 0 }.map { ($0.part.name, $0.rows) }
    }

    /// Opens a back end that has a record of operations.
    private func withBackEnd(_ place: String, _ body: (ServedBackEnd) throws -> Void) throws {
        let backEnd = try ServedBackEnd(
            name: "administration", at: place, isIdempotent: false, timeout: configuration.connectionTimeout,
            wholeValueLimit: configuration.maximumWholeValue)
        let result = Result {
            guard try backEnd.system.read({ try $0.records() != nil }) else {
                throw ServerError(.missingBackEnd, "\(place): there is no record of operations; no server has written to this back end")
            }
            // One that only an earlier release has written to lacks tables.
            try backEnd.system.prepareRecords()
            try body(backEnd)
        }
        try backEnd.system.close()
        try result.get()
    }
}
