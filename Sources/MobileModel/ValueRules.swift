internal import Foundation

extension AttributeModel {
    /// Whether a device saves some of the type's values only.
    package var hasValueRule: Bool { !values.isEmpty || minimum != nil || maximum != nil }

    /// Whether the rule allows the default.
    package var isDefaultAllowed: Bool {
        guard let value = defaultValue, value != "null" else { return true }
        let number = Decimal(json: value)
        if !values.isEmpty { return values.contains { $0 == value || number != nil && Decimal(json: $0) == number } }
        guard let number else { return true }
        return !(minimum.flatMap(Decimal.init(json:)).map { number < $0 } ?? false)
            && !(maximum.flatMap(Decimal.init(json:)).map { number > $0 } ?? false)
    }

    /// The rule as messages and documentation have it, such as `one of "open", "shipped"` or `0 to 100`; empty without one.
    package var valueRule: String {
        switch (minimum, maximum) {
        case (let minimum?, let maximum?): "\(minimum) to \(maximum)"
        case (let minimum?, nil): "at least \(minimum)"
        case (nil, let maximum?): "at most \(maximum)"
        case (nil, nil): values.isEmpty ? "" : "one of " + values.joined(separator: ", ")
        }
    }
}

extension Decimal {
    /// Reads a number of JSON; nil for another value.
    init?(json: String) { self.init(string: json) }
}
