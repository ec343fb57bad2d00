import Foundation
import MobileStore

/// Notices that a database file is a copy, or was replaced by an earlier state of itself, when it is opened.
///
/// A small file next to the database, its mark, names the database and the number of times that it was opened. A copy has no mark, or that of another
/// file; a restored backup has been opened fewer times than its mark says.
///
///     database   mark          the database
///     x, 7       x, 7          goes on
///     x, 8       x, 7          goes on: the process was killed between the two
///     x, 7       x, 9          is an earlier state, from a backup
///     x, 7       none          is a copy
///     none       any           is of an earlier release, or new
///
/// A copy together with its mark, such as an image of a whole device, is noticed by the server's answer.
///
/// **A mark that cannot be read proves nothing.** The database continues, with a warning, and gets a new mark. If you break it: a damaged file gives the
/// database another identity at each open, and its unsent rows other keys.
struct CopyNotice {
    let database: PackageDatabase
    let path: String

    /// The end of the name of the mark.
    static let suffix = "-mark"

    /// The content of the mark.
    private struct Mark: Codable, Equatable {
        var name: String
        var opened: Int64
        /// The number of the database file on its disk, which a copy does not share.
        var file: UInt64?
    }

    /// Compares database and mark, gives a copy its new identity, and counts this open.
    func check(_ store: Database) throws {
        // A storage layer may keep the database elsewhere.
        guard FileManager.default.fileExists(atPath: path) else { return }
        let found = readMark(), file = fileNumber
        let mark: Mark? = if case .mark(let mark) = found { mark } else { nil }
        let next = try store.write(label: "identity of \(database.metadata.name)") { connection in
            let settings = PackageSettings(connection)
            let name = try settings.text(.mark), opened = try settings.integer(.opened) ?? 0
            var isNew = name == nil || mark?.name != name
            if let name {
                if case .unreadable(let error) = found {
                    isNew = false
                    database.environment.console.warn(
                        "the mark \"\(path + Self.suffix)\" cannot be read (\(error)); the database continues as it is, and gets a new mark")
                } else if !isGoingOn(Mark(name: name, opened: opened, file: file), mark) {
                    try Transaction(connection, of: database).changeIdentity()
                }
            }
            let next = Mark(name: isNew ? database.environment.randomGUID() : name ?? "", opened: max(opened, mark?.opened ?? 0) + 1, file: file)
            try settings.set(.mark, .text(next.name))
            try settings.set(.opened, .integer(next.opened))
            return next
        }
        // Afterwards: a process that ends in between leaves a database that was opened once more than its mark says.
        do { try JSONEncoder().encode(next).write(to: URL(filePath: path + Self.suffix), options: .atomic) } catch {
            // Not counted: a mark that cannot be written at two opens must not make an earlier state of the database.
            try store.write(label: "identity of \(database.metadata.name)") { try PackageSettings($0).set(.opened, .integer(next.opened - 1)) }
            throw ObjectError(.store, "write \"\(path + Self.suffix)\": \(error.localizedDescription)", cause: error)
        }
    }

    private func isGoingOn(_ own: Mark, _ mark: Mark?) -> Bool {
        guard let mark, mark.name == own.name else { return false }
        return (mark.file == nil || own.file == nil || mark.file == own.file) && (mark.opened...mark.opened + 1).contains(own.opened)
    }

    private enum Found {
        case none
        case unreadable(String)
        case mark(Mark)
    }

    private func readMark() -> Found {
        let url = URL(filePath: path + Self.suffix)
        guard FileManager.default.fileExists(atPath: url.path) else { return .none }
        do { return .mark(try JSONDecoder().decode(Mark.self, from: Data(contentsOf: url))) } catch { return .unreadable(error.localizedDescription) }
    }

    private var fileNumber: UInt64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: path)
        return (attributes?[.systemFileNumber] as? NSNumber)?.uint64Value
    }
}
