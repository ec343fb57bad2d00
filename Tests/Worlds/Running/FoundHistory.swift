package import Foundation

/// A history that failed once, in the form in which `Found` keeps it.
package struct FoundHistory: Codable, Sendable {
    /// The known fault that it shows; nil once the fault is repaired.
    package var fault: String?
    /// The failure.
    package var kind: WorldFailure.Kind
    package var text: String
    /// The known faults that it kept away from when it was found.
    package var avoided: [String]
    /// Where it had its back end and state.
    package var stores: Stores?
    package var world: World

    /// A history that fails with `failure`.
    package init(_ world: World, _ failure: WorldFailure, avoiding avoided: Set<KnownFault>, in stores: Stores) {
        (fault, kind, text, self.world) = (nil, failure.kind, failure.text, world)
        self.stores = stores == .sqlite ? nil : stores
        self.avoided = avoided.map(\.rawValue).sorted()
    }

    /// Runs it again; one with processes until it fails, some times at most.
    package func run() async -> WorldRun {
        let avoided = Set(avoided.compactMap { KnownFault(rawValue: $0) }), stores = stores ?? .sqlite
        return await WorldRun.repeated(world, avoiding: avoided, in: stores)
    }

    /// The text of its file.
    package func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        return try encoder.encode(self)
    }

    /// Reads a file.
    package init(contentsOf url: URL) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: url))
        try world.check()
        if let fault, KnownFault(rawValue: fault) == nil { throw World.Misfit(description: "there is no known fault \(fault)") }
    }
}
