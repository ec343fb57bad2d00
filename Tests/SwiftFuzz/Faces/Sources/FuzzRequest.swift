internal import Foundation
internal import MobileProtocol
internal import MobileServer

/// One request of an input: a line with method and path, lines with header fields, an empty line, the body. Cookies come from the fuzzed client.
struct FuzzRequest {
    let method: String
    let path: String
    let query: String
    let headers: [String: String]
    let body: [UInt8]

    /// - Parameters:
    ///   - bytes: the part of the input.
    ///   - client: what `%C` stands for in path, query and body: the id that the server gave.
    init(_ bytes: ArraySlice<UInt8>, client: String) {
        var rest = bytes
        func line() -> String {
            let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
            defer { rest = end < rest.endIndex ? rest[(end + 1)...] : [] }
            return String(decoding: rest[..<end], as: UTF8.self)
        }
        let first = line().split(separator: " ", maxSplits: 1).map(String.init)
        method = first.first ?? "GET"
        let address = (first.count > 1 ? first[1] : "/").replacingOccurrences(of: "%C", with: client)
        let parts = address.split(separator: "?", maxSplits: 1).map(String.init)
        path = parts.first?.removingPercentEncoding ?? "/"
        query = parts.count > 1 ? parts[1] : ""
        var fields: [String: String] = [:]
        while case let text = line(), !text.isEmpty {
            let field = text.split(separator: ":", maxSplits: 1).map(String.init)
            if field.count == 2 { fields[field[0].lowercased()] = field[1].trimmingCharacters(in: .whitespaces) }
        }
        headers = fields
        body = Array(String(decoding: rest, as: UTF8.self).replacingOccurrences(of: "%C", with: client).utf8)
    }

    func request(cookies: [String: String]) -> ServerRequest {
        var all = headers
        if !cookies.isEmpty, all["cookie"] == nil { all["cookie"] = cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ") }
        let items = query.split(separator: "&").map { item -> (name: String, value: String) in
            let parts = item.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
            return (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        }
        return ServerRequest(
            method: method, path: path, query: Dictionary(items.map { ($0.name, $0.value) }) { $1 }, queryItems: items, headers: all,
            remoteAddress: "127.0.0.1", body: Spool(body))
    }
}
