import Foundation
import Testing

/// The folders of MobileObjects in the order of their README: each uses those above it in the table.
@Suite struct FolderOrderTests {
    private let module: URL
    private let folders: [String]
    private let files: [FolderOrder.File]

    init() throws {
        let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let module = package.appending(path: "Sources/MobileObjects")
        self.module = module
        let table = try String(contentsOf: module.appending(path: "README.md"), encoding: .utf8)
        folders = table.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { String($0.dropFirst(3).prefix { $0 != "`" }) }
        let paths = try FileManager.default.subpathsOfDirectory(atPath: module.path).filter { $0.hasSuffix(".swift") && $0.contains("/") }
        files = try paths.sorted().map { .init($0, try String(contentsOf: module.appending(path: $0), encoding: .utf8)) }
    }

    @Test func `the README has a line for each folder with sources, and for no other`() {
        #expect(Set(folders) == Set(files.map(\.folder)))
        #expect(Set(folders).count == folders.count)
    }

    /// Mentions against the order, each with its reason.
    private static let allowed: [Mention: String] = [
        Mention("Package", "Entity"):
            "a generated database class names the classes of its objects, and handlers get objects; objects know their database",
        Mention("Package", "LocalSchema"): "whoever opens a database opens it with its tables as they are now",
        Mention("Schema", "Column"): "the parameter of StoredRow, not the column of a query",
        Mention("ChangeTracking", "Column"): "the parameter of StoredRow, not the column of a query",
    ]

    private struct Mention: Hashable {
        let folder: String
        let type: String
        init(_ folder: String, _ type: String) { (self.folder, self.type) = (folder, type) }
    }

    @Test func `no folder mentions a type of a folder below it in the table`() {
        let mentions = FolderOrder(folders, files).types
        func mention(_ upward: FolderOrder.Upward) -> Mention { Mention(String(upward.path.prefix { $0 != "/" }), upward.name) }
        #expect(mentions.filter { Self.allowed[mention($0)] == nil }.map(\.description) == [])
        // All allowed mentions are needed.
        #expect(Set(mentions.map(mention)) == Set(Self.allowed.keys))
    }

    /// Names that the language, Foundation or the modules below have as well.
    private static let knownBelow: Set = [
        "bigString", "decimalText", "endIndex", "firstIndex", "isAtEnd", "isEmpty", "isFinite", "isWhitespace", "newValue", "pageSize", "rawValue",
        "startIndex",
    ]

    @Test func `no folder mentions a member that only folders below it in the table declare`() {
        #expect(FolderOrder(folders, files).members(knownBelow: Self.knownBelow).map(\.description) == [])
    }

    @Test func `a mention against the order is found in code, and neither in comments nor in text`() {
        let files = [
            FolderOrder.File(
                "Low/A.swift",
                #"""
                // High is not mentioned here, /* nor
                /* nor /* in nested */ High */
                struct Low {
                    let text = "High \(High.self) \("High" + #"\(High)"#)"
                    let other = """
                        High \(Low.self)
                        """
                    func go() { other.goHigh() }
                }
                """#),
            FolderOrder.File("High/B.swift", "struct High {\n    func goHigh() {}\n}\nprivate struct Hidden {}\nextension Low { enum Nested {} }"),
        ]
        let order = FolderOrder(["Low", "High"], files)
        #expect(order.types.map(\.description) == ["Low/A.swift:4 uses High of High"])
        #expect(order.members(knownBelow: []).map(\.description) == ["Low/A.swift:8 uses goHigh of High"])
        #expect(FolderOrder(["High", "Low"], files).types.map(\.description) == ["High/B.swift:5 uses Low of Low"])
    }
}
