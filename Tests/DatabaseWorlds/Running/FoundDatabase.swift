package import Foundation

/// A database that failed once, in the form in which `Found` keeps it.
package struct FoundDatabase: Codable, Sendable {
    /// The known fault that it shows; nil once the fault is repaired.
    package var fault: String?
    /// The failure.
    package var kind: DatabaseFailure.Kind
    package var text: String
    /// The known faults that it kept away from when it was found.
    package var avoided: [String]
    package var world: DatabaseWorld

    /// A database that fails with `failure`.
    package init(_ world: DatabaseWorld, _ failure: DatabaseFailure, avoiding avoided: Set<DatabaseFault>) {
        (fault, kind, text, self.world) = (nil, failure.kind, failure.text, world)
        self.avoided = avoided.map(\.rawValue).sorted()
    }

    /// Runs it again.
    package func run() -> DatabaseRun {
        DatabaseRun(world, avoiding: Set(avoided.compactMap { DatabaseFault(rawValue: $0) }), compiles: kind == .notCompiled)
    }

    /// The text of its file.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads a file.
    package init(contentsOf url: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url))
        try world.check()
        if let fault, DatabaseFault(rawValue: fault) == nil { throw DatabaseWorld.Misfit(description: "there is no known fault \(fault)") }
    }
}
