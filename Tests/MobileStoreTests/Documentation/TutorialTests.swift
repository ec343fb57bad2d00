import Foundation
import MobileStore
import TestSupport
import Testing

/// Runs the code of the article Tutorial, which is the code between the marks below.
@Suite struct TutorialTests {
    @Test func `the tutorial runs, and leaves what it says`() async throws {
        let directory = try TemporaryDirectory()
        let store = try runTutorial(in: directory.path)

        // Tutorial: async
        let count = try await store.read { connection in
            try connection.first("SELECT count(*) FROM customer")?[0].integer ?? 0
        }
        try await store.close()
        // Tutorial: end
        #expect(count == 3)
    }

    private func runTutorial(in folder: String) throws -> Database {
        var printed: [String] = []
        func print(_ line: String) { printed.append(line) }

        // Tutorial: open
        var profile = ConnectionProfile(path: folder + "/shop.db", pageSize: 16_384, cacheSize: .megabytes(20))
        profile.synchronous = .full
        let store = try Database(profile)
        try store.write { connection in
            try connection.execute("CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT, credit INTEGER, photo INTEGER)")
        }
        // Tutorial: end
        #expect(store.settings.pageSize == 16_384 && store.settings.synchronous == .full)

        // Tutorial: write
        try store.write { connection in
            try connection.execute("INSERT INTO customer (id, name, city) VALUES (?, ?, ?)", [1, "Harbour Foods", "Dublin"])
            _ = try? connection.savepoint {  // what fails in here is undone, the rest stays
                try connection.execute("INSERT INTO customer (id, name) VALUES (2, NULL)")
            }
        }
        let city = try store.read { connection in
            try connection.first("SELECT city FROM customer WHERE id = ?", [1])?[0].text
        }
        // Tutorial: end
        #expect(city == "Dublin")

        // Tutorial: import
        let body = #"[[2,"Mill & Sons","Cork",1250.50],[3,"Castle Inn",null,0],{"id":1,"name":"Harbour Foods Ltd","city":"Dublin"}]"#
        let result = try store.write { connection in
            var options = ImportOptions()
            options.columnRules["credit"] = JSONColumnRule(.decimal(precision: 12, scale: 2))
            options.columnRules["name"] = JSONColumnRule(.text, isNullable: false)
            let rows = try connection.importer(into: "customer", columns: ["id", "name", "city", "credit"], options: options)
            for chunk in pieces(of: body) { try rows.push(chunk) }
            return try rows.finish()
        }
        print("\(result.inserted) inserted, \(result.updated) updated")
        // Tutorial: end
        #expect(printed == ["2 inserted, 1 updated"])
        printed = []

        // Tutorial: error
        do {
            try store.write { connection in
                let rows = try connection.importer(into: "customer", columns: ["id", "name"])
                try rows.push(Array(#"[[4,"Quay Books"],[5,"#.utf8))
                try rows.push(Array(#""Bridge Street Caf\u00"]]"#.utf8))
                try rows.finish()
            }
        } catch let error as StoreError {
            print("\(error.code), row \(error.row ?? 0), byte \(error.byteOffset ?? 0)")
        }
        // Tutorial: end
        #expect(printed == ["json, row 2, byte 43"])
        #expect(try store.read { try $0.first("SELECT count(*) FROM customer")?[0].integer } == 3)

        // Tutorial: pages
        try store.read { connection in
            let select = "SELECT id, name, city, credit FROM customer WHERE id > ?1 ORDER BY id LIMIT 100"
            var page = try connection.page(select, [0])
            while let last = page.last {
                for row in page {
                    let letters = row.bytes(1).byteCount  // in place: nothing is copied
                    let city = row.string(2) ?? "somewhere"
                    print("\(row.integer(0)): \(letters) bytes, \(city), \(row.integer(3)) cents")
                }
                page = try connection.page(select, after: last, keys: [0])
            }
        }
        // Tutorial: end
        #expect(printed.dropFirst() == ["1: 17 bytes, Dublin, 0 cents", "2: 11 bytes, Cork, 125050 cents", "3: 10 bytes, somewhere, 0 cents"])

        // Tutorial: large
        try store.write { try $0.prepareLargeValues() }
        let writer = try LargeValueWriter(in: store)
        for block in 0..<100 { try writer.write([UInt8](repeating: UInt8(block), count: 10_000)) }
        let photo = try writer.finish()
        try store.write { try $0.execute("UPDATE customer SET photo = ? WHERE id = 1", [.integer(photo.id)]) }

        let reader = try LargeValueReader(photo.id, in: store)
        try reader.seek(to: 990_000)
        let end = try reader.bytes(upTo: 10_000)
        // Tutorial: end
        #expect(end == [UInt8](repeating: 99, count: 10_000) && reader.length == 1_000_000)

        // Tutorial: export
        let text = try store.read { connection in
            let rows = try connection.exporter("SELECT id, name FROM customer ORDER BY id", format: .objects)
            var text: [UInt8] = []
            while let piece = try rows.nextChunk(maximum: 4096) { text += piece }
            return String(decoding: text, as: UTF8.self)
        }
        // Tutorial: end
        #expect(
            text.replacing("\n", with: "")
                == #"[{"id":1,"name":"Harbour Foods Ltd"},{"id":2,"name":"Mill & Sons"},{"id":3,"name":"Castle Inn"}]"#)
        return store
    }

    /// Cuts the text into small pieces, like those of a network.
    private func pieces(of text: String) -> [[UInt8]] {
        let bytes = Array(text.utf8)
        return stride(from: 0, to: bytes.count, by: 7).map { Array(bytes[$0..<min($0 + 7, bytes.count)]) }
    }

    @Test func `the article shows the code that runs here, part by part`() throws {
        let here = URL(fileURLWithPath: #filePath)
        let article = try String(contentsOf: Repository.file("Sources/MobileStore/MobileStore.docc/Tutorial.md"), encoding: .utf8)
        var part: [Substring]?
        var parts = 0
        for line in try String(contentsOf: here, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("        // Tutorial: end"), let code = part {
                #expect(article.contains("```swift\n\(code.joined(separator: "\n"))\n```"))
                part = nil
                parts += 1
            } else if line.hasPrefix("        // Tutorial: ") {
                part = []
            } else {
                part?.append(line.dropFirst(8))
            }
        }
        #expect(parts == 8)
    }
}
