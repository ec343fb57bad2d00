import Foundation

/// One rule that the project wants a test for.
struct ChecklistRow: Equatable {
    /// The area's code and a number, such as `PND-03`.
    let id: String
    /// The rule in one line.
    let statement: String
}

/// The rules in the files of a folder, and the sentences about those that belong to another platform.
struct Checklist: Equatable {
    /// The rows in the order of the files' names and of their lines.
    var rows: [ChecklistRow] = []
    /// The replacement of the mechanism of a platform-bound row, by its id.
    var replacements: [String: String] = [:]

    /// The file with the platform-bound rows; all others have rows of their area.
    static let platformBoundFile = "platform-bound.tsv"

    /// Reads every `*.tsv` file of a folder. A line is an id, a tab and a sentence; lines that begin with `#` and empty ones are skipped.
    /// - Throws: ``ChecklistError`` for a line of another form, a duplicate id, or a replacement for a row that does not exist.
    init(folder: URL) throws {
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "tsv" }.sorted { $0.lastPathComponent < $1.lastPathComponent }
        var known: Set<String> = []
        for file in files where file.lastPathComponent != Self.platformBoundFile {
            for (id, sentence) in try Self.lines(of: file) {
                guard known.insert(id).inserted else { throw ChecklistError("\(file.lastPathComponent): \(id) is there twice") }
                rows.append(ChecklistRow(id: id, statement: sentence))
            }
        }
        for file in files where file.lastPathComponent == Self.platformBoundFile {
            for (id, sentence) in try Self.lines(of: file) {
                guard known.contains(id) else { throw ChecklistError("\(file.lastPathComponent): there is no row \(id)") }
                replacements[id] = sentence
            }
        }
    }

    init(rows: [ChecklistRow], replacements: [String: String] = [:]) { (self.rows, self.replacements) = (rows, replacements) }

    private static func lines(of file: URL) throws -> [(String, String)] {
        let text = try String(contentsOf: file, encoding: .utf8)
        var result: [(String, String)] = []
        for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
            guard !line.isEmpty, !line.hasPrefix("#") else { continue }
            let parts = line.split(separator: "\t", maxSplits: 1)
            guard parts.count == 2, let id = RowID.prefix(of: parts[0]), id.endIndex == parts[0].endIndex, !parts[1].isEmpty else {
                throw ChecklistError(
                    "\(file.lastPathComponent), line \(number + 1): expected an id, a tab and a sentence, found \"\(line.prefix(80))\"")
            }
            result.append((String(parts[0]), String(parts[1])))
        }
        return result
    }
}

/// The form of an id: two or three capitals or digits, a hyphen, digits, at most one small letter.
enum RowID {
    /// Returns the id at the beginning of a text; nil without one.
    static func prefix(of text: Substring) -> Substring? {
        let area = text.prefix { ($0.isASCII && $0.isUppercase) || ($0.isASCII && $0.isNumber) }
        guard (2...3).contains(area.count) else { return nil }
        let afterArea = text[area.endIndex...]
        guard afterArea.first == "-" else { return nil }
        let number = afterArea.dropFirst().prefix { $0.isASCII && $0.isNumber }
        guard !number.isEmpty else { return nil }
        var end = number.endIndex
        if end < text.endIndex, text[end].isASCII, text[end].isLowercase { end = text.index(after: end) }
        guard end == text.endIndex || !(text[end].isLetter || text[end].isNumber || text[end] == "-") else { return nil }
        return text[text.startIndex..<end]
    }

    /// Returns all ids at the beginning of a test's name, separated by spaces or commas: `"PND-03 PND-04: cancelPending ..."`.
    static func leading(of name: String) -> [String] {
        var rest = name[...], ids: [String] = []
        while let id = prefix(of: rest) {
            ids.append(String(id))
            rest = rest[id.endIndex...].drop { $0 == " " || $0 == "," }
        }
        return ids
    }
}

/// An error in the input of the checklist.
struct ChecklistError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
