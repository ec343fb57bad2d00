/// The members of a JSON object in their order, with unique keys.
///
/// Look-ups walk the members, because objects in messages have only a few. Two objects are equal when they have the same members
/// in any order.
public struct JSONObject: Sendable {
    /// One key with its value.
    public struct Member: Sendable, Hashable {
        /// The key, unescaped.
        public let key: String
        /// Its value.
        public var value: JSONValue

        public static func == (left: Member, right: Member) -> Bool { left.key.hasSameBytes(as: right.key) && left.value == right.value }

        public func hash(into hasher: inout Hasher) {
            key.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// The members in their order.
    public private(set) var members: [Member]

    /// Makes an object without members.
    public init() { members = [] }

    /// Makes an object from its members.
    /// - Precondition: no key occurs twice.
    public init(uniqueKeys members: some Sequence<(String, JSONValue)>) {
        self.members = members.map { Member(key: $0, value: $1) }
        precondition(Set(self.members.map { ExactText($0.key) }).count == self.members.count, "a key occurs twice in a JSON object")
    }

    /// Makes an object from members whose keys are known to be unique.
    init(checked members: [Member]) { self.members = members }

    /// The keys in their order.
    public var keys: [String] { members.map(\.key) }

    /// The number of members.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The value under `key`. Setting replaces it in place, or appends a member; setting nil removes the member.
    public subscript(key: String) -> JSONValue? {
        get { index(of: key).map { members[$0].value } }
        set {
            switch (index(of: key), newValue) {
            case (let index?, let value?): members[index].value = value
            case (let index?, nil): members.remove(at: index)
            case (nil, let value?): members.append(Member(key: key, value: value))
            case (nil, nil): break
            }
        }
    }

    /// Compares keys scalar by scalar as JSON requires; Swift's strings are already equal when they are canonically equivalent. To find that out, `==` sorts
    /// the combining marks of each character: a stranger's key of 64 KB of them would take seconds.
    private func index(of key: String) -> Int? {
        members.firstIndex { $0.key.hasSameBytes(as: key) }
    }
}

extension JSONObject: Hashable {
    public static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(members.reduce(0) { $0 ^ $1.hashValue })
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// Makes an object from a literal.
    /// - Precondition: no key occurs twice.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self.init(uniqueKeys: elements) }
}

extension JSONObject: Sequence {
    public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}
