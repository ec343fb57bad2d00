internal import MobileCrypto
internal import MobileModel
internal import MobileStore

/// The mark of the back end up to which a partition has all changes, as the cache keeps it. It begins with a digest of the model's binding: a model that
/// loads other rows or columns needs all of them again.
struct RefreshMark {
    private let binding: String

    init(_ object: ObjectPlan) {
        let binding = object.binding, columns = object.model.attributes.map { "\($0.name)=\(binding.column(of: $0.name))" }
        let parts = [binding.backEnd, binding.table, binding.load ?? "", "\(binding.changeDetection)", object.shape] + columns
        let digest = try? SHA256.digest(of: JSONValue.array(parts.map { .string($0) }).description)
        self.binding = (digest ?? []).hexadecimal
    }

    func text(of mark: String) -> String { binding + " " + mark }

    /// Returns the back end's mark; nil if the binding was another one.
    func content(of text: String?) -> String? {
        guard let text, !binding.isEmpty, text.hasPrefix(binding + " ") else { return nil }
        return String(text.dropFirst(binding.count + 1))
    }
}
