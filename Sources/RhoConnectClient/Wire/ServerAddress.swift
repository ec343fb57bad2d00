/// The URLs of a server, in the two documented styles.
struct ServerAddress: Sendable, Hashable {
    /// The configured URL with a slash at its end.
    let base: String
    let style: RhoConnectClient.ProtocolStyle

    /// - Throws: ``RhoConnectErrorCode/runtime`` for a text that is not an HTTP URL.
    init(_ url: String, _ style: RhoConnectClient.ProtocolStyle) throws(RhoConnectError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), !url.contains(where: { $0.isWhitespace || $0 == "?" || $0 == "#" }) else {
            throw RhoConnectError(.runtime, "sync server \"\(url.prefix(80))\": expected a URL such as http://host:port/")
        }
        base = url.hasSuffix("/") ? url : url + "/"
        self.style = style
    }

    /// Scheme, host and port.
    var origin: String { Self.origin(of: base) }

    static func origin(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let host = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return (url[..<scheme.upperBound] + host).lowercased()
    }

    private var isCurrent: Bool { style == .version4 }
    /// The base without its slash: the older style queries and uploads there.
    private var bare: String { String(base.dropLast()) }

    var login: String { base + (isCurrent ? "rc/v1/app/login" : "clientlogin") }
    var createClient: String { base + (isCurrent ? "rc/v1/clients" : "clientcreate") }

    func register(_ client: String) -> String { base + (isCurrent ? "rc/v1/clients/\(client.urlEncoded)/register" : "clientregister") }

    /// - Parameter sources: the names of the older style; the newer one has them in the body.
    func reset(_ client: String, _ sources: [String]) -> String {
        guard !isCurrent else { return base + "rc/v1/clients/\(client.urlEncoded)/reset" }
        return base + "clientreset?client_id=\(client.urlEncoded)" + sources.map { "&sources[][name]=\($0.urlEncoded)" }.joined()
    }

    func query(_ source: String, client: String, pageSize: Int, token: String, extra: String) -> String {
        let tail = "&token=\(token.urlEncoded)" + (extra.isEmpty ? "" : "&" + extra)
        guard !isCurrent else { return base + "app/v1/\(source.urlEncoded)?p_size=\(pageSize)&version=3" + tail }
        return bare + "?client_id=\(client.urlEncoded)&p_size=\(pageSize)&version=3&source_name=\(source.urlEncoded)" + tail
    }

    func upload(_ source: String) -> String { isCurrent ? base + "app/v1/\(source.urlEncoded)" : bare }

    /// - Parameters:
    ///   - path: the last part of the path.
    ///   - token: that of the source; empty for a new search. The newer style has it in the body.
    func search(_ source: String, client: String, path: String, pageSize: Int, token: String, parameters: String) -> String {
        let tail = parameters.isEmpty ? "" : "&" + parameters
        guard !isCurrent else { return base + "rc/v1/app/\(path)?p_size=\(pageSize)&version=3" + tail }
        let named = "&sources[][name]=\(source.urlEncoded)" + (token.isEmpty ? "" : "&sources[][token]=\(token.urlEncoded)")
        return base + "\(path)?client_id=\(client.urlEncoded)&p_size=\(pageSize)&version=3" + named + tail
    }

    func bulkData(client: String, partition: String, sources: [String]) -> String {
        guard !isCurrent else { return base + "rc/v1/app/bulk_data" }
        return base + "bulk_data?client_id=\(client.urlEncoded)&partition=\(partition)&sources=\(sources.map(\.urlEncoded).joined(separator: ","))"
    }

    /// A file of the server: the path of the configured URL does not count.
    func file(_ path: String) -> String { origin + (path.hasPrefix("/") ? path : "/" + path) }
}

extension String {
    /// The text for a path or a query: everything but letters, digits and `-._~` is encoded.
    var urlEncoded: String {
        var encoded = ""
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }
}
