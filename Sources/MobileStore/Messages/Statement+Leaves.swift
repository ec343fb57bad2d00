internal import MobileCore

/// The parameters of a statement that takes the leaves of a JSON object of objects; see ``Statement/run(forEachLeafOf:parameters:)``.
public struct LeafParameters: Sendable, Hashable {
    /// The number of the parameter for the key of the object, from 1.
    public var outer: Int
    /// The number of the parameter for the key of the value.
    public var inner: Int
    /// The number of the parameter for the text of the value; nil: the statement does not use it.
    public var value: Int?
    /// Whether all values under one inner key come before those under the next, in the order in which the keys come first; default false: the order of the
    /// text. An index that begins with the inner key is then written part by part. With more than 64 different inner keys the order is that of the text.
    public var isGrouped: Bool

    /// Makes the numbers of three parameters, or of two.
    public init(outer: Int, inner: Int, value: Int? = nil, isGrouped: Bool = false) {
        (self.outer, self.inner, self.value, self.isGrouped) = (outer, inner, value, isGrouped)
    }
}

extension Statement {
    /// Runs the statement once for each leaf of an object of objects, in one call into the core and without a `String` for any value:
    ///
    ///     // {"77": {"title": "Saw", "price": "12.50"}, "80": {"title": "Axe"}}
    ///     let insert = try connection.statement("INSERT INTO object_values (object, attrib, value) VALUES (?1, ?2, ?3)")
    ///     try insert.run(forEachLeafOf: node, parameters: LeafParameters(outer: 1, inner: 2, value: 3))
    ///
    /// Values are bound as texts: strings, numbers as written, `true`, `false`; null is the empty text. Other parameters keep their values; these are NULL
    /// afterwards.
    /// - Returns: the number of objects that had a leaf.
    /// - Throws: ``StoreError/Code/type`` with the position when the value is not an object of objects of such values, ``StoreError/Code/misuse`` for a
    ///   value that does not exist, and the errors of ``run(_:)``. Leaves may have been run before.
    @discardableResult
    public func run(forEachLeafOf node: JSONNode, parameters: LeafParameters) throws(StoreError) -> Int {
        guard let number = node.number else { throw StoreError(.misuse, "leaves of a message: the value does not exist") }
        let handle = unsafe try core()
        var core = mc_leaf_parameters(
            outer: Int32(clamping: parameters.outer), inner: Int32(clamping: parameters.inner), value: Int32(clamping: parameters.value ?? 0),
            grouped: parameters.isGrouped)
        var count: Int64 = 0
        try unsafe node.document.withCore { message throws(StoreError) in
            try unsafe StoreError.check { unsafe mc_statement_run_leaves(handle, message, number, &core, &count, $0) }
        }
        return Int(count)
    }
}
