/// How modelled names become Swift names. The documented rules (GEN-14, GEN-15) and nothing else: white space is removed, `.` becomes
/// `_`, and a member that the runtime's classes have already gets a `_` at its end, as `id_` and `description_`.
public enum SwiftNames {
    /// The modelled name as a Swift identifier; not one yet where the modelled name begins with a digit or holds other characters.
    public static func converted(_ modelled: String) -> String {
        String(String.UnicodeScalarView(modelled.unicodeScalars.filter { !$0.properties.isWhitespace }.map { $0 == "." ? "_" : $0 }))
    }

    /// The name of a property or method: `id` becomes `id_`, because every entity has an `id` of its own.
    public static func member(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.members.contains(name) ? name + "_" : name
    }

    /// The name of a property of a set of synchronization parameters: `size` becomes `size_`, because every such set has a `size` of its own.
    public static func parameter(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.parameterProperties.contains(name) ? name + "_" : name
    }

    /// A member's name as it stands in Swift code: keywords in backticks.
    public static func memberInCode(_ modelled: String) -> String { inCode(member(modelled)) }

    /// A name as it stands in Swift code: keywords in backticks.
    public static func inCode(_ name: String) -> String { ReservedNames.keywords.contains(name) ? "`\(name)`" : name }

    /// A member's name as the label of an argument: the compiler takes all keywords but three there as they are.
    public static func label(_ modelled: String) -> String {
        let name = member(modelled)
        return ["inout", "let", "var"].contains(name) ? "`\(name)`" : name
    }

    /// The name of a generated class.
    public static func type(_ modelled: String, prefix: String) -> String { prefix + converted(modelled) }

    /// Letters A to Z of both cases, digits and underscores, not beginning with a digit.
    public static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
        }
    }

    /// `name` with its first letter in upper case: `changeLastName` in `CustomerChangeLastNameOperation`.
    public static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
