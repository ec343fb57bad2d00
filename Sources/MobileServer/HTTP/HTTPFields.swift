internal import MobileMicrohttpd

/// Reads the header fields and the query parameters of a connection's request.
enum HTTPFields {
    /// The header fields under their names in lower case; fields of one name are joined with a comma and a space.
    static func headers(of connection: OpaquePointer) -> [String: String] {
        values(mhs_each_header, of: connection, lowercased: true) { $0 + ", " + $1 }
    }

    /// The query's parameters; the last value of a name counts.
    static func parameters(of connection: OpaquePointer) -> [String: String] {
        values(mhs_each_parameter, of: connection, lowercased: false) { $1 }
    }

    private static func values(
        _ each: (OpaquePointer, MHD_KeyValueIterator, UnsafeMutableRawPointer) -> Void, of connection: OpaquePointer, lowercased: Bool,
        joining: @escaping (String, String) -> String
    ) -> [String: String] {
        let collector = ValueCollector(lowercased: lowercased, joining: joining)
        each(
            connection,
            { context, _, key, value in
                guard let context, let key else { return mhs_yes() }
                let collector = Unmanaged<ValueCollector>.fromOpaque(context).takeUnretainedValue()
                collector.add(String(cString: key), value.map { String(cString: $0) } ?? "")
                return mhs_yes()
            }, Unmanaged.passUnretained(collector).toOpaque())
        return collector.values
    }
}

/// Collects fields from the daemon's iterator.
private final class ValueCollector {
    private(set) var values: [String: String] = [:]
    private let lowercased: Bool
    private let joining: (String, String) -> String

    init(lowercased: Bool, joining: @escaping (String, String) -> String) {
        self.lowercased = lowercased
        self.joining = joining
    }

    func add(_ key: String, _ value: String) {
        values.merge([lowercased ? key.lowercased() : key: value], uniquingKeysWith: joining)
    }
}
