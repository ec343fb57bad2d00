import Foundation
import MobileModel

/// The values that the model lets a device save in an attribute.
///
/// Rows of the server are not checked: they may be older than the rule. A database that has the rule as a constraint decides on its own; the device says it
/// earlier, before a user has left the screen.
struct ValueRule: Sendable {
    private let storage: Storage
    /// Whether numbers are compared as the floats next to them: 0.1 in a property of type Float is not the double 0.1 of the model.
    private let isSingle: Bool
    /// Empty if there are no single ones.
    private var values: Set<AttributeValue> = []
    private var minimum: AttributeValue?, maximum: AttributeValue?
    /// The rule in messages.
    private let words: String

    /// - Returns: nil for an attribute without a rule.
    init?(_ model: AttributeModel, _ storage: Storage) {
        guard model.hasValueRule else { return nil }
        (self.storage, isSingle, words) = (storage, model.type == .float, model.valueRule)
        func value(_ json: String) -> AttributeValue? { storage.attributeValue(ofDefault: json).flatMap(compared) }
        values = Set(model.values.compactMap(value))
        (minimum, maximum) = (model.minimum.flatMap(value), model.maximum.flatMap(value))
    }

    /// Returns the reason why an attribute cannot have a value of its type; nil where it can. A missing value is allowed.
    func violation(_ value: AttributeValue) -> String? {
        guard let found = compared(value), !found.isNull else { return nil }
        let isListed = values.isEmpty || values.contains(found)
        let isWithin = !(minimum.map { Self.isLess(found, than: $0) } ?? false) && !(maximum.map { Self.isLess($0, than: found) } ?? false)
        return isListed && isWithin ? nil : "\(Storage.excerpt(value)) is not allowed: \(words)"
    }

    /// The value as the attribute reads it from the database, where each has one form: a decimal or a double may come as an integer.
    private func compared(_ value: AttributeValue) -> AttributeValue? {
        guard let read = storage.stored(value).flatMap(storage.attributeValue) else { return nil }
        if isSingle, case .real(let number) = read { return .real(Double(Float(number))) }
        return read
    }

    private static func isLess(_ left: AttributeValue, than right: AttributeValue) -> Bool {
        switch (left, right) {
        case (.integer(let left), .integer(let right)): left < right
        case (.decimal(let left), .decimal(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        default: false
        }
    }
}
