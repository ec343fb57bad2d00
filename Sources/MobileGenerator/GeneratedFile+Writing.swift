public import Foundation
import MobileModel

extension PackageGenerator {
    /// The reason why no file is generated.
    private struct Refusal: Error, CustomStringConvertible { let description: String }

    /// Returns the lines for people about an error of reading a model or of writing its classes, in the form of compiler messages where it has a place.
    public static func diagnostics(of error: any Error) -> [String] {
        if let error = error as? ModelError { return error.problems.map(\.diagnostic) }
        return ["error: \(error is CocoaError ? error.localizedDescription : "\(error)")"]
    }

    /// Refuses a model without objects.
    /// - Throws: an error with the name of the model's file.
    public func requireObjects() throws {
        guard !model.objects.isEmpty else { throw Refusal(description: "\(source): there is no object to generate") }
    }

    /// Writes all files into `directory`, which is created if it is missing.
    /// - Parameter progress: called after each object with the number of objects that are done, and of all.
    /// - Returns: the files in the order of the model, each with whether it was written: see ``GeneratedFile/write(to:)``.
    /// - Throws: an error for a model without objects, and errors of the file system.
    @discardableResult
    public func write(to directory: URL, progress: (Int, Int) -> Void) throws -> [(file: GeneratedFile, isWritten: Bool)] {
        try requireObjects()
        do {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            return try makeFiles(progress: progress).map { ($0, try $0.write(to: directory)) }
        } catch let error as CocoaError {
            // Some of these errors name neither a file nor a reason.
            throw Refusal(description: "\(directory.path): the classes cannot be written into this folder: \(error.localizedDescription)")
        }
    }
}

extension GeneratedFile {
    /// Writes the file into `directory`, unless a file with the same bytes exists: an unchanged file is not compiled again.
    /// - Returns: whether it was written.
    /// - Throws: an error of the file system.
    @discardableResult
    public func write(to directory: URL) throws -> Bool {
        let url = directory.appending(path: name)
        let data = Data(text.utf8)
        if let present = try? Data(contentsOf: url), present == data { return false }
        try data.write(to: url, options: .atomic)
        return true
    }

    /// Removes the generated files of `directory` that are not among `files`, such as the file of a removed object. A file without the
    /// generator's marker at its beginning is left alone.
    /// - Returns: the names of the files removed.
    /// - Throws: an error of the file system.
    public static func removeOthers(than files: [GeneratedFile], in directory: URL) throws -> [String] {
        let current = Set(files.map(\.name))
        var removed: [String] = []
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        where name.hasSuffix(".swift") && !current.contains(name) {
            let url = directory.appending(path: name)
            guard try Data(contentsOf: url).starts(with: Data("// \(PackageGenerator.marker)".utf8)) else { continue }
            try FileManager.default.removeItem(at: url)
            removed.append(name)
        }
        return removed
    }
}
