/// The conversion of the stored values of an attribute that both models have.
package enum ValueConversion: Sendable, Equatable {
    /// Values are stored as before.
    case none
    /// Decimals stored as integers get this number of additional digits after the point.
    case rescaled(digits: Int)
    /// Decimals stored as integers become texts.
    case decimalText(scale: Int)
    /// Strings or binaries are moved out of their rows.
    case outOfRow
    /// Large values are moved into their rows.
    case intoRow
}

/// The rules by which an attribute's type may change.
struct TypeChange {
    let old: PackageModel
    let new: PackageModel

    /// The reason why a change is impossible.
    struct Impossible: Error { let reason: String }

    func conversion(from old: AttributeModel, to new: AttributeModel) throws(Impossible) -> ValueConversion {
        switch (old.type, new.type) {
        case (.decimal, .decimal): return try decimalConversion(from: old, to: new)
        case (.string, .bigString), (.binary, .bigBinary): return .outOfRow
        case (.bigString, .string), (.bigBinary, .binary): return .intoRow
        default:
            try check(from: old.type, to: new.type)
            return .none
        }
    }

    /// Checks that every value of one type is also a value of the other, stored in the same way.
    /// - Parameter seen: pairs of structures that are being checked; a structure may contain itself through lists.
    func check(from old: AttributeType, to new: AttributeType, seen: Set<String> = []) throws(Impossible) {
        switch (old, new) {
        case _ where old == new && !old.isComplex: return
        case (.char, .string), (.float, .double): return
        case (.list(let old), .list(let new)), (.list(let old), .nullableList(let new)), (.nullableList(let old), .nullableList(let new)):
            return try check(from: old, to: new, seen: seen)
        case (.structure(let old), .structure(let new)):
            if !seen.contains("\(old)>\(new)") { try checkStructure(from: old, to: new, seen: seen.union(["\(old)>\(new)"])) }
        default:
            if let narrow = old.integerRange, let wide = new.integerRange, wide.lowerBound <= narrow.lowerBound { return }
            throw Impossible(reason: "\(English.withArticle(old)) cannot become \(English.withArticle(new))")
        }
    }

    private func decimalConversion(from old: AttributeModel, to new: AttributeModel) throws(Impossible) -> ValueConversion {
        let (precision, scale) = (old.digits.precision, old.digits.scale)
        let wide = new.digits
        guard wide.scale >= scale, wide.precision - wide.scale >= precision - scale else {
            throw Impossible(
                reason:
                    "a decimal(\(precision), \(scale)) cannot become a decimal(\(wide.precision), \(wide.scale)), which has fewer digits on one side")
        }
        guard precision <= AttributeModel.longestScaledDecimal else { return .none }
        if wide.precision > AttributeModel.longestScaledDecimal { return .decimalText(scale: scale) }
        return wide.scale == scale ? .none : .rescaled(digits: wide.scale - scale)
    }

    /// Values of structures, and of objects used as values, are JSON texts. They are read by the names of their parts; no upgrade rewrites them.
    private func checkStructure(from oldName: String, to newName: String, seen: Set<String>) throws(Impossible) {
        guard let old = self.old.parts(of: oldName), let new = self.new.parts(of: newName) else { return }
        for part in new {
            guard let known = old.first(where: { $0.name == part.name }) else {
                if part.isNullable { continue }
                throw Impossible(
                    reason: "the part \"\(part.name)\" of \(newName) is new and must have a value, which stored ones do not have; make it nullable")
            }
            do throws(Impossible) { try checkPart(from: known, to: part, seen) } catch {
                throw Impossible(reason: "the part \"\(part.name)\" of \(newName): \(error.reason)")
            }
        }
        for part in old where !new.contains(where: { $0.name == part.name }) {
            throw Impossible(reason: "\(newName) has no part \"\(part.name)\", which stored values of \(oldName) have; keep it, nullable")
        }
    }

    private func checkPart(from old: AttributeModel, to new: AttributeModel, _ seen: Set<String>) throws(Impossible) {
        if old.isNullable, !new.isNullable { throw Impossible(reason: "it may be null in stored values; keep it nullable") }
        guard old.type == .decimal, new.type == .decimal else { return try check(from: old.type, to: new.type, seen: seen) }
        _ = try decimalConversion(from: old, to: new)
    }
}

extension PackageModel {
    /// The parts of a structure, or of an object used as a value.
    fileprivate func parts(of name: String) -> [AttributeModel]? {
        structures.first { $0.name == name }?.attributes ?? object(named: name)?.attributes
    }
}

extension AttributeModel {
    /// The maximum number of digits of a decimal that is stored as an integer.
    static let longestScaledDecimal = 18

    /// Precision and scale of a decimal, with the defaults of the format.
    var digits: (precision: Int, scale: Int) { (precision ?? Self.defaultPrecision, scale ?? Self.defaultScale) }

    /// Whether rows may lack a value.
    var mayBeNull: Bool { isNullable || isGenerated }
}
