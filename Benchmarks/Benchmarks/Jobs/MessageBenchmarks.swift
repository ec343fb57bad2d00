import BenchmarkReferences
import MobileStore

/// Parsing and writing of a message with 100 rows of data set R30, against jansson's trees. Each side does it 200 times.
enum MessageBenchmarks {
    static let all = [parse, write]

    static let parse = Benchmark(
        id: "message.parse", shows: "header and 100-row content of a message, every value looked at", limit: 0.15,
        reference: Side("jansson: json_loadb and the same look-ups") { workspace, watch in
            let message = try Message()
            var rows: Int64 = 0, sum: UInt64 = 0, isRead = true
            watch.measure { for _ in 0..<repetitions { isRead = br_message_parse(message.start, message.length, &rows, &sum) && isRead } }
            guard isRead else { throw WrongResult("jansson refuses the message") }
            return Outcome(rows: rows * repetitions, checksum: sum, bytes: message.length * Int(repetitions))
        },
        subject: Side("JSONMessage") { workspace, watch in
            let message = try Message()
            let bytes = [UInt8](UnsafeRawBufferPointer(start: message.start, count: message.length))
            var rows: Int64 = 0, sum: UInt64 = 0
            try watch.measure {
                for _ in 0..<repetitions {
                    sum = 0
                    let read = try JSONMessage(parsing: bytes)
                    for key in ["id", "method", "pkg", "cid", "ppm"] { sum &+= read.header[key].look }
                    for row in read.content["rows"] {
                        for value in row { sum &+= value.look }
                        rows += 1
                    }
                }
            }
            return Outcome(rows: rows, checksum: sum, bytes: message.length * Int(repetitions))
        })

    static let write = Benchmark(
        id: "message.write", shows: "a message with a header and the 100 rows of a page as text", limit: 0.50,
        prepare: { _ = try PagingBenchmarks.filledTable($0) },
        reference: Side("jansson: json_dumps of a tree built before") { workspace, watch in
            let message = try Message()
            var bytes = 0
            watch.measure { for _ in 0..<repetitions { bytes += br_message_write(message.handle) } }
            var rows: Int64 = 0, sum: UInt64 = 0
            guard bytes > 0, br_message_parse(message.start, message.length, &rows, &sum) else { throw WrongResult("jansson refuses the message") }
            return Outcome(rows: rows * repetitions, checksum: sum, bytes: bytes)
        },
        subject: Side("JSONMessage and JSONWriter") { workspace, watch in
            let database = try Database(ConnectionProfile(path: PagingBenchmarks.filledTable(workspace)))
            var pages = try database.pages(ItemTable.select + " LIMIT 100")
            guard let page = try pages.next() else { throw WrongResult("there are no rows") }
            var text: [UInt8] = []
            try watch.measure {
                for _ in 0..<repetitions { text = try written(page) }
            }
            var rows: Int64 = 0, sum: UInt64 = 0
            let isRead = text.withUnsafeBytes { br_message_parse($0.baseAddress!, $0.count, &rows, &sum) }
            guard isRead else { throw WrongResult("jansson refuses the message that was written") }
            return Outcome(rows: rows * repetitions, checksum: sum, bytes: text.count * Int(repetitions))
        })

    private static func written(_ page: RowPage) throws -> [UInt8] {
        try JSONMessage.bytes(
            header: ["id": "0190f3c2-4711", "method": "importRows", "pkg": "crm:1.0", "cid": "98596b986ac1", "ppm": 12]
        ) { writer throws(StoreError) in
            try writer.object { writer throws(StoreError) in
                try writer.member("object", "Item")
                try writer.member("rows", rowsOf: page, types: types)
            }
        }
    }

    private static let repetitions: Int64 = 200
    private static let types = ItemTable.columns.compactMap { ItemTable.rules[$0]?.type }

    /// The reference's message.
    private final class Message {
        let handle: OpaquePointer
        let start: UnsafePointer<CChar>
        let length: Int

        init() throws {
            let rows = try DataSet(rows: 100, firstKey: 1)
            guard let handle = br_message_open(rows.handle) else { throw WrongResult("no memory for a message") }
            var length = 0
            start = br_message_text(handle, &length)
            (self.handle, self.length) = (handle, length)
        }

        deinit { br_message_close(handle) }
    }
}

extension JSONNode {
    /// The number that the reference adds for a value.
    fileprivate var look: UInt64 {
        if let integer { return UInt64(bitPattern: integer) }
        if let boolean { return boolean ? 1 : 0 }
        if let double { return double.bitPattern }
        guard isString else { return 0 }
        let bytes = utf8
        return UInt64(bytes.byteCount) &+ (bytes.byteCount > 0 ? UInt64(bytes.unsafeLoad(fromByteOffset: 0, as: UInt8.self)) : 0)
    }
}
