/// Folders of sources in an order, and the uses against that order. Each folder may use those before it.
struct FolderOrder {
    struct File {
        /// `Folder/File.swift`, from the module's directory.
        let path: String
        let source: SwiftSource
        var folder: String { String(path.prefix { $0 != "/" }) }

        init(_ path: String, _ text: String) { (self.path, source) = (path, SwiftSource(text)) }
    }

    /// A use of a name that a folder further on declares.
    struct Upward: Hashable, CustomStringConvertible {
        let path: String
        let line: Int
        let name: String
        let declaredIn: String

        var description: String { "\(path):\(line) uses \(name) of \(declaredIn)" }
    }

    private let ranks: [String: Int]
    private let folders: [String]
    private let files: [File]

    init(_ folders: [String], _ files: [File]) {
        self.folders = folders
        ranks = Dictionary(uniqueKeysWithValues: zip(folders, 0...))
        self.files = files
    }

    /// Mentions of types against the order.
    var types: [Upward] { uses(of: lowest(Self.declaredTypes)) { $0.before != UInt8(ascii: ".") } }

    /// Returns mentions of functions, properties and cases that are only declared further on. Only compound names are searched: one word has too many
    /// meanings.
    /// - Parameter known: names that modules below have as well.
    func members(knownBelow known: Set<String>) -> [Upward] {
        uses(of: lowest(Self.declaredMembers).filter { !known.contains($0.key) }) { word in
            word.text.first?.isLowercase == true && word.text.contains(where: \.isUppercase)
        }
    }

    private func uses(of owners: [String: Int], _ isUse: (SwiftSource.Word) -> Bool) -> [Upward] {
        files.flatMap { file in
            file.source.words.compactMap { word in
                guard isUse(word), let owner = owners[word.text], let own = ranks[file.folder], owner > own else { return nil }
                return Upward(path: file.path, line: word.line, name: word.text, declaredIn: folders[owner])
            }
        }
    }

    /// Returns the first folder that declares each name.
    private func lowest(_ names: (SwiftSource) -> [String]) -> [String: Int] {
        var owners: [String: Int] = [:]
        for file in files {
            guard let rank = ranks[file.folder] else { continue }
            for name in names(file.source) { owners[name] = min(owners[name] ?? rank, rank) }
        }
        return owners
    }

    /// Returns the top-level types that other files can name.
    private static func declaredTypes(_ source: SwiftSource) -> [String] {
        let kinds: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
        var names: [String] = [], isPrivate = false
        for (word, next) in zip(source.words, source.words.dropFirst()) where word.depth == 0 {
            // The words of a declaration before its kind are on one line.
            isPrivate = word.text == "private" || word.text == "fileprivate" || isPrivate && word.line == next.line
            guard kinds.contains(word.text), next.text.first?.isUppercase == true else { continue }
            if !isPrivate { names.append(next.text) }
            isPrivate = false
        }
        return names
    }

    /// Returns all names with a small first letter that are declared, including local names, labels and parameters.
    private static func declaredMembers(_ source: SwiftSource) -> [String] {
        let kinds: Set = ["func", "var", "let", "case"]
        var names: [String] = [], listLine = 0
        for (index, word) in source.words.enumerated() {
            let before = index > 0 ? source.words[index - 1].text : ""
            if kinds.contains(word.text) { listLine = word.line }
            let isLabel = word.after == UInt8(ascii: ":")
            let hasLabel = index + 1 < source.words.count && source.words[index + 1].after == UInt8(ascii: ":") && Self.isLetter(word.after)
            let isListed = word.before == UInt8(ascii: ",") && word.line == listLine
            if kinds.contains(before) || isLabel || hasLabel || isListed { names.append(word.text) }
        }
        return names
    }

    private static func isLetter(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "_") || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
}
