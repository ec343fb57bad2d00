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

    /// Values from the answers before.
    struct Known {
        /// `%C` in path, query and body: the id of the client.
        var client = ""
        /// `%I` in fields: the anti-XSRF value of the session.
        var instance = ""
        /// The token in what a device signs.
        var token = ""
    }

    /// - Parameters:
    ///   - bytes: the part of the input.
    ///   - known: the values for the marks of the input.
    init(_ bytes: ArraySlice<UInt8>, _ known: Known) {
        let client = known.client
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
            if field.count == 2 { fields[field[0].lowercased()] = Self.signed(field[1].trimmingCharacters(in: .whitespaces), known) }
        }
        headers = fields
        body = Array(String(decoding: rest, as: UTF8.self).replacingOccurrences(of: "%C", with: client).utf8)
    }

    /// Replaces `%I`, `%X(certificate)` and `%K(modulus,exponent)`: the last two become the signed JSON of a device with the session's token, so that what
    /// the face takes from it is read, although no input can sign.
    private static func signed(_ text: String, _ known: Known) -> String {
        var text = text.replacingOccurrences(of: "%I", with: known.instance)
        for mark in ["%X(", "%K("] {
            guard let start = text.range(of: mark), let end = text.range(of: ")", range: start.upperBound..<text.endIndex) else { continue }
            let content = text[start.upperBound..<end.lowerBound], parts = content.split(separator: ",", maxSplits: 1).map(String.init)
            let header =
                mark == "%X("
                ? "{\"alg\":\"RS256\",\"x5c\":\"\(content)\"}"
                : "{\"alg\":\"RS256\",\"jpk\":{\"alg\":\"RSA\",\"mod\":\"\(parts.first ?? "")\",\"exp\":\"\(parts.last ?? "")\"}}"
            let payload =
                "{\"token\":\"\(known.token)\",\"deviceId\":\"D\",\"applicationId\":\"Proven\",\"app\":{\"id\":\"Proven\",\"version\":\"1.0\"},"
                + "\"device\":{\"id\":\"D\"}}"
            let encoded = [header, payload].map { Data($0.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "") }
            let safe = encoded.map { $0.replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_") }.joined(separator: ".")
            text.replaceSubrange(start.lowerBound..<end.upperBound, with: safe + ".AAAA")
        }
        return text
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
