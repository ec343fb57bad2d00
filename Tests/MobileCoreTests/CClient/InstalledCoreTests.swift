import Foundation
import TestSupport
import Testing

/// The files of `make install`, which are sufficient for programs in C and C++. One after the other: they make the same library.
@Suite(.serialized) struct InstalledCoreTests {
    @Test func `programs in C and C++ are built against the installed core, and do the same`() throws {
        let folder = try TemporaryDirectory()
        try run("make -s -j4 install PREFIX='\(folder.path)/usr' DESTDIR=")
        let flags = "$(PKG_CONFIG_PATH='\(folder.path)/usr/lib/pkgconfig' pkg-config --cflags --libs MobileCore)"
        let strict = "-Wall -Wextra -Wpedantic -Werror"
        try run("$C -std=c17 \(strict) Tests/CClient/main.c \(flags) -o '\(folder.path)/client'")
        try run("$CXX -std=c++17 \(strict) Tests/CxxClient/main.cpp \(flags) -o '\(folder.path)/client++'")
        let c = try run("'\(folder.path)/client' '\(folder.path)/c.db'"), cxx = try run("'\(folder.path)/client++' '\(folder.path)/cxx.db'")
        #expect(cxx.hasPrefix("imported 3 rows\ncustomer 1: Harbour Foods, 1250.00\n") && cxx.split(separator: "\n").count == 4)
        #expect(c.hasPrefix(cxx))
        // A second root, for building packages: the files are installed there, but do not contain its path.
        try run("make -s -j4 install PREFIX=/usr DESTDIR='\(folder.path)/package'")
        let described = try String(contentsOf: folder.url.appending(path: "package/usr/lib/pkgconfig/MobileCore.pc"), encoding: .utf8)
        #expect(described.hasPrefix("prefix=/usr\n") && !described.contains(folder.path))
        #expect(described.contains(/\nVersion: \d+\.\d+\.\d+\n/) && !described.contains("jansson"))
        let core = try run("ar t '\(folder.path)/usr/lib/libMobileCore.a' && nm -u '\(folder.path)/usr/lib/libMobileCore.a'")
        #expect(core.contains("mc_pool.o") && !core.contains("json_object") && !core.contains("mc_message_tree"))
        // Trees are a library of their own, on what is public in the core.
        let trees = "$(PKG_CONFIG_PATH='\(folder.path)/usr/lib/pkgconfig' pkg-config --cflags --libs MobileCoreTrees)"
        try run("$C -std=c17 \(strict) Tests/CTrees/main.c \(trees) -o '\(folder.path)/trees'")
        #expect(try run("'\(folder.path)/trees'").hasPrefix("imported 2 rows\n"))
        try run("$C -std=c17 \(strict) -fsyntax-only CSupport/MobileCoreTrees/mc_message_tree.c \(trees)")
    }

    @Test func `SQLite counts no memory after a program has turned that off, which is possible before its first use only`() throws {
        let folder = try TemporaryDirectory(),
            program = #"""
                #include <MobileCore.h>
                #include <sqlite3.h>
                #include <stdio.h>
                int main(int count, char **arguments)
                {
                    mc_error error;
                    (void)arguments;
                    if (count == 1 && mc_disable_memory_count(&error) != MC_OK) return 1;
                    void *bytes = sqlite3_malloc(1000);
                    printf("%d", (int)sqlite3_memory_used());
                    sqlite3_free(bytes);
                    if (mc_disable_memory_count(&error) != MC_ERROR_MISUSE) return 2;
                    printf(": %s\n", error.message);
                    return mc_disable_memory_count(NULL) == MC_OK;
                }
                """#
        try program.write(to: folder.url.appending(path: "main.c"), atomically: true, encoding: .utf8)
        try run("make -s -j4 install PREFIX='\(folder.path)/usr' DESTDIR=")
        let flags = "$(PKG_CONFIG_PATH='\(folder.path)/usr/lib/pkgconfig' pkg-config --cflags --libs MobileCore)"
        try run("$C -std=c17 -Wall -Wextra -Werror '\(folder.path)/main.c' \(flags) -o '\(folder.path)/program'")
        let refusal = ": SQLite is in use already: turn off its count of memory before the first database is opened\n"
        #expect(try run("'\(folder.path)/program'") == "0" + refusal)
        #expect(try Int(run("'\(folder.path)/program' counted").prefix { $0 != ":" }) ?? 0 >= 1000)
    }

    @Test(arguments: ["C", "CLANG"])
    func `every header stands alone, in C and in C++, and warns who does not look at a status`(compiler: String) throws {
        let headers = try ["MobileCore", "MobileCoreTrees"].flatMap { library in
            try FileManager.default.contentsOfDirectory(atPath: Repository.root.appending(path: "CSupport/\(library)/include").path)
        }.filter { $0.hasSuffix(".h") }.sorted()
        #expect(headers.contains("MobileCore.h") && headers.contains("mc_message_tree.h"))
        // A file for each header. A compiler takes them in one call, and each by itself.
        let folder = try TemporaryDirectory()
        for header in headers {
            try "#include <\(header)>\nextern int used;\n".write(toFile: folder.file(header + ".c"), atomically: false, encoding: .utf8)
        }
        let files = headers.map { "'\(folder.file($0 + ".c"))'" }.joined(separator: " ")
        for language in ["c -std=c17", "c++ -std=c++11 -Wold-style-cast"] {
            try run("$\(compiler) -x \(language) -Wall -Wextra -Wpedantic -Werror -fsyntax-only \(Self.include) \(files)")
            let careless = "#include <MobileCore.h>\nvoid careless(mc_pool *pool);\nvoid careless(mc_pool *pool) { mc_pool_close(pool, 0); }"
            let error = #expect(throws: Failure.self) {
                try run("printf '%s\\n' '\(careless)' | $\(compiler) -x \(language) -Werror -S \(Self.include) - -o /dev/null")
            }
            #expect(error?.output.contains("unused-result") == true)
        }
    }

    private static let include = "-ICSupport/MobileCore/include -ICSupport/MobileCoreTrees/include"
    /// The system's compilers, or those of the Swift toolchain on systems without compilers.
    private static let compilers =
        #"PATH="$PATH:$(.ci/find-swift)"; C=$(command -v cc || echo clang); CXX=$(command -v c++ || echo clang++); CLANG=clang; "#

    private struct Failure: Error {
        let output: String
    }

    /// Runs a shell command in the root of the package. Returns its output.
    @discardableResult
    private func run(_ line: String) throws -> String {
        // Each search for the Swift toolchain leaves an empty directory among the temporary files.
        let leftovers = try TemporaryDirectory()
        let (status, text) = try Program.run(URL(filePath: "/bin/sh"), ["-c", Self.compilers + line]) { process in
            process.currentDirectoryURL = Repository.root
            var environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("MAKE") && $0.key != "MFLAGS" }
            environment["TMPDIR"] = leftovers.path
            process.environment = environment
        }
        guard status == 0 else { throw Failure(output: "\(line)\n\(text)") }
        return text
    }
}
