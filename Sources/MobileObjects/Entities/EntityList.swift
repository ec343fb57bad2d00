import MobileStore

/// Objects in the order of a query. The list is a value: adding to a copy leaves the original unchanged. SMP 2.3: `SUPObjectList`, `<MBO>List`.
public struct EntityList<Element: Entity>: RandomAccessCollection, ExpressibleByArrayLiteral {
    private var objects: [Element]

    /// Creates an empty list. SMP 2.3: `newInstance`.
    ///
    ///     var active = EntityList<Customer>()
    ///     for customer in try Customer.findAll(in: crm) where customer.active { active.append(customer) }
    public init() { objects = [] }

    /// Creates a list of objects in memory.
    ///
    ///     let large = EntityList(try Customer.findAll(in: crm).filter { $0.creditLimit > 1000 })
    ///     print("\(large.count) large customers")
    public init(_ objects: [Element]) { self.objects = objects }
    public init(arrayLiteral elements: Element...) { objects = elements }

    public var startIndex: Int { 0 }
    /// The position after the last one; the number of objects.
    public var endIndex: Int { objects.count }
    /// Returns an object by its position. SMP 2.3: `item:`.
    public subscript(index: Int) -> Element { objects[index] }

    /// Adds an object at the end of the list in memory. SMP 2.3: `add:`.
    ///
    ///     var shown = try Customer.findByCity(city: "Cork", in: crm)
    ///     for customer in try Customer.findByCity(city: "Dublin", in: crm) { shown.append(customer) }
    public mutating func append(_ object: Element) { objects.append(object) }
}

/// The identity of an object in a list: the row, or for an unsaved object the object itself.
public struct EntityID: Sendable, Hashable {
    private let entity: Int
    private let surrogateKey: Int64
    /// The object itself where it has no row.
    private let unsaved: ObjectIdentifier?

    init(_ object: Entity) {
        entity = object.metadata.index
        surrogateKey = object.surrogateKey
        unsaved = object.isNew ? ObjectIdentifier(object) : nil
    }
}

extension Entity: Identifiable {
    /// The identity, equal for two objects of one row. An object gets another one when it is saved.
    public final var id: EntityID { EntityID(self) }
}
