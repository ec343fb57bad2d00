internal import MobileMicrohttpd

/// Reads the header fields and the query parameters of a connection's request.
enum HTTPFields {
    /// The header fields under their names in lower case; fields of one name are joined with a comma and a space.
    static func headers(of connection: OpaquePointer) -> [String: String] {
        Dictionary(items(mhs_each_header, of: connection).map { ($0.name.lowercased(), $0.value) }) { $0 + ", " + $1 }
    }

    /// The query's parameters in their order.
    static func parameters(of connection: OpaquePointer) -> [(name: String, value: String)] { items(mhs_each_parameter, of: connection) }

    private static func items(
        _ each: (OpaquePointer, MHD_KeyValueIterator, UnsafeMutableRawPointer) -> Void, of connection: OpaquePointer
    ) -> [(name: String, value: String)] {
        let collector = ItemCollector()
        each(
            connection,
            { context, _, key, value in
                guard let context, let key else { return mhs_yes() }
                let collector = Unmanaged<ItemCollector>.fromOpaque(context).takeUnretainedValue()
                collector.items.append((String(cString: key), value.map { String(cString: $0) } ?? ""))
                return mhs_yes()
            }, Unmanaged.passUnretained(collector).toOpaque())
        return collector.items
    }
}

/// Collects fields from the daemon's iterator.
private final class ItemCollector {
    var items: [(name: String, value: String)] = []
}
