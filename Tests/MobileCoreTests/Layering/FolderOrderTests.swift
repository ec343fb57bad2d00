import Foundation
import Testing

/// The order of the core's folders: no file includes a header of a folder above its own.
@Suite struct FolderOrderTests {
    private static let core = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../CSupport/MobileCore")
        .standardizedFileURL

    @Test func `each folder of the core includes only what lies below it`() throws {
        let folders = try CoreFolders(at: Self.core)
        #expect(folders.files.count > 100 && folders.levels.count > 5)
        for violation in folders.violations() { Issue.record("\(violation)") }
    }

    @Test func `programs that include the core as a whole get all of its public headers`() throws {
        let files = try CoreFolders(at: Self.core).files
        let umbrella = try #require(files["include/MobileCore.h"])
        let headers = files.keys.filter { $0.hasPrefix("include/") && $0 != "include/MobileCore.h" }.map { $0.dropFirst("include/".count) }
        #expect(headers.count > 20)
        for header in headers { #expect(umbrella.contains("#include \"\(header)\"\n"), "\(header)") }
    }

    /// A valid core of four folders, with `b` and `c` on one level.
    private static let readme = "| folder | what |\n|---|---|\n| `a` | ground |\n| `b`, `c` | both |\n| `d` | top |\n"
    private static let sound = [
        "a/one.h": "mc_status mc_one(int a,\n                 int b);\n",
        "a/one.c": "#include \"a/one.h\"\nmc_status mc_one(int a,\n    int b)\n{\n}\n",
        "b/two.c": "#include <math.h>\n#include \"a/one.h\"\n#include \"two.h\"\nint mc_two(void)\n{\n}\n", "c/three.c": "int mc_three(void)\n{\n}\n",
        "d/four.c": "#include \"b/two.h\"\n#include \"two.h\"\nint mc_four(void)\n{\n}\n", "b/two.h": "#include \"two.h\"\n",
        "include/two.h": "#include \"none.h\"\nint mc_two(void);\nint mc_four(void);\n", "include/none.h": "typedef int (*mc_call)(int);\n",
        "include/MobileCore.h": "#include \"two.h\"\n#include \"none.h\"\n",
    ]

    @Test func `an order that is kept is not complained about`() {
        #expect(CoreFolders(readme: Self.readme, files: Self.sound).violations() == [])
    }

    @Test(
        "whatever breaks the order is named",
        arguments: [
            ("a/one.c", "#include \"b/two.h\"\n", "a/one.c: #include \"b/two.h\" goes up from a to b"),
            ("a/one.c", "  #include \"b/two.h\"\n", "a/one.c: #include \"b/two.h\" goes up from a to b"),
            ("a/one.c", "#  include \"b/two.h\"\n", "a/one.c: #  include \"b/two.h\" goes up from a to b"),
            ("c/three.c", "#include \"b/two.h\"\n", "c/three.c: #include \"b/two.h\" goes up from c to b"),
            ("a/one.h", "#include \"two.h\"\n", "a/one.h: #include \"two.h\" goes up from a to b"),
            ("include/none.h", "#include \"two.h\"\n", "include/none.h: #include \"two.h\" goes up from a to b"),
            ("include/two.h", "#include \"a/one.h\"\n", "include/two.h: #include \"a/one.h\" is not public"),
            ("d/four.c", "#include \"d/five.h\"\n", "d/four.c: #include \"d/five.h\" does not exist"),
            ("d/four.c", "#include \"one.h\"\n", "d/four.c: #include \"one.h\" does not exist"),
            ("d/four.c", "#include \"MobileCore.h\"\n", "d/four.c: #include \"MobileCore.h\" is for programs"),
            ("d/four.c", "#include <mc_two.h>\n", "d/four.c: #include <mc_two.h> is a header of the core"),
            ("a/one.c", "int mc_four(void);\n", "a/one.c declares mc_four, which a does not define"),
            ("b/two.h", "int mc_three(void);\n", "b/two.h declares mc_three, which b does not define"),
            ("include/two.h", "int mc_five(void);\n", "include/two.h: nobody defines mc_five"),
            ("include/two.h", "int mc_three(void);\n", "include/two.h belongs to b and c"),
            ("e/five.c", "", "e has no place in the order"), ("e/f/five.c", "", "e/f has no place in the order"),
        ])
    func broken(file: String, added: String, violation: String) {
        var files = Self.sound
        files[file, default: ""] += added
        #expect(CoreFolders(readme: Self.readme, files: files).violations() == [violation])
    }

    @Test func `a table that names a folder twice, or one without files, is not in order`() {
        let readme = Self.readme + "| `a` | again |\n| `z` | nothing |\n"
        #expect(CoreFolders(readme: readme, files: Self.sound).violations() == ["z has no files", "a has two places in the order"])
    }
}
