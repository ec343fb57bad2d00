/// English words of messages, and singular and plural of names in camel case.
package enum English {
    /// A word with its article: `an int`, `a long`.
    package static func withArticle(_ word: some Any) -> String {
        let text = "\(word)"
        return ("aeiou".contains(text.lowercased().first ?? "b") ? "an " : "a ") + text
    }

    /// The words of a name in camel case: `customerID` has `customer` and `ID`.
    package static func words(_ name: String) -> [Substring] {
        var words: [Substring] = [], start = name.startIndex
        for index in name.indices.dropFirst() {
            guard name[index].isUppercase, !name[name.index(before: index)].isUppercase else { continue }
            words.append(name[start..<index])
            start = index
        }
        return words + (name.isEmpty ? [] : [name[start...]])
    }

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

    /// The singular of a name: `Categories` becomes `Category`. A name whose last word is not a plural stays.
    package static func singular(_ name: String) -> String { replacingLastWord(of: name, singularWord) }

    /// The plural of a name: `Category` becomes `Categories`.
    package static func plural(_ name: String) -> String { replacingLastWord(of: name, pluralWord) }

    private static func replacingLastWord(of name: String, _ change: (String) -> String) -> String {
        guard let last = words(name).last, !last.isEmpty else { return name }
        let changed = change(last.lowercased())
        guard changed != last.lowercased() else { return name }
        return name.dropLast(last.count) + (last.first?.isUppercase == true ? SwiftNames.capitalized(changed) : changed)
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
}
