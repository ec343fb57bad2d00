import MobileStore

/// Objects in the order of a query. A value: adding to a copy leaves the original as it was. SMP 2.3: `SUPObjectList`, `<MBO>List`.
public struct EntityList<Element: Entity>: RandomAccessCollection, ExpressibleByArrayLiteral {
    private var objects: [Element]

    /// An empty list. SMP 2.3: `newInstance`.
    ///
    ///     var active = EntityList<Customer>()
    ///     for customer in try Customer.findAll(in: crm) where customer.active { active.append(customer) }
    public init() { objects = [] }

    /// A list of objects in memory.
    ///
    ///     let large = EntityList(try Customer.findAll(in: crm).filter { $0.creditLimit > 1000 })
    ///     print("\(large.count) large customers")
    public init(_ objects: [Element]) { self.objects = objects }
    public init(arrayLiteral elements: Element...) { objects = elements }

    public var startIndex: Int { 0 }
    /// Behind the last position; the number of objects.
    public var endIndex: Int { objects.count }
    /// SMP 2.3: `item:`.
    public subscript(index: Int) -> Element { objects[index] }

    /// Adds an object at the end; nothing is written. SMP 2.3: `add:`.
    ///
    ///     var shown = try Customer.findByCity(city: "Cork", in: crm)
    ///     for customer in try Customer.findByCity(city: "Dublin", in: crm) { shown.append(customer) }
    public mutating func append(_ object: Element) { objects.append(object) }
}

/// What tells objects of a list apart: the row, or for an object that is not saved yet the object itself.
public struct EntityID: Sendable, Hashable {
    private let entity: Int
    private let surrogateKey: Int64
    /// Of an object without a row.
    private let unsaved: ObjectIdentifier?

    init(_ object: Entity) {
        entity = object.metadata.index
        surrogateKey = object.surrogateKey
        unsaved = object.isNew ? ObjectIdentifier(object) : nil
    }
}

extension Entity: Identifiable {
    /// Equal for two objects of one row; another one before the object is saved.
    public final var id: EntityID { EntityID(self) }
}
