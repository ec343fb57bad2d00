internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The mark of the back end up to which a partition has all changes, as the cache keeps it. It begins with a digest of the model's binding: a model that
/// loads other rows or columns, or holds other values, needs all of them again.
///
/// The partition's row is read at each synchronization. So a long mark is in a table of its own, and the row has its digest.
struct RefreshMark {
    /// The maximum number of bytes of a mark in the partition's row.
    private static let shortLength = 512
    private static let reference = "sha256:"

    /// The way in which this release converts values: rows that an earlier one has converted otherwise are read once more.
    private static let conversions = "2"

    private let binding: String

    init(_ object: ObjectPlan) {
        let binding = object.binding
        let columns = object.model.attributes.map { attribute in
            let limits = "\(attribute.isRequired(in: object.model)) \(attribute.length ?? 0)"
            return "\(attribute.name)=\(binding.column(of: attribute.name)) \(limits)"
        }
        let parts = [Self.conversions, binding.backEnd, binding.table, binding.load ?? "", "\(binding.changeDetection)", object.shape] + columns
        let digest = try? SHA256.digest(of: JSONValue.array(parts.map { .string($0) }).description)
        self.binding = (digest ?? []).hexadecimal
    }

    /// Returns the text in the partition's row.
    func text(of mark: String) throws -> String {
        guard mark.utf8.count > Self.shortLength else { return binding + " " + mark }
        return binding + " " + Self.reference + (try SHA256.digest(of: mark).hexadecimal)
    }

    /// Stores a mark that is too long for the partition's row, whose text is ``text(of:)``.
    func store(_ mark: String?, of partition: Int64, in connection: any StateConnection) throws {
        guard let mark, mark.utf8.count > Self.shortLength else { return }
        try connection.execute(
            "INSERT INTO _mark (partition, content) VALUES (?1, ?2) ON CONFLICT (partition) DO UPDATE SET content = excluded.content",
            [.integer(partition), .text(mark)])
    }

    /// Returns the back end's mark; nil if the binding was another one, and for a long mark that is damaged.
    func content(of state: PartitionState, in connection: any StateConnection) throws -> String? {
        guard let text = content(of: state.mark), text.hasPrefix(Self.reference) else { return content(of: state.mark) }
        let mark = try connection.first("SELECT content FROM _mark WHERE partition = ?1", [.integer(state.partition)])?[0].text
        return try mark.flatMap { try Self.reference + SHA256.digest(of: $0).hexadecimal == text ? $0 : nil }
    }

    /// Returns the end of the text in a partition's row; nil if the binding was another one.
    func content(of text: String?) -> String? {
        guard let text, !binding.isEmpty, text.hasPrefix(binding + " ") else { return nil }
        return String(text.dropFirst(binding.count + 1))
    }
}
