internal import MobilePostgreSQL

/// Receives the rows of a COPY, in the memory of one piece of 64 KB and one row.
package struct PostgreSQLCopy {
    private let columns: Int
    private let send: ([UInt8]) throws(PostgreSQLError) -> Void
    private var buffer: [UInt8] = []

    /// The number of rows so far.
    package private(set) var rowCount = 0

    /// The size at which a piece is sent.
    private static let pieceSize = 65_536

    init(columns: Int, send: @escaping ([UInt8]) throws(PostgreSQLError) -> Void) {
        self.columns = columns
        self.send = send
        buffer.reserveCapacity(Self.pieceSize + 4096)
    }

    /// Adds a row. Each value is converted to its column's type by the server.
    /// - Throws: ``PostgreSQLError`` `.misuse` (another number of values than of columns), `.invalidText` (U+0000), `.timeout`,
    ///   `.connectionLost`. The server reports refused rows at the end only.
    package mutating func add(_ values: [PostgreSQLValue]) throws(PostgreSQLError) {
        guard values.count == columns else {
            throw PostgreSQLError(.misuse, "row \(rowCount + 1) of a COPY has \(values.count) values, expected \(columns)")
        }
        for (column, value) in values.enumerated() {
            if column > 0 { buffer.append(UInt8(ascii: "\t")) }
            try append(value, column: column)
        }
        buffer.append(UInt8(ascii: "\n"))
        rowCount += 1
        if buffer.count >= Self.pieceSize { try flush() }
    }

    /// Sends the last piece.
    mutating func flush() throws(PostgreSQLError) {
        guard !buffer.isEmpty else { return }
        try send(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func append(_ value: PostgreSQLValue, column: Int) throws(PostgreSQLError) {
        switch value {
        case .null: buffer += "\\N".utf8
        case .integer(let value): buffer += String(value).utf8
        case .real(let value): buffer += value.postgreSQLText.utf8
        case .text(let text):
            do {
                try text.checkForPostgreSQL()
            } catch {
                throw error.with(message: "row \(rowCount + 1) of a COPY, column \(column + 1): \(error.message)")
            }
            append(text: text)
        case .blob(let bytes):
            buffer += Self.hexadecimal(bytes)
        }
    }

    /// Returns bytes in the notation of `bytea`, with the escaped backslash of the text format before it.
    private static func hexadecimal(_ bytes: [UInt8]) -> [UInt8] {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + 0x30 : value + 0x57 }
        return unsafe [UInt8](unsafeUninitializedCapacity: 3 + 2 * bytes.count) { output, count in
            for byte in [UInt8(ascii: "\\"), UInt8(ascii: "\\"), UInt8(ascii: "x")] {
                unsafe output[count] = byte
                count += 1
            }
            for byte in bytes {
                unsafe output[count] = digit(byte >> 4)
                unsafe output[count + 1] = digit(byte & 15)
                count += 2
            }
        }
    }

    private mutating func append(text: String) {
        var text = text
        text.withUTF8 { bytes in
            guard let start = bytes.baseAddress else { return }
            var place = 0
            while place < bytes.count {
                let length = unsafe mpq_plain_length(start + place, bytes.count - place)
                unsafe buffer.append(contentsOf: bytes[place..<place + length])
                place += length
                guard place < bytes.count else { break }
                unsafe append(escaped: bytes[place])
                place += 1
            }
        }
    }

    /// The characters that have a meaning of their own in the text format are written with a backslash.
    private mutating func append(escaped byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\\"): buffer += "\\\\".utf8
        case UInt8(ascii: "\t"): buffer += "\\t".utf8
        case UInt8(ascii: "\n"): buffer += "\\n".utf8
        case UInt8(ascii: "\r"): buffer += "\\r".utf8
        default: buffer.append(byte)
        }
    }
}

extension PostgreSQLConnection {
    /// Writes rows in bulk with COPY, several times as fast as single statements.
    /// - Parameters:
    ///   - table: the table as in SQL: with its schema and in quotation marks where needed.
    ///   - columns: the columns as in SQL, 1 or more.
    ///   - deadline: the time until which it runs, with the time that `rows` takes; default: the configuration's time limit from now.
    ///   - rows: adds the rows. It must not use this connection. When it throws, no row is written.
    /// - Returns: the number of rows written.
    /// - Throws: ``PostgreSQLError`` of most kinds, and then no row is written; the error of `rows`.
    @discardableResult
    package func copy(
        into table: String, columns: [String], deadline: ContinuousClock.Instant? = nil, _ rows: (inout PostgreSQLCopy) throws -> Void
    ) throws -> Int {
        let session = try session(), deadline = session.deadline(deadline)
        var refusal: (any Error)?
        let sql = "COPY \(table) (\(columns.joined(separator: ", "))) FROM STDIN"
        try sql.checkForPostgreSQL()
        do {
            return try session.exchange(until: deadline) { () throws(PostgreSQLError) in
                try session.beginCopy(sql, until: deadline)
                let wire = session.wire
                var copy = PostgreSQLCopy(columns: columns.count) { (piece) throws(PostgreSQLError) in
                    try wire.put(piece)
                    try wire.flush(until: deadline)
                }
                do {
                    try rows(&copy)
                    try copy.flush()
                } catch let error as PostgreSQLError where error.code == .timeout || error.code == .connectionLost {
                    throw error
                } catch {
                    refusal = error
                }
                try wire.endCopy(refusing: refusal == nil ? nil : "the source of the rows has failed")
                return try session.results(until: deadline)?.affectedRows ?? 0
            }
        } catch {
            throw refusal ?? error
        }
    }
}

extension Session {
    fileprivate func beginCopy(_ sql: String, until deadline: Deadline) throws(PostgreSQLError) {
        try wire.send(script: sql)
        pending = .statement
        try wire.flush(until: deadline)
        guard let result = try wire.result(until: deadline) else { throw wire.lost() }
        if result.kind == .copyIn {
            pending = .copy
            return
        }
        let failure = result.failure ?? PostgreSQLError(.misuse, "no COPY of rows from the client: \(sql)")
        _ = try results(until: deadline)
        throw failure
    }
}
