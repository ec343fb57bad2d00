internal import MobileModel

/// Names of a model, made from those of tables and columns.
enum SchemaNames {
    /// Makes a name of a model from words that are separated by other characters than letters and digits, or by case: `ORDER_LINE` becomes `orderLine`,
    /// or `OrderLine` for a type; `CustomerID` becomes `customerID`.
    static func identifier(_ name: String, isType: Bool) -> String {
        let words = name.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { word in
            word.contains(where: \.isLowercase) ? String(word) : word.lowercased()
        }
        var text = words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        if text.first.map({ !$0.isLetter }) ?? true { text = "N" + text }
        return isType ? text : lowerCamel(text)
    }

    /// The name of an object: the singular of the table's. One that would hide a type of generated code gets the word `Object`.
    static func type(_ table: String) -> String {
        let name = singular(identifier(table, isType: true))
        return ReservedNames.types.contains(name) || ReservedNames.keywords.contains(name) ? name + "Object" : name
    }

    /// The name of an attribute. One that is an attribute of all objects in queries gets the word `Value`.
    static func attribute(_ column: String) -> String {
        let name = identifier(column, isType: false)
        return ReservedNames.queryAttributes.contains(name) ? name + "Value" : name
    }

    /// Adds a number to a name that is in use.
    static func unique(_ name: String, _ used: inout Set<String>) -> String {
        var result = name, number = 2
        while !used.insert(result.lowercased()).inserted {
            result = "\(name)\(number)"
            number += 1
        }
        return result
    }

    /// The name with its first letter in lower case.
    static func lowerCamel(_ name: String) -> String { name.prefix(1).lowercased() + name.dropFirst() }

    /// The name with its first letter in upper case.
    static func upperCamel(_ name: String) -> String { name.prefix(1).uppercased() + name.dropFirst() }

    /// The words of a name in camel case: `customerID` has `customer` and `ID`.
    static func words(_ name: String) -> [Substring] {
        var words: [Substring] = [], start = name.startIndex
        for index in name.indices.dropFirst() {
            guard name[index].isUppercase, !name[name.index(before: index)].isUppercase else { continue }
            words.append(name[start..<index])
            start = index
        }
        return words + (name.isEmpty ? [] : [name[start...]])
    }

    // MARK: Number

    private static let irregular = [
        "people": "person", "children": "child", "men": "man", "women": "woman", "movies": "movie", "cookies": "cookie", "buses": "bus",
        "statuses": "status", "viruses": "virus", "bonuses": "bonus", "campuses": "campus", "aliases": "alias", "lenses": "lens",
        "analyses": "analysis",
        "indices": "index", "vertices": "vertex", "matrices": "matrix", "axes": "axis", "bases": "basis", "crises": "crisis",
    ]
    /// Words that end in s and are singular, or have one form.
    private static let unchanged: Set<String> = [
        "series", "species", "news", "means", "gps", "sms", "dns", "https", "canvas", "atlas", "lens", "alias",
    ]

    /// The singular of a table's name: `Categories` becomes `Category`. A name whose last word is not a plural stays.
    static func singular(_ name: String) -> String { replacingLastWord(of: name, singularWord) }

    /// The plural of a name: `Category` becomes `Categories`.
    static func plural(_ name: String) -> String { replacingLastWord(of: name, pluralWord) }

    private static func replacingLastWord(of name: String, _ change: (String) -> String) -> String {
        guard let last = words(name).last, !last.isEmpty else { return name }
        let changed = change(last.lowercased())
        guard changed != last.lowercased() else { return name }
        return name.dropLast(last.count) + (last.first?.isUppercase == true ? upperCamel(changed) : changed)
    }

    private static func singularWord(_ word: String) -> String {
        if let known = irregular[word] { return known }
        guard word.count > 3, word.hasSuffix("s"), !unchanged.contains(word) else { return word }
        if ["ss", "us", "is"].contains(where: word.hasSuffix) { return word }
        if word.hasSuffix("ies") { return word.dropLast(3) + "y" }
        if ["sses", "xes", "ches", "shes", "zzes"].contains(where: word.hasSuffix) { return String(word.dropLast(2)) }
        return String(word.dropLast())
    }

    private static func pluralWord(_ word: String) -> String {
        if let known = irregular.first(where: { $0.value == word })?.key { return known }
        if unchanged.contains(word) || singularWord(word) != word { return word }
        if word.hasSuffix("is") { return word.dropLast(2) + "es" }
        if word.hasSuffix("y"), let before = word.dropLast().last, !"aeiou".contains(before) { return word.dropLast() + "ies" }
        if ["s", "x", "ch", "sh", "z"].contains(where: word.hasSuffix) { return word + "es" }
        return word + "s"
    }

    // MARK: Relationships

    /// The name of the relationship to one object, by the columns of a foreign key: the words that they have in common, without `id` at the end of a single
    /// one. Columns without such words give the name of the target, after that of the column where several references lead there.
    /// - Parameters:
    ///   - columns: names of the attributes.
    ///   - target: name of the other object.
    ///   - isOnly: whether no other reference of the table leads to the target, and the target is another table.
    ///   - used: names of the object in lower case; the new one is added.
    static func toOne(_ columns: [String], target: String, isOnly: Bool, _ used: inout Set<String>) -> String {
        let lists = columns.map(words)
        var common = (lists.first ?? []).enumerated().prefix { place, word in
            lists.allSatisfy { $0.count > place && $0[place].lowercased() == word.lowercased() }
        }.map(\.element)
        let isSingle = columns.count == 1
        if isSingle, common.count > 1, common.last?.lowercased() == "id" { common.removeLast() } else if isSingle { common = [] }
        let column = columns.first ?? "", typed = SchemaNames.lowerCamel(target)
        let qualified = column.lowercased().hasSuffix(target.lowercased()) ? column + "Object" : column + target
        let name = common.isEmpty ? (isOnly || !isSingle ? typed : qualified) : common.joined()
        guard used.contains(name.lowercased()) else { return unique(name, &used) }
        return unique(isSingle ? qualified : name + target, &used)
    }
}
