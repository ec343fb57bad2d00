/// A condition on rows or groups: a test of one attribute, or several conditions together. SMP 2.3: `SUPTestCriteria`.
///
///     let test: TestCriteria = .equal("city", "Dublin") && (.greaterThan("credit", 100) || .isNull("credit"))
public indirect enum TestCriteria: Sendable, Hashable {
    /// A test of one attribute.
    case attribute(AttributeTest)
    /// Several conditions together.
    case composite(CompositeTest)
    /// A search for words.
    case search(TextSearch)
}

/// Conditions together. SMP 2.3: `SUPCompositeTest`.
public struct CompositeTest: Sendable, Hashable {
    /// The way to combine the operands. SMP 2.3: `operator`.
    public var `operator`: Operator
    /// The operands, one or more. SMP 2.3: `operands`, `add:`.
    public var operands: [TestCriteria]

    /// A way to combine conditions. The numbers are the documented ones.
    public enum Operator: Int, Sendable, Hashable, CaseIterable {
        /// Not all of the operands hold.
        case not = 1
        /// All of them hold.
        case and = 2
        /// At least one of them holds.
        case or = 3
    }

    /// Combines conditions; more can be added.
    public init(_ operator: Operator, _ operands: [TestCriteria] = []) { (self.operator, self.operands) = (`operator`, operands) }

    /// Adds an operand. SMP 2.3: `add:`.
    public mutating func add(_ operand: TestCriteria) { operands.append(operand) }
}

extension TestCriteria {
    /// Both hold. SMP 2.3: `and:`.
    public func and(_ other: TestCriteria) -> TestCriteria { joined(.and, other) }
    /// At least one of both holds. SMP 2.3: `or:`.
    public func or(_ other: TestCriteria) -> TestCriteria { joined(.or, other) }
    /// The condition does not hold. SMP 2.3: `not`.
    public var negated: TestCriteria { .composite(CompositeTest(.not, [self])) }

    /// Both hold.
    public static func && (left: TestCriteria, right: TestCriteria) -> TestCriteria { left.and(right) }
    /// At least one of both holds.
    public static func || (left: TestCriteria, right: TestCriteria) -> TestCriteria { left.or(right) }
    /// The condition does not hold.
    public static prefix func ! (test: TestCriteria) -> TestCriteria { test.negated }

    /// Joins two conditions. A chain of one operator becomes one list, so that a filter of a thousand terms is not a thousand levels deep.
    private func joined(_ composite: CompositeTest.Operator, _ other: TestCriteria) -> TestCriteria {
        guard case .composite(var test) = self, test.operator == composite else { return .composite(CompositeTest(composite, [self, other])) }
        test.add(other)
        return .composite(test)
    }
}
