import Foundation
import Testing

/// The example of the core's headers for C programmers, `Tests/CClient`: it must build, and do what it says.
@Suite struct CClientTests {
    @Test func `a C program uses the core without Swift`() throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "CClient")
        process.arguments = [directory.appending(path: "client.db").path]
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(
            text == """
                imported 3 rows
                customer 1: Harbour Foods, 1250.00
                customer 2: Café Nord, 80.50
                customer 3: Müller
                picture of 2000000 bytes, at 1999000: PNG
                [{"id":1,"name":"Harbour Foods","credit":1250},
                {"id":2,"name":"Café Nord","credit":80.5},
                {"id":3,"name":"Müller","credit":null}]

                """)
    }
}
