internal import MobileCrypto
internal import MobileStore

extension ServerAdministration {
    /// A part of the server that an administrator has restored from a backup.
    public enum RestoredPart: Sendable, Hashable {
        /// The server's own store.
        case store
        /// The SQLite file of a back end.
        case backEnd(path: String)
    }

    /// Records that a part was restored from a backup. Data that devices have from later than the backup do not hold from then on: devices load the
    /// objects concerned again, and report their operations that the back end has lost.
    ///
    /// A server notices a restored part by itself when it is started on it, and a PostgreSQL database that was recovered to an earlier time or restored
    /// as another database. This is for a PostgreSQL database that was filled again in place. Stop the servers first.
    /// - Throws: ``ServerError/Code/missingBackEnd`` for a file that is not there or has no record of operations.
    public func declareRestored(_ part: RestoredPart) throws {
        let eras = Eras(configuration)
        switch part {
        case .store: try stateStore.write(label: "era") { _ = try eras.begin(in: $0) }
        case .backEnd(let path):
            let next = try stateStore.read { try PackageCache.nextKey(in: $0) }
            try withBackEnd(path) { backEnd in
                let name = configuration.random(8).hexadecimal
                try backEnd.database.write(label: "era") { try BackEndEras.begin(name, nextKey: next, in: $0) }
            }
        }
    }

    /// Removes everything that has come to its end, see ``Retention``. Works in short transactions, also while servers run.
    /// - Parameter backEnds: the paths of back ends whose record of operations is pruned as well.
    /// - Returns: the names of the parts with the numbers of rows that were removed.
    public func prune(backEnds paths: [String] = []) throws -> [(name: String, rows: Int)] {
        try configuration.retention.check()
        var counts = try Pruning(stateStore: stateStore, backEnds: [], configuration: configuration).run()
        for path in paths {
            try withBackEnd(path) { backEnd in
                var place: Int64 = 0
                let rows = try Pruning(stateStore: stateStore, backEnds: [backEnd], configuration: configuration).step(.clients, from: &place)
                counts.append((.clients, rows))
            }
        }
        return counts.filter { $0.rows > 0 }.map { ($0.part.name, $0.rows) }
    }

    /// Opens a back end that has a record of operations.
    private func withBackEnd(_ path: String, _ body: (BackEnd) throws -> Void) throws {
        let backEnd = try BackEnd(name: "administration", path: path, isIdempotent: false, timeout: configuration.connectionTimeout)
        let result = Result {
            guard try backEnd.database.read({ try KeyMap.isRecording($0) }) else {
                throw ServerError(.missingBackEnd, "\(path): there is no record of operations; no server has written to this file")
            }
            try body(backEnd)
        }
        try backEnd.close()
        try result.get()
    }
}
