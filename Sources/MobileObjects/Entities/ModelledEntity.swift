public import Foundation

/// What every generated class is: an object of one package with its class's metadata. The finders below come with it.
public protocol ModelledEntity: Entity, DecodableWithConfiguration where DecodingConfiguration == Package {
    /// The generated database class.
    associatedtype Package: PackageDatabase
    /// What is known about the class.
    static var metadata: EntityMetadata { get }
}

extension ModelledEntity {
    /// A new object, not in the database: `isNew` is true. SMP 2.3: `getInstance`, `init`.
    ///
    ///     let customer = Customer(in: crm)
    ///     customer.name = "Quay Books"
    ///     print(customer.isNew)  // true until `create()` or `save()`
    public init(in package: Package) {
        self.init(context: EntityContext(package, Self.metadata))
    }
}
