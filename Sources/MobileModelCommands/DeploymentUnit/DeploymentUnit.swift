public import Foundation
public import MobileModel

/// A deployment unit of the original platform, converted to a package model by `mobile generate --from deployment_unit.xml`.
///
/// Names, types, lengths, keys, queries, default operations and synchronization parameters are carried over. The unit's access to its back
/// end (connection profiles, stored functions, server code) has no counterpart: tables are assumed to have the names of the entities. For
/// all other parts, ``remarks`` gives the place in the unit and the necessary action.
public struct DeploymentUnit: Sendable {
    /// The converted model, which is valid.
    public let model: PackageModel
    /// The parts that could not be carried over and the assumptions, in the order of the unit.
    public let remarks: [Remark]

    /// A part of the unit that the model lacks or has in another form.
    public struct Remark: Sendable, Equatable, CustomStringConvertible {
        /// The unit's line, from 1.
        public let line: Int
        /// The part, such as `entity Customer, index byCity`.
        public let place: String
        /// The treatment of the part, and the necessary action.
        public let text: String

        /// `line 12: entity Customer, index byCity: ...`
        public var description: String { "line \(line): \(place): \(text)" }
    }

    /// A unit that cannot be converted.
    public struct Failure: LocalizedError, CustomStringConvertible {
        /// The unit's file as it was given.
        public let file: String
        /// The line with the error, from 1.
        public let line: Int
        /// The error, for people.
        public let cause: String

        /// For compilers and editors, which jump to the place.
        public var description: String { "\(file):\(line): error: \(cause)" }
        /// The description.
        public var errorDescription: String? { description }
        /// The error.
        public var failureReason: String? { cause }
        /// The remedy.
        public var recoverySuggestion: String? { "Correct the element at the line in the unit, or remove it and add its counterpart to the model." }
    }

    /// Converts the unit in the file at `url`. A file named `sup-db.xml` is the unit of a package for the data orchestration engine: the files
    /// `afx-esdma.xml` and `ds-doe.xml` must be in its directory, and the model's synchronization is messaging.
    /// - Throws: ``Failure`` if the text is not a unit or one of these files is missing; ``ModelError`` if the unit does not describe a valid
    ///   model; an error of the file system.
    public init(contentsOf url: URL) throws {
        let isMessaging = url.lastPathComponent == "sup-db.xml"
        if isMessaging {
            for name in ["afx-esdma.xml", "ds-doe.xml"] {
                let path = url.deletingLastPathComponent().appending(path: name).path
                guard FileManager.default.fileExists(atPath: path) else {
                    throw Failure(file: url.relativePath, line: 1, cause: "\(name) is not next to it; convert the bundle again")
                }
            }
        }
        try self.init(Data(contentsOf: url), file: url.relativePath, synchronization: isMessaging ? .messaging : .replication)
    }

    /// Converts the unit whose text is `data`.
    /// - Parameters:
    ///   - file: the unit's name in errors.
    ///   - synchronization: how the package's data travels; the unit does not contain it.
    /// - Throws: ``Failure`` if the text is not a unit; ``ModelError`` if the unit does not describe a valid model.
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
            throw Failure(file: file, line: root.line, cause: "the root is <\(root.name)>, not <package>: this is not a deployment unit")
        }
        var converter = UnitConverter(root, synchronization: synchronization)
        (model, remarks) = try converter.converted()
    }
}
