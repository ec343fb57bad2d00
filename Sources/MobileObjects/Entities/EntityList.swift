import MobileStore

/// Objects in the order of a query. A value: adding to a copy leaves the original as it was. SMP 2.3: `SUPObjectList`, `<MBO>List`.
public struct EntityList<Element: Entity>: RandomAccessCollection, ExpressibleByArrayLiteral {
    private var objects: [Element]

    /// An empty list. SMP 2.3: `newInstance`.
    public init() { objects = [] }
    /// A list of objects in memory.
    public init(_ objects: [Element]) { self.objects = objects }
    public init(arrayLiteral elements: Element...) { objects = elements }

    public var startIndex: Int { 0 }
    /// Behind the last position; the number of objects.
    public var endIndex: Int { objects.count }
    /// SMP 2.3: `item:`.
    public subscript(index: Int) -> Element { objects[index] }
    /// Adds an object at the end; nothing is written. SMP 2.3: `add:`.
    public mutating func append(_ object: Element) { objects.append(object) }
}
