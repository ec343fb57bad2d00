internal import MobileCore

/// One layer of storage between the database and the operating system, such as coalesced writes or encryption; other modules
/// make more of them. ``ConnectionProfile/storageLayers`` says which are used, and in which order.
public struct StorageLayer: Sendable, CustomStringConvertible {
    /// What the layer does, for people.
    public let description: String

    /// Registers the layer with SQLite over the VFS of the name it is given (`nil`: the operating system's) and returns its own name.
    package let register: @Sendable (_ base: String?) throws(StoreError) -> String

    /// A layer that `register` puts on top of the one below it. It is called each time a database is opened.
    package init(_ description: String, register: @escaping @Sendable (_ base: String?) throws(StoreError) -> String) {
        self.description = description
        self.register = register
    }

    /// Writes to the log in runs of up to 64 KB instead of header by header and page by page, and costs each connection that
    /// writes as much memory. A commit returns only when all of it is in the file: the promises of
    /// ``ConnectionProfile/synchronous`` stay what they are.
    public static let coalescedLogWrites = StorageLayer("coalesced log writes") { base throws(StoreError) in
        var name = [CChar](repeating: 0, count: Int(MC_STORAGE_NAME_SIZE))
        try unsafe StoreError.check { error in
            unsafe withOptionalCString(base) { base in unsafe mc_storage_coalescing(base, &name, error) }
        }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Puts the layers on one another, the topmost first, and returns the name of the topmost one; `nil` without layers.
    static func register(_ layers: [StorageLayer]) throws(StoreError) -> String? {
        var base: String?
        for layer in layers.reversed() { base = try layer.register(base) }
        return base
    }
}
