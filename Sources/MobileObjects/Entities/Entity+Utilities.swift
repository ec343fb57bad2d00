public import MobileStore

extension Entity: CustomStringConvertible {
    /// The full row as text for people: key, state and attributes. SMP 2.3: `description`.
    public final var description: String {
        let state = "\(pendingChange.letter)\(isDirty ? ", changed" : "")"
        let values = metadata.attributes.map { "\($0.name): \($0.isLarge ? "(large)" : value(ofAttribute: $0.index).description)" }
        return "\(metadata.name) \(isNew ? "new" : keyToString()) [\(state)] \(values.joined(separator: ", "))"
    }

    /// Returns the attributes as a JSON object, in the order of the model, without large ones. SMP 2.3: `json:`.
    ///
    ///     let attributes = try customer.json()
    ///     print(JSONValue.object(attributes))
    ///
    /// - Throws: ``ObjectError/Code/invalidValue`` when an attribute has a value that it cannot have.
    public final func json() throws -> JSONObject {
        JSONObject(
            uniqueKeys: try metadata.attributes.filter { !$0.isLarge }.map { ($0.name, $0.storage.json(try storedValue($0.index))) })
    }

    /// Copies all attributes of another object of the class, except large ones, and the objects that it refers to. Surrogate key, state and lists stay,
    /// and so does the partner in a one-to-one relationship, unless its key is among the attributes. SMP 2.3: `copyAll:`.
    ///
    ///     let copy = Customer(in: crm)
    ///     try copy.copyAll(customer)
    ///     copy.name = "Harbour Foods, second shop"
    ///     try copy.create()
    ///
    /// - Throws: ``ObjectError/Code/misuse`` when the other one is of another class, ``ObjectError/Code/invalidValue``.
    public final func copyAll(_ other: Entity) throws {
        guard other.metadata.name == metadata.name else {
            throw ObjectError(.misuse, "copyAll: a \(other.metadata.name) cannot be copied into a \(metadata.name)")
        }
        for attribute in metadata.attributes where !attribute.isLarge {
            try setValue(other.value(ofAttribute: attribute.index), ofAttribute: attribute.index)
        }
        copyReferences(of: other)
    }

    /// Returns the surrogate key as text, in the form of the rows' keys in log records. SMP 2.3: `keyToString`.
    ///
    ///     let file = folder.appending(path: "customer-\(customer.keyToString()).json")
    ///     try JSONEncoder().encode(customer).write(to: file)
    public final func keyToString() -> String { String(surrogateKey) }

    /// Returns an attribute as bound to a statement.
    final func storedValue(_ index: Int) throws -> Value {
        let value = value(ofAttribute: index)
        guard let stored = metadata.attributes[index].storage.stored(value) else { throw badValue(value, index) }
        return stored
    }
}
