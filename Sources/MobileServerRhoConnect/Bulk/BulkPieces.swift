internal import Foundation
internal import MobileServer
internal import MobileStore

/// The bytes of a file in the state, in pieces: any process sends them, and any part of them, in the memory of one piece.
struct BulkPieces {
    let face: RhoConnectServer
    let file: Int64

    /// The forms of a file, by the suffixes of its URL.
    static let forms = ["rzip": "text/plain", "gzip": "text/plain", "": "application/octet-stream"]

    static let pieceBytes = 262_144

    // MARK: Writing

    /// Stores a file in all forms. Each piece shows that this process is alive.
    /// - Parameter name: that of the archive's entry.
    func store(_ path: String, name: String) throws {
        let plain = PieceWriter(self, "")
        try forEachChunk(path) { try plain.add($0) }
        try plain.finish()

        let archive = PieceWriter(self, "rzip")
        let zip = try ZipWriter { piece in try archive.add(piece.withUnsafeBytes { Array($0) }) }
        try zip.begin(name)
        try forEachChunk(path) { try zip.push($0.span.bytes) }
        try zip.end()
        try zip.finish()
        try archive.finish()

        let packed = PieceWriter(self, "gzip")
        let deflater = try Deflater(.gzip)
        try forEachChunk(path) { chunk in try deflater.compress(chunk) { try packed.add($0) } }
        try deflater.finish { try packed.add($0) }
        try packed.finish()
    }

    private func forEachChunk(_ path: String, _ take: ([UInt8]) throws -> Void) throws {
        guard let handle = FileHandle(forReadingAtPath: path) else { throw ServerError(.cache, "the bulk file \(path) cannot be read") }
        defer { try? handle.close() }
        while let data = try handle.read(upToCount: Self.pieceBytes), !data.isEmpty { try take([UInt8](data)) }
    }

    /// Collects bytes, and stores full pieces.
    private final class PieceWriter {
        private let pieces: BulkPieces
        private let form: String
        private var waiting: [UInt8] = []
        private var number: Int64 = 0

        init(_ pieces: BulkPieces, _ form: String) { (self.pieces, self.form) = (pieces, form) }

        func add(_ bytes: [UInt8]) throws {
            waiting += bytes
            while waiting.count >= BulkPieces.pieceBytes {
                try store(Array(waiting.prefix(BulkPieces.pieceBytes)))
                waiting.removeFirst(BulkPieces.pieceBytes)
            }
        }

        func finish() throws { if !waiting.isEmpty { try store(waiting) } }

        private func store(_ bytes: [UInt8]) throws {
            let face = pieces.face
            try face.store.write(label: "rhoconnect bulk piece") { connection in
                try BulkRecord.beat(pieces.file, face.now, in: connection)
                try connection.execute(
                    "INSERT INTO _rho_bulk_piece (file, form, number, content, length) VALUES (?1, ?2, ?3, ?4, ?5)",
                    [.integer(pieces.file), .text(form), .integer(number), .blob(bytes), Value(bytes.count)])
            }
            number += 1
        }
    }

    // MARK: Reading

    /// Answers a request for a file, or a part of one.
    /// - Throws: ``RhoFailure`` for a place without a file.
    static func answer(_ path: String, range: String?, _ face: RhoConnectServer) throws -> ServerResponse {
        let (place, form) = split(path)
        let found = try face.store.read { connection -> (BulkPieces, Int64)? in
            guard let file = try BulkRecord.at(place, in: connection) else { return nil }
            let length = try connection.first(
                "SELECT CAST(sum(length) AS BIGINT) FROM _rho_bulk_piece WHERE file = ?1 AND form = ?2", [.integer(file.id), .text(form)])
            return (BulkPieces(face: face, file: file.id), length?.first?.integer ?? 0)
        }
        guard let (pieces, length) = found else { throw RhoFailure.text(404, "there is nothing at this path") }
        let headers = [(name: "Accept-Ranges", value: "bytes")], type = forms[form]
        switch ByteRange(range, length: length) {
        case .whole: return ServerResponse(status: 200, headers: headers, contentType: type, body: pieces.body(form, 0..<length))
        case .part(let part):
            let field = (name: "Content-Range", value: "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)")
            return ServerResponse(status: 206, headers: headers + [field], contentType: type, body: pieces.body(form, part))
        case .unsatisfiable: return ServerResponse(status: 416, headers: headers + [(name: "Content-Range", value: "bytes */\(length)")])
        }
    }

    private static func split(_ path: String) -> (place: String, form: String) {
        for form in forms.keys where !form.isEmpty && path.hasSuffix("." + form) { return (String(path.dropLast(form.count + 1)), form) }
        return (path, "")
    }

    private func body(_ form: String, _ part: Range<Int64>) -> ServerResponse.Body {
        var position = part.lowerBound
        let size = Int64(Self.pieceBytes)
        return .stream(length: part.count) {
            guard position < part.upperBound else { return nil }
            let number = position / size, first = number * size
            let content = try face.store.read { connection in
                try connection.first(
                    "SELECT content FROM _rho_bulk_piece WHERE file = ?1 AND form = ?2 AND number = ?3",
                    [.integer(file), .text(form), .integer(number)])
            }?.first?.blob
            // Removed meanwhile, because two newer files followed.
            guard let content else { throw ServerError(.cache, "the bulk file is not there any more") }
            let bytes = Array(content[Int(position - first)..<min(content.count, Int(part.upperBound - first))])
            position += Int64(bytes.count)
            return bytes
        }
    }
}
