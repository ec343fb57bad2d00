internal import Foundation
internal import MobileModel

/// Names of a model, made from those of tables and columns.
enum SchemaNames {
    /// Makes a name of a model from words that are separated by other characters than letters and digits, or by case: `ORDER_LINE` becomes `orderLine`,
    /// or `OrderLine` for a type; `CustomerID` becomes `customerID`. Names of a model have the letters A to Z: others are written with these, so that
    /// `Straße` becomes `Strasse`.
    static func identifier(_ name: String, isType: Bool) -> String {
        let latin = name.utf8.allSatisfy { $0 < 0x80 } ? name : name.applyingTransform(StringTransform("Any-Latin; Latin-ASCII"), reverse: false)
        let words = (latin ?? name).split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { word in
            word.contains(where: \.isLowercase) ? String(word) : word.lowercased()
        }
        var text = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if text.first.map({ !$0.isLetter }) ?? true { text = "N" + text }
        return isType ? text : lowerCamel(text)
    }

    /// The name of an object: the singular of the table's. One that would hide a type of generated code gets the word `Object`.
    static func type(_ table: String) -> String {
        let name = English.singular(identifier(table, isType: true))
        // "Any" becomes "AnyObject", which is reserved as well.
        return [name, name + "Object"].first { !isReservedType($0) } ?? name + "Entry"
    }

    /// Whether generated code has a type of this name, or the device cannot have a table of it: SQLite has the names that begin with `sqlite_` for itself, and
    /// an object `Sqlite` has the index `Sqlite_key`.
    static func isReservedType(_ name: String) -> Bool {
        name.lowercased() == "sqlite" || [ReservedNames.types, ReservedNames.nestedTypes, ReservedNames.keywords].contains { $0.contains(name) }
    }

    /// The name of an attribute. One that is an attribute of all objects in queries, or a word of the language, gets the word `Value`.
    static func attribute(_ column: String) -> String {
        let name = identifier(column, isType: false)
        return ReservedNames.queryAttributes.contains(name) || ReservedNames.keywords.contains(name) ? name + "Value" : name
    }

    /// The longest name, in characters: a model allows some more, for numbers and for words of generated code.
    private static let longest = 80

    /// Cuts a long name, and adds a number to one that is in use. A number can lead to a reserved name: `Int` with 32 is one.
    static func unique(_ name: String, _ used: inout Set<String>, isReserved: (String) -> Bool = { _ in false }) -> String {
        let name = String(name.prefix(longest))
        var result = name, number = 2
        while isReserved(result) || !used.insert(result.lowercased()).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }

    /// The name with its first letter in lower case.
    static func lowerCamel(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// The name with its first letter in upper case.
    static func upperCamel(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    // MARK: Relationships

    /// The name of the relationship to one object, by the columns of a foreign key: the words that they have in common, without `id` at the end of a single
    /// one. Columns without such words give the name of the target, after that of the column where several references lead there.
    /// - Parameters:
    ///   - columns: names of the attributes.
    ///   - target: name of the other object.
    ///   - isOnly: whether no other reference of the table leads to the target, and the target is another table.
    ///   - used: names of the object in lower case; the new one is added.
    static func toOne(_ columns: [String], target: String, isOnly: Bool, _ used: inout Set<String>) -> String {
        let lists = columns.map(English.words)
        var common = (lists.first ?? []).enumerated().prefix { place, word in
            lists.allSatisfy { $0.count > place && $0[place].lowercased() == word.lowercased() }
        }.map(\.element)
        let isSingle = columns.count == 1
        if isSingle, common.count > 1, common.last?.lowercased() == "id" { common.removeLast() } else if isSingle { common = [] }
        let column = columns.first ?? "", typed = SchemaNames.lowerCamel(target)
        let qualified = column.lowercased().hasSuffix(target.lowercased()) ? column + "Object" : column + target
        var name = common.isEmpty ? (isOnly || !isSingle ? typed : qualified) : common.joined()
        if ReservedNames.keywords.contains(name) { name += "Object" }
        guard used.contains(name.lowercased()) else { return unique(name, &used) }
        return unique(isSingle ? qualified : name + target, &used)
    }
}
