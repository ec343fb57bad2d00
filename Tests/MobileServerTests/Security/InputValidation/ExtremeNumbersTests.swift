import MobileServer
import MobileStore
import Testing

/// Numbers that no client sends, in every number's place in an upload: the server answers, and the data of all other clients is unchanged.
@Suite struct ExtremeNumbersTests {
    static let numbers = [
        "-1", "0", "1.5", "-0.0", "4294967296", "9223372036854775806", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "1e400",
        "99999999999999999999999999999999999999999", "null",
    ]

    /// Frames of an upload after its header; `N` is the number.
    static let frames: [[(Character, String)]] = [
        [("O", #"{"id": N, "mbo": "Customer", "change": "D", "key": 1}"#)],
        [("O", #"{"id": 5, "mbo": "Customer", "change": "D", "batch": N, "key": 1}"#)],
        [("O", #"{"id": 5, "mbo": "Customer", "change": "D", "key": N}"#)],
        [("O", #"{"id": 5, "mbo": "Customer", "change": "U", "key": N, "primaryKey": {"id": N}, "attributes": {"name": "x"}}"#)],
        [("O", #"{"id": 5, "mbo": "Line", "change": "U", "key": 1, "primaryKey": {"orderId": N, "line": N}, "attributes": {"quantity": N}}"#)],
        [("O", #"{"id": 5, "mbo": "Line", "change": "C", "key": N, "attributes": {"orderId": 10, "line": N, "product": "x", "quantity": 1}}"#)],
        [("O", #"{"id": 5, "mbo": "Order", "change": "C", "key": N, "attributes": {"customerId": N, "status": "x"}, "refs": {"customer": N}}"#)],
        [("O", #"{"id": 5, "mbo": "Customer", "change": "U", "key": 1, "primaryKey": {"id": 1}, "attributes": {"credit": N, "rate": N}}"#)],
        [("O", #"{"id": 5, "mbo": "Customer", "change": "O", "operation": "raise", "key": N, "parameters": {"number": N, "amount": N}}"#)],
        [("L", #"[{"messageId": N, "level": N, "code": N, "message": "x"}]"#)], [("L", #"[{"messageId": N, "deleted": true}]"#)],
        [
            ("O", #"{"id": 5, "mbo": "Customer", "change": "U", "key": 1, "primaryKey": {"id": 1}}"#),
            ("V", #"{"object": "Customer", "attribute": "photo", "operation": 5, "length": N, "compression": "none"}"#), ("D", "x"),
            ("E", #"{"bytes": N}"#),
        ],
        [
            ("O", #"{"id": 9223372036854775807, "mbo": "Customer", "change": "D", "key": 1}"#),
            ("O", #"{"id": N, "mbo": "Customer", "change": "D", "key": 1}"#),
        ],
    ]

    /// Members of the header.
    static let members = [
        #""settledBelow": N"#, #""keysLeft": N"#, #""keysLeft": 0, "settledBelow": N, "personalization": {"region": N}"#, #""version": N"#,
        #""keyClaims": [N]"#, #""keyClaims": N"#,
    ]

    @Test(arguments: numbers) func `an extreme number is refused or taken, and does no harm`(number: String) throws {
        let client = try HandmadeClient()
        let first = try client.synchronize(), token = try #require(first.tokens["default"])
        let epoch = try #require(JSONValue(parsing: token)["epoch"]?.string)
        func send(_ header: [UInt8], _ frames: [(Character, String)], _ place: String) throws {
            let body = header + frames.flatMap { HandmadeClient.frame($0.0, $0.1.replacing("N", with: number)) } + HandmadeClient.frame("Z", "")
            let answer = try client.synchronize(bytes: body)
            #expect(answer.status == 400 || answer.status == 200 && answer.isComplete, "\(place): \(answer.status) \(answer.text.prefix(200))")
            #expect(!answer.results.contains { $0["code"]?.integer == 500 }, "\(place): \(answer.results)")
        }
        for frames in Self.frames { try send(client.header(), frames, frames[0].1) }
        for member in Self.members { try send(client.header(more: ", " + member.replacing("N", with: number)), [], member) }
        for token in [#"{"epoch": "\#(epoch)", "objects": {"Customer": {"1": N, "N": 3}}}"#, #"{"epoch": N, "objects": N}"#] {
            try send(client.header(tokens: #"{"default": \#(token.replacing("N", with: number))}"#), [], token)
        }
        for token in [#"{"e": "\#(epoch)", "l": N}"#, #"{"e": N, "l": 1}"#] {
            let header = client.header(groups: #"["system"]"#, tokens: #"{"system": \#(token.replacing("N", with: number))}"#)
            try send(header, [], token)
        }
        try send(client.header(subscriptions: #"{"Customer": [{"region": N}]}"#.replacing("N", with: number)), [], "subscription")
        try client.restart()
        client.clientID = "another"
        let other = try client.synchronize()
        #expect(other.status == 200 && other.isComplete && other.keys != nil, "\(other.text.prefix(200))")
    }
}
