import Foundation
import MobileModel

/// The values that the model lets a device save in an attribute.
///
/// Rows of the server are not checked: they may be older than the rule. A database that has the rule as a constraint decides on its own; the device says it
/// earlier, before a user has left the screen.
struct ValueRule: Sendable {
    /// Empty if there are no single ones.
    private let values: Set<AttributeValue>
    private let minimum: AttributeValue?, maximum: AttributeValue?
    /// The rule in messages.
    private let words: String

    /// - Returns: nil for an attribute without a rule.
    init?(_ model: AttributeModel, _ storage: Storage) {
        guard model.hasValueRule else { return nil }
        func value(_ json: String) -> AttributeValue? { storage.attributeValue(ofDefault: json).map(Self.exact) }
        values = Set(model.values.compactMap(value))
        (minimum, maximum, words) = (model.minimum.flatMap(value), model.maximum.flatMap(value), model.valueRule)
    }

    /// Returns the reason why an attribute cannot have a value; nil where it can. A missing value is allowed.
    func violation(_ value: AttributeValue) -> String? {
        if value.isNull { return nil }
        let exact = Self.exact(value)
        let isAllowed =
            (values.isEmpty || values.contains(exact)) && !Self.isLess(exact, than: minimum)
            && !(maximum.map { Self.isLess($0, than: exact) } ?? false)
        return isAllowed ? nil : "\(Storage.excerpt(value)) is not allowed: \(words)"
    }

    /// One form for each number, so that a decimal may come as an integer.
    private static func exact(_ value: AttributeValue) -> AttributeValue {
        if case .integer(let number) = value { .decimal(Decimal(number)) } else { value }
    }

    private static func isLess(_ left: AttributeValue, than right: AttributeValue?) -> Bool {
        switch (left, right) {
        case (.decimal(let left), .decimal(let right)?): left < right
        case (.real(let left), .real(let right)?): left < right
        default: false
        }
    }
}
