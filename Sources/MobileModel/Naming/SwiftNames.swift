/// Converts modelled names to Swift names by the documented rules (GEN-14, GEN-15) only: white space is removed, `.` becomes `_`, and a
/// member whose name the runtime's classes already use gets a `_` at its end, as `id_` and `description_`.
public enum SwiftNames {
    /// The modelled name as a Swift identifier; not yet a valid one if the modelled name begins with a digit or holds other characters.
    public static func converted(_ modelled: String) -> String {
        String(String.UnicodeScalarView(modelled.unicodeScalars.filter { !$0.properties.isWhitespace }.map { $0 == "." ? "_" : $0 }))
    }

    /// The name of the property of an attribute or relationship: `id` becomes `id_`, because every entity has an `id` of its own.
    public static func property(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.methods.contains(name) ? name : member(modelled)
    }

    /// The name of a method: `id` becomes `id_`.
    public static func member(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.members.contains(name) ? name + "_" : name
    }

    /// The name of a property of a set of synchronization parameters: `size` becomes `size_`, because every such set has a `size` of its own.
    public static func parameter(_ modelled: String) -> String {
        let name = converted(modelled)
        return ReservedNames.parameterProperties.contains(name) ? name + "_" : name
    }

    /// A member's name in Swift code: words that are keywords at some places in backticks.
    public static func memberInCode(_ modelled: String) -> String { inCode(member(modelled)) }

    /// A property's name in Swift code: words that are keywords at some places in backticks.
    public static func propertyInCode(_ modelled: String) -> String { inCode(property(modelled)) }

    /// A name in Swift code: words of the language in backticks. Members have no such names, but the objects of a class `Throw` are `throws`.
    public static func inCode(_ name: String) -> String {
        ReservedNames.contextualKeywords.contains(name) || ReservedNames.keywords.contains(name) ? "`\(name)`" : name
    }

    /// The names of the properties of a package's database class that hold the objects of each class, in the order of `modelled`: the plural, with its
    /// first word in lower case. `SalesOrder` becomes `salesOrders`. A name that the database class or another object already uses gets a `_` at its
    /// end, as `events_`.
    public static func collections(_ modelled: [String]) -> [String] {
        var used = ReservedNames.packageMembers
        return modelled.map { modelled in
            let name = converted(modelled), capitals = name.prefix(while: \.isUppercase).count
            // The last capital of several begins the second word: `URLEntry` becomes `urlEntries`.
            let first = capitals > 1 && capitals < name.count ? capitals - 1 : capitals
            var collection = English.plural(name.prefix(first).lowercased() + name.dropFirst(first))
            while !used.insert(collection).inserted { collection += "_" }
            return collection
        }
    }

    /// The name of a generated class.
    public static func type(_ modelled: String, prefix: String) -> String { prefix + converted(modelled) }

    /// Whether a name consists of letters A to Z of both cases, digits and underscores, and does not begin with a digit.
    public static func isIdentifier(_ name: String) -> Bool {
        guard let first = name.unicodeScalars.first, !("0"..."9").contains(first) else { return false }
        return name.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0) || $0 == "_"
        }
    }

    /// `name` with its first letter in upper case: `changeLastName` in `CustomerChangeLastNameOperation`.
    public static func capitalized(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }
}
