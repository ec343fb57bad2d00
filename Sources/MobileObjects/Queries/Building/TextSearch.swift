/// A search for words in the searchable attributes of objects: those that the model marks with `"searchable": true`.
///
/// Words are the runs of letters and digits in the text; upper and lower case are the same, and so are letters with and without accents. Words between
/// double quotes are next to each other. A text without words finds every object, as users of an empty search field expect.
///
///     let search = TextSearch("harbour fo")                           // both words; the second one may go on: "food", "fork"
///     let exact = TextSearch("\"main street\" -", beginnings: .none)  // the two words next to each other
///
/// The index is as current as the rows: saves, deletes, imports and answers of the server keep it in their own transaction. Objects whose delete waits
/// have left it.
public struct TextSearch: Sendable, Hashable {
    /// The words, as a user types them.
    public var text: String
    /// The modelled names of the attributes to search; empty: all searchable ones.
    public var attributes: [String]
    /// Whether an object has all of the words, in any of the attributes, or at least one.
    public var requirement: Requirement
    /// The words that may be beginnings of longer ones.
    public var beginnings: Beginnings
    /// The alias of the source to search, in a query made by names that has several; nil: the first source.
    public var source: String?

    /// The number of words that an object must have.
    public enum Requirement: Sendable, Hashable, CaseIterable {
        /// Every word.
        case all
        /// At least one.
        case any
    }

    /// Words that may be beginnings of longer ones.
    public enum Beginnings: Sendable, Hashable, CaseIterable {
        /// Every word.
        case all
        /// The last one, which the user may still be typing.
        case last
        /// No word.
        case none
    }

    /// Describes a search.
    public init(
        _ text: String, in attributes: [String] = [], requiring requirement: Requirement = .all, beginnings: Beginnings = .last,
        source: String? = nil
    ) {
        (self.text, self.attributes, self.requirement, self.beginnings, self.source) = (text, attributes, requirement, beginnings, source)
    }
}

extension TestCriteria {
    /// The object has the words of a text in its searchable attributes: see ``TextSearch``.
    public static func matching(_ text: String, in attributes: String...) -> TestCriteria { .search(TextSearch(text, in: attributes)) }
}

extension AttributeSort {
    static let relevanceName = "searchRelevance"

    /// Sorts the objects first in which the words of the query's search are frequent, compared with other objects (BM25). The query has a search of its
    /// first source among the conditions that all hold.
    ///
    ///     let query = Query().where(.matching("harbour")).sorted(by: .relevance)
    ///     for customer in try Customer.findWithQuery(query, in: crm) { print(customer.name) }
    public static var relevance: AttributeSort { AttributeSort(relevanceName) }
}
