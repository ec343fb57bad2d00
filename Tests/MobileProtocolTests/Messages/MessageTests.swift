import MobileProtocol
import MobileStore
import Testing

/// Messages and their contents.
@Suite struct MessageTests {
    @Test("a message is a header and a content under the documented keys")
    func form() throws {
        let message = Message(
            MessageHeader(
                method: .register, id: "1", package: "CRM:1.0", client: "c-1", application: "crm", device: "phone"),
            content: Credentials(user: "ada", password: "s3cret"))
        #expect(
            message.json.description
                == #"{"header":{"method":"register","id":"1","pkg":"CRM:1.0","cid":"c-1","app":"crm","device":"phone"},"#
                + #""content":{"user":"ada","password":"s3cret"}}"#)
        #expect(try Message(parsing: message.bytes) == message)
        #expect(try message.content(as: Credentials.self).user == "ada")
    }

    @Test("one message or an array of messages goes at once")
    func oneOrMany() throws {
        let messages = [Message(MessageHeader(method: .suspend, id: "1")), Message(MessageHeader(method: .resume, id: "2"))]
        #expect(try Message.messages(parsing: Message.bytes(messages)) == messages)
        #expect(try Message.messages(parsing: messages[0].bytes) == [messages[0]])
        #expect(try Message.messages(parsing: Array("[]".utf8)) == [])
    }

    @Test("an answer's method is the request's with Result or Failed behind it, and it repeats the ids")
    func answers() throws {
        let request = Message(
            MessageHeader(method: .subscribe, id: "9", package: "CRM:1.0", client: "c"), content: SubscribeContent())
        let result = request.result(["a": 1])
        #expect(result.header.method.rawValue == "subscribeResult")
        #expect(result.header.method.request == .subscribe)
        #expect((result.header.id, result.header.client, result.header.package) == ("9", "c", "CRM:1.0"))
        let failed = request.failed(ProtocolFailure(code: 404, message: "no such package"))
        #expect(failed.header.method.rawValue == "subscribeFailed")
        #expect(failed.header.method.isFailure)
        #expect(try failed.content(as: ProtocolFailure.self).code == 404)
        #expect(MessageMethod.subscribe.request == nil)
        #expect(MessageMethod(rawValue: "Result").request == nil)
    }

    @Test("log records can be embedded in the header of any message")
    func logInHeader() throws {
        let record = LogRecordEntry(level: .warn, code: 500, message: "m", component: "Customer", timestamp: "2026-01-01T00:00:00.000Z")
        let message = Message(MessageHeader(method: .resume.result, log: [record]))
        #expect(message.json["header"]?["log"]?[0]?["level"] == 4)
        #expect(try Message(parsing: message.bytes).header.log == [record])
    }

    @Test(
        "contents read back",
        arguments: [
            Credentials(user: "u", password: "p", activationCode: "123"), SessionGrant(token: "ab", settings: ["a": [1, "x"]]),
            SubscribeContent(subscriptions: ["C": [["a": 1]]], personalization: ["r": "N"]),
            ServerStatus(server: "MobileObjects 1", packages: ["CRM:1.0"]), ProtocolFailure(code: 401, message: "who are you?"),
        ] as [any WireValue])
    func contents(value: any WireValue) throws {
        #expect(try type(of: value).init(json: value.json).json == value.json)
        #expect(try type(of: value).init(parsing: value.bytes).json == value.json)
    }

    @Test("members that this version does not know are skipped")
    func unknownMembers() throws {
        let text = #"{"header":{"method":"resume","id":"1","later":{"a":1}},"content":{"x":1},"more":2}"#
        #expect(try Message(parsing: Array(text.utf8)).header.method == .resume)
    }

    @Test(
        "what is no message is an error that names the member",
        arguments: [
            ("", ProtocolError.Code.invalidJSON, ""), ("{", .invalidJSON, ""),
            ("5", .invalidContent, "message: expected an object, found an integer"),
            ("{}", .invalidContent, #"message, member "header": expected an object, it is missing"#),
            (#"{"header":{}}"#, .invalidContent, #"message header, member "method": expected a string, it is missing"#),
            (#"{"header":{"method":true}}"#, .invalidContent, #"message header, member "method": expected a string, found a boolean"#),
            (#"{"header":{"method":"x"},"content":[]}"#, .invalidContent, #"message, member "content": expected an object, found an array"#),
            (#"{"header":{"method":"x","log":[{}]}}"#, .invalidContent, #"log record, member "code": expected an integer, it is missing"#),
            (#"[{"header":{"method":"x"}},null]"#, .invalidContent, "message: expected an object, found null"),
        ])
    func noMessage(text: String, code: ProtocolError.Code, message: String) {
        let error = #expect(throws: ProtocolError.self) { _ = try Message.messages(parsing: Array(text.utf8)) }
        #expect(error?.code == code)
        #expect(message.isEmpty || error?.message == message)
    }

    @Test("a request that is too long is refused before it is read")
    func tooLong() {
        let error = #expect(throws: ProtocolError.self) {
            _ = try Message.messages(parsing: [UInt8](repeating: 32, count: ProtocolLimit.messages + 1))
        }
        #expect(error?.code == .limitExceeded)
    }

    @Test("a token is the server's own object and comes back unchanged as text")
    func tokens() throws {
        let token = Token(["version": 9_007_199_254_740_993, "partition": "ü"])
        #expect(try Token(parsing: Array(token.text.utf8)) == token)
        #expect(throws: ProtocolError.self) { _ = try Token(json: 5) }
    }

    @Test("ERR-09: 409 and 503 are recoverable, everything else is not")
    func recoverableCodes() {
        #expect((100...600).filter { ResultCode.isRecoverable($0) } == [409, 503])
    }

    @Test("a record of a log, a deletion of one, and a part of a device's log keep their form; what is incomplete is refused")
    func logs() throws {
        let record = LogRecordEntry(messageId: 1 << 62 | 1, level: .warn, code: 9999, message: "visited", component: "CRM", timestamp: "")
        #expect(try LogRecordEntry(parsing: record.bytes) == record && !record.isDeleted)
        let deletion = LogRecordEntry(deleted: 88)
        #expect(deletion.json.description == #"{"messageId":88,"deleted":true}"#)
        #expect(try LogRecordEntry(parsing: deletion.bytes) == deletion)
        let content = ClientLogContent(inquiry: .performanceLog, entries: [.init(name: "visit", text: "Total: ...")], isLast: false)
        #expect(content.json.description == #"{"inquiry":"performanceLog","entries":[{"name":"visit","text":"Total: ..."}],"last":false}"#)
        #expect(try ClientLogContent(parsing: content.bytes) == content)
        #expect(try ClientLogContent(parsing: Array(#"{"inquiry":"x","entries":[]}"#.utf8)).isLast)
        let answer = SynchronizeAnswer(package: "CRM:1.0", inquiries: [.performanceLog, ServerInquiry(rawValue: "later")])
        #expect(try SynchronizeAnswer(parsing: answer.bytes) == answer)
        for bad in [#"{"deleted":true}"#, #"{"messageId":1,"deleted":1,"code":1,"message":""}"#, #"{"messageId":1,"deleted":false}"#] {
            #expect(#expect(throws: ProtocolError.self) { try LogRecordEntry(parsing: Array(bad.utf8)) }?.code == .invalidContent, "\(bad)")
        }
        for bad in [#"{"entries":[]}"#, #"{"inquiry":"x"}"#, #"{"inquiry":"x","entries":[{"name":"a"}]}"#] {
            #expect(#expect(throws: ProtocolError.self) { try ClientLogContent(parsing: Array(bad.utf8)) }?.code == .invalidContent, "\(bad)")
        }
    }
}
