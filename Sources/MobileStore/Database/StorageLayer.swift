/// One layer of storage between the database and the operating system, such as encryption; other modules make
/// them. ``ConnectionProfile/storageLayers`` says which are used, and in which order.
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

    /// Puts the layers on one another, the topmost first, and returns the name of the topmost one; `nil` without layers.
    static func register(_ layers: [StorageLayer]) throws(StoreError) -> String? {
        var base: String?
        for layer in layers.reversed() { base = try layer.register(base) }
        return base
    }
}
