/// A condition on one attribute.
public struct RhomCondition: Sendable, Hashable {
    /// A test of a value.
    public enum Test: Sendable, Hashable {
        /// The value is this text. An index finds it.
        case equal(String)
        /// The attribute exists and has another value.
        case notEqual(String)
        /// The value is before this text; with ``RhomCondition/isNumeric`` it is a smaller number.
        case less(String)
        /// Before, or this text.
        case lessOrEqual(String)
        /// After this text.
        case greater(String)
        /// After, or this text.
        case greaterOrEqual(String)
        /// The value is one of these texts.
        case oneOf([String])
        /// The value contains this text; upper and lower case differ.
        case contains(String)
        /// The value begins with this text; upper and lower case differ.
        case beginsWith(String)
        /// The attribute exists.
        case exists
        /// The object does not have the attribute.
        case isAbsent
    }

    /// The attribute; `object` is the id.
    public var attribute: String
    /// The test.
    public var test: Test
    /// Whether comparisons are those of numbers; default `false`: texts, in the order of their UTF-8.
    public var isNumeric = false

    /// Makes a condition.
    public init(_ attribute: String, _ test: Test, isNumeric: Bool = false) {
        self.attribute = attribute
        self.test = test
        self.isNumeric = isNumeric
    }
}

/// The objects that `findAll` of ``RhomModel`` returns, their order and their attributes.
public struct RhomQuery: Sendable, Hashable {
    /// The order by one attribute. Objects without the attribute come first.
    public struct Order: Sendable, Hashable {
        /// The attribute; `object` is the id.
        public var attribute: String
        /// Whether the order is descending.
        public var isDescending: Bool
        /// Whether values are compared as numbers.
        public var isNumeric: Bool

        /// Makes an order.
        public init(_ attribute: String, descending: Bool = false, isNumeric: Bool = false) {
            self.attribute = attribute
            isDescending = descending
            self.isNumeric = isNumeric
        }
    }

    /// The conditions, all of which hold; empty: every object.
    public var conditions: [RhomCondition]
    /// The order; objects with equal values, and all objects without an order, are in the order of their ids.
    public var order: [Order]
    /// The largest number of objects, 0 or more; nil for all.
    public var limit: Int?
    /// The number of objects that are skipped, 0 or more. A later page costs more; see ``after``.
    public var offset: Int
    /// The id after which objects are returned, in the order of ids: every page costs the same. Nil: from the first one.
    public var after: String?
    /// The attributes that objects are returned with; nil for all.
    public var attributes: Set<String>?

    /// Makes a query.
    public init(
        where conditions: [RhomCondition] = [], order: [Order] = [], limit: Int? = nil, offset: Int = 0, after: String? = nil,
        attributes: Set<String>? = nil
    ) {
        self.conditions = conditions
        self.order = order
        self.limit = limit
        self.offset = offset
        self.after = after
        self.attributes = attributes
    }
}
