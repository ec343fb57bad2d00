import Foundation
import MobileProtocol
import MobileStore
import TestSupport
import Testing

/// The protocol document: this module reads everything that it shows.
@Suite struct DocumentTests {
    /// Returns the code blocks of one language.
    static func blocks(_ language: String) throws -> [String] {
        let file = Repository.file("Sources/MobileProtocol/MobileProtocol.docc/ObjectProtocol.md")
        let lines = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n")
        var blocks: [String] = []
        var block: [String]?
        for line in lines {
            if line == "```\(language)" {
                block = []
            } else if line.hasPrefix("```"), let complete = block {
                blocks.append(complete.joined(separator: "\n"))
                block = nil
            } else {
                block?.append(line)
            }
        }
        return blocks
    }

    @Test("the frame streams of the document can be read", arguments: [FrameDirection.upload, .download])
    func frames(direction: FrameDirection) throws {
        let blocks = try Self.blocks(direction == .upload ? "frames-upload" : "frames-download")
        #expect(!blocks.isEmpty)
        for block in blocks {
            let bytes = block.split(separator: "\n").flatMap { line in
                Samples.frame(line.first ?? "?", String(line.dropFirst(2)))
            }
            let contents = try Samples.read(bytes, direction, chunk: 100)
            #expect(contents.count == block.split(separator: "\n").count)
            #expect(contents.last == .streamEnd)
        }
    }

    @Test("the messages of the document can be read")
    func messages() throws {
        let blocks = try Self.blocks("json-messages")
        #expect(blocks.count == 3)
        let messages = try blocks.flatMap { try Message.messages(parsing: Array($0.utf8)) }
        #expect(try messages[0].content(as: Credentials.self).user == "ada")
        #expect(try messages[1].content(as: SessionGrant.self).settings["connectionId"] == "ada-phone__crm")
        #expect(try messages[2].content(as: ProtocolFailure.self).code == ResultCode.unauthorized)
        for block in try Self.blocks("json-status") {
            #expect(try ServerStatus(parsing: Array(block.utf8)).versions.contains(ProtocolVersion.current))
        }
    }

    @Test("the document names every frame type and every method")
    func completeness() throws {
        let file = Repository.file("Sources/MobileProtocol/MobileProtocol.docc/ObjectProtocol.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        for type in FrameType.allCases { #expect(text.contains("\n| `\(type.letter)` ")) }
        let methods: [MessageMethod] = [.register, .login, .connect, .unregister, .subscribe, .unsubscribe, .suspend, .resume, .recover]
        for method in methods { #expect(text.contains("`\(method.rawValue)`")) }
        for path in [Endpoint.messages, Endpoint.synchronize, Endpoint.status] { #expect(text.contains("\(path)`")) }
    }
}
