internal import MobileServer
internal import MobileStore

/// An answer of the face before it is written: JSON in the form of the platform, or text.
struct Answer {
    enum Body {
        case json(JSONObject)
        case html(String)
        case text(String)
        case none
    }

    var status = 200
    var body: Body
    var headers: [(name: String, value: String)] = []

    static func json(_ object: JSONObject, status: Int = 200) -> Answer { Answer(status: status, body: .json(object)) }

    /// A failure with the names of the platform.
    static func failure(_ status: Int, _ message: String, code: String = "UNEXPECTED_ERROR") -> Answer {
        .json(["errorCode": .string(code), "errorMsg": .string(message)], status: status)
    }

    /// The challenges of all open realms of one step.
    static func challenge(_ challenges: JSONObject) -> Answer {
        var answer = json(["challenges": .object(challenges)], status: 401)
        answer.headers.append((name: "WWW-Authenticate", value: "WL-Composite-Challenge"))
        return answer
    }

    /// The answer as HTTP sends it.
    /// - Parameter compresses: whether the client takes gzip and the answer is long enough, or wants it.
    func response(gzip: GzipUse) -> ServerResponse {
        let bytes: [UInt8], type: String?
        switch body {
        case .json(let object):
            (bytes, type) = (Array("/*-secure-\n".utf8) + JSONValue.object(object).bytes + Array("*/".utf8), "application/json; charset=UTF-8")
        case .html(let text): (bytes, type) = (Array(text.utf8), "text/html; charset=UTF-8")
        case .text(let text): (bytes, type) = (Array(text.utf8), "text/plain; charset=UTF-8")
        case .none: (bytes, type) = ([], nil)
        }
        var headers = headers
        headers += [
            ("Cache-Control", "no-cache, no-store, must-revalidate"), ("Expires", "Sat, 26 Jul 1997 05:00:00 GMT"), ("Pragma", "no-cache"),
            ("P3P", "policyref=\"/w3c/p3p.xml\", CP=\"CAO DSP COR CURa ADMa DEVa OUR IND PHY ONL UNI COM NAV INT DEM PRE\""),
        ]
        var content = bytes
        if gzip.applies(to: bytes.count), let compressed = try? Gzip.compress(bytes) {
            content = compressed
            headers.append((name: "Content-Encoding", value: "gzip"))
        }
        return ServerResponse(status: status, headers: headers, contentType: type, body: content.isEmpty ? .none : .bytes(content))
    }

    /// Whether an answer is compressed. Only gzip: old clients know nothing else.
    enum GzipUse {
        case no
        /// The client takes gzip.
        case offered
        /// The client wants gzip.
        case wanted

        /// Shorter answers do not become shorter.
        private static let smallest = 1024

        func applies(to count: Int) -> Bool {
            switch self {
            case .no: false
            case .offered: count >= Self.smallest
            case .wanted: count > 0
            }
        }
    }
}
