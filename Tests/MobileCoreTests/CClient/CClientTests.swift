import Foundation
import TestSupport
import Testing

/// The example of the core's headers for C programmers, `Tests/CClient`: it must build and work as described.
@Suite struct CClientTests {
    @Test func `a C program uses the core without Swift`() throws {
        let directory = try TemporaryDirectory()
        let (status, text) = try Program.run(Program.built("CClient"), [directory.file("client.db")])
        #expect(status == 0)
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

    /// The example of MobileCoreTrees, `Tests/CTrees`.
    @Test func `a C program changes a message as a tree, and imports what is left of it`() throws {
        let directory = try TemporaryDirectory()
        for arguments in [[], [directory.file("trees.db")]] {
            let (status, text) = try Program.run(Program.built("CTrees"), arguments)
            #expect(status == 0)
            #expect(
                text == """
                    imported 2 rows
                    refused: JSON message, byte 59: expected a key, found '}'
                    customer 1: Harbour Foods, Cork, IE, 9007199254740993
                    customer 3: Müller, -, DE, 0

                    """)
        }
    }
}
