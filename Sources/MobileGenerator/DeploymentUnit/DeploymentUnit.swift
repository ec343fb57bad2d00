public import Foundation
public import MobileModel

/// A deployment unit of the original platform, converted to a package model: what `mobile generate --from deployment_unit.xml` does.
///
/// Names, types, lengths, keys, queries, default operations and synchronization parameters are carried over. How a unit reaches its
/// back end (connection profiles, stored functions, server code) has no counterpart: tables are assumed to be named as the
/// entities, and ``remarks`` says for everything else where it stood and what to do about it.
public struct DeploymentUnit: Sendable {
    /// The converted model; valid.
    public let model: PackageModel
    /// What could not be carried over, or was assumed, in the order of the unit.
    public let remarks: [Remark]

    /// Something of the unit that the model does not have as it was.
    public struct Remark: Sendable, Equatable, CustomStringConvertible {
        /// The unit's line, from 1.
        public let line: Int
        /// What it belongs to, such as `entity Customer, index byCity`.
        public let place: String
        /// What happened to it, and what to do.
        public let text: String

        /// `line 12: entity Customer, index byCity: ...`
        public var description: String { "line \(line): \(place): \(text)" }
    }

    /// A unit that cannot be converted.
    public struct Failure: Error, CustomStringConvertible {
        /// The unit's file as it was given.
        public let file: String
        /// The line that is at fault, from 1.
        public let line: Int
        /// What is wrong.
        public let cause: String

        /// For compilers and editors, which jump to the place.
        public var description: String { "\(file):\(line): error: \(cause)" }
    }

    /// The unit in the file at `url`. A file named `sup-db.xml` is the unit of a package for the data orchestration engine: the files
    /// `afx-esdma.xml` and `ds-doe.xml` must stand beside it, and the model's synchronization is messaging.
    /// - Throws: ``Failure`` where the text is no unit or a file beside it is missing; ``ModelError`` where what it describes makes no
    ///   valid model; an error of the file system.
    public init(contentsOf url: URL) throws {
        let isMessaging = url.lastPathComponent == "sup-db.xml"
        if isMessaging {
            for name in ["afx-esdma.xml", "ds-doe.xml"] {
                let path = url.deletingLastPathComponent().appending(path: name).path
                guard FileManager.default.fileExists(atPath: path) else {
                    throw Failure(file: url.relativePath, line: 1, cause: "\(name) is not beside it; convert the bundle again")
                }
            }
        }
        try self.init(Data(contentsOf: url), file: url.relativePath, synchronization: isMessaging ? .messaging : .replication)
    }

    /// The unit whose text is `data`.
    /// - Parameters:
    ///   - file: what errors call it.
    ///   - synchronization: how the package's data travels; the unit does not say it.
    /// - Throws: ``Failure`` where the text is no unit; ``ModelError`` where what it describes makes no valid model.
    public init(
        _ data: Data, file: String = "deployment_unit.xml", synchronization: PackageModel.Synchronization = .replication
    ) throws {
        let root: XMLElementNode
        do {
            root = try XMLTreeReader.root(of: data)
        } catch {
            throw Failure(file: file, line: error.line, cause: error.cause)
        }
        guard root.name == "package" else {
            throw Failure(file: file, line: root.line, cause: "the root is <\(root.name)>, not <package>: this is no deployment unit")
        }
        var converter = UnitConverter(root, synchronization: synchronization)
        (model, remarks) = try converter.converted()
    }
}
