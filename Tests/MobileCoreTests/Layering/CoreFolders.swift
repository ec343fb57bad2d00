import Foundation

/// The folders of the C core in their order, its files, and violations of the order. The rules are in `CSupport/MobileCore/README.md`.
struct CoreFolders {
    /// The folders by level, the lowest one first; folders of one level do not include each other's headers.
    let levels: [[String]]
    /// The contents of the files by path from the core's folder.
    let files: [String: String]
    private let functions: [String: [Function]]

    /// `readme` has a table whose first cells name the folders.
    init(readme: String, files: [String: String]) {
        levels = readme.split(separator: "\n").filter { $0.hasPrefix("| `") }.map { row in
            row.split(separator: "|")[0].split(separator: "`").map(String.init).filter { $0.contains(where: \.isLetter) }
        }
        self.files = files
        functions = files.mapValues(Self.functions)
    }

    /// Reads the folders on the disk.
    init(at root: URL) throws {
        var files: [String: String] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: root.path) where path.hasSuffix(".c") || path.hasSuffix(".h") {
            files[path] = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        }
        self.init(readme: try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8), files: files)
    }

    /// Returns a sentence for each violation of the rules.
    func violations() -> [String] {
        var found = placeViolations()
        let owners = ownersOfPublicHeaders(&found)
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            for line in text.split(separator: "\n").map({ $0.drop { $0 == " " } }) where line.hasPrefix("#") && line.contains("include") {
                if let problem = problem(of: line, in: path, owners: owners) { found.append("\(path): \(line) \(problem)") }
            }
            if folder(path) != "include" { found += undefinedDeclarations(in: path) }
        }
        return found
    }

    /// Checks that every file is in a folder of the table or in `include`, and that every folder has files.
    private func placeViolations() -> [String] {
        let named = levels.flatMap(\.self), used = Set(files.keys.map(folder))
        let twice = Set(named.filter { name in named.count { $0 == name } > 1 })
        return used.subtracting(named + ["include"]).sorted().map { "\($0) has no place in the order" }
            + Set(named).subtracting(used).sorted().map { "\($0) has no files" } + twice.sorted().map { "\($0) has two places in the order" }
    }

    private func folder(_ path: String) -> String { String(path.split(separator: "/").dropLast().joined(separator: "/")) }

    private func level(_ folder: String) -> Int? { levels.firstIndex { $0.contains(folder) } }

    /// Returns the folder of each public header.
    private func ownersOfPublicHeaders(_ violations: inout [String]) -> [String: String] {
        var definitions: [String: Set<String>] = [:]
        for (path, functions) in functions where path.hasSuffix(".c") {
            for function in functions where function.isDefined { definitions[function.name, default: []].insert(folder(path)) }
        }
        var owners: [String: String] = [:]
        for (path, functions) in functions.sorted(by: { $0.key < $1.key }) where folder(path) == "include" {
            var lowest = Set<String>()
            for name in functions.map(\.name) {
                let places = (definitions[name] ?? []).union(lowest)
                if definitions[name] == nil { violations.append("\(path): nobody defines \(name)") }
                guard let least = places.compactMap(level).min() else { continue }
                lowest = places.filter { level($0) == least }
            }
            if lowest.count > 1 { violations.append("\(path) belongs to \(lowest.sorted().joined(separator: " and "))") }
            owners[String(path.dropFirst("include/".count))] = lowest.min() ?? levels.first?.first
        }
        return owners
    }

    /// Returns the problem of an include; nil for a correct one. Headers of the system and of libraries are in angle brackets.
    private func problem(of line: Substring, in path: String, owners: [String: String]) -> String? {
        let umbrella = "MobileCore.h"
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        guard parts.count == 3 else { return line.contains("<mc_") || line.contains("<\(umbrella)") ? "is a header of the core" : nil }
        let header = String(parts[1])
        guard path != "include/\(umbrella)" else { return owners[header] == nil ? "is not public" : nil }
        guard header != umbrella else { return "is for programs" }
        let isPublic = owners[header] != nil
        guard isPublic || files[header] != nil, let target = isPublic ? owners[header] : folder(header) else { return "does not exist" }
        guard let own = folder(path) == "include" ? owners[String(path.dropFirst("include/".count))] : folder(path),
            let from = level(own), let to = level(target)
        else { return "has no place in the order" }
        guard folder(path) != "include" || isPublic else { return "is not public" }
        return own == target || to < from ? nil : "goes up from \(own) to \(target)"
    }

    /// Finds functions that are declared outside of the folder that defines them: such a declaration avoids the include.
    private func undefinedDeclarations(in path: String) -> [String] {
        let declared = functions[path, default: []].filter { !$0.isDefined }.map(\.name)
        let own = functions.filter { $0.key.hasSuffix(".c") && folder($0.key) == folder(path) }.flatMap(\.value)
        let defined = Set(own.filter(\.isDefined).map(\.name))
        return declared.filter { !defined.contains($0) }.map { "\(path) declares \($0), which \(folder(path)) does not define" }
    }

    private struct Function {
        let name: String
        let isDefined: Bool
    }

    /// Finds the functions of a file that are not static, in the formatter's style: from the beginning of a line to a semicolon, or to a
    /// brace on a separate line.
    private static func functions(_ text: String) -> [Function] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        var found: [Function] = []
        for (index, line) in lines.enumerated() {
            guard let first = line.utf8.first, first == UInt8(ascii: "_") || (first | 0x20) >= UInt8(ascii: "a"), first < 0x80 else { continue }
            guard !line.hasPrefix("static"), !line.hasPrefix("typedef"), let open = line.firstIndex(of: "(") else { continue }
            let name = line[..<open].split { !($0.isLetter || $0.isNumber || $0 == "_") }.last ?? ""
            guard name.hasPrefix("mc_"), name.endIndex == open, !line[..<open].contains("=") else { continue }
            let end = lines[index...].first { $0 == "{" || $0.split(separator: "  ///")[0].hasSuffix(";") }
            found.append(Function(name: String(name), isDefined: end == "{"))
        }
        return found
    }
}
