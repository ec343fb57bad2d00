/// One short form per operator. SMP 2.3: the class methods of `SUPAttributeTest`, such as `equal::`.
extension TestCriteria {
    /// The attribute is null.
    public static func isNull(_ attribute: String) -> TestCriteria { .attribute(AttributeTest(attribute, .isNull)) }
    /// The attribute is not null.
    public static func notNull(_ attribute: String) -> TestCriteria { .attribute(AttributeTest(attribute, .notNull)) }
    /// The attribute is equal to a value; null is equal to null alone.
    public static func equal(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .equal, value) }
    /// The attribute is other than a value, and not null.
    public static func notEqual(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .notEqual, value) }
    /// The attribute is like a pattern with `%` and `_`.
    public static func like(_ attribute: String, _ pattern: some TestOperand) -> TestCriteria { test(attribute, .like, pattern) }
    /// The attribute is not like a pattern, and not null.
    public static func notLike(_ attribute: String, _ pattern: some TestOperand) -> TestCriteria { test(attribute, .notLike, pattern) }
    /// The same as `equal`.
    public static func match(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .match, value) }
    /// The same as `notEqual`.
    public static func notMatch(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .notMatch, value) }
    /// The attribute is less than a value.
    public static func lessThan(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .lessThan, value) }
    /// The attribute is less than a value, or equal.
    public static func lessEqual(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .lessEqual, value) }
    /// The attribute is greater than a value.
    public static func greaterThan(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .greaterThan, value) }
    /// The attribute is greater than a value, or equal.
    public static func greaterEqual(_ attribute: String, _ value: some TestOperand) -> TestCriteria { test(attribute, .greaterEqual, value) }
    /// The text is a part of the attribute's.
    public static func contains(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .contains, part) }
    /// The text is not a part of the attribute's, which is not null.
    public static func notContains(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .notContains, part) }
    /// The attribute's text begins with this one.
    public static func startsWith(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .startsWith, part) }
    /// The attribute's text does not begin with this one, and is not null.
    public static func notStartsWith(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .notStartsWith, part) }
    /// The attribute's text ends with this one.
    public static func endsWith(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .endsWith, part) }
    /// The attribute's text does not end with this one, and is not null.
    public static func notEndsWith(_ attribute: String, _ part: some TestOperand) -> TestCriteria { test(attribute, .notEndsWith, part) }
    /// The attribute is equal to one of several values.
    /// - Parameters:
    ///   - attribute: its modelled name, with the alias of its source in front where there are several.
    ///   - values: a list, or a query with one item.
    public static func `in`(_ attribute: String, _ values: some TestOperand) -> TestCriteria { test(attribute, .in, values) }
    /// The attribute is equal to none of several values.
    /// - Parameters:
    ///   - attribute: its modelled name, with the alias of its source in front where there are several.
    ///   - values: a list, or a query with one item.
    public static func notIn(_ attribute: String, _ values: some TestOperand) -> TestCriteria { test(attribute, .notIn, values) }
    /// The query has rows.
    public static func exists(_ query: Query) -> TestCriteria { test("", .exists, query) }
    /// The query has no rows.
    public static func notExists(_ query: Query) -> TestCriteria { test("", .notExists, query) }

    private static func test(_ attribute: String, _ operator: AttributeTest.Operator, _ value: some TestOperand) -> TestCriteria {
        .attribute(AttributeTest(attribute, `operator`, value))
    }
}
