/// A layer of storage between the database and the operating system, such as encryption. Other modules provide layers;
/// ``ConnectionProfile/storageLayers`` lists the layers in use, in order.
public struct StorageLayer: Sendable, CustomStringConvertible {
    /// The purpose of the layer, for messages.
    public let description: String

    /// Registers the layer with SQLite above the VFS named `base` (`nil`: the operating system's) and returns its own name.
    package let register: @Sendable (_ base: String?) throws(StoreError) -> String

    /// Makes a layer that `register` puts above the next lower one. `register` is called each time a database is opened.
    package init(_ description: String, register: @escaping @Sendable (_ base: String?) throws(StoreError) -> String) {
        self.description = description
        self.register = register
    }

    /// Stacks the layers, given from top to bottom, and returns the name of the topmost one; `nil` without layers.
    static func register(_ layers: [StorageLayer]) throws(StoreError) -> String? {
        var base: String?
        for layer in layers.reversed() { base = try layer.register(base) }
        return base
    }
}
