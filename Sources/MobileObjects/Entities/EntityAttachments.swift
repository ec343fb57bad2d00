import MobileStore

/// What an object carries beside its attributes once somebody asked for it: relatives by position of their relationship, open and
/// unsaved large values by position of their attribute.
final class EntityAttachments {
    var parents: [Int: ParentLink] = [:]
    var children: [Int: ChildList] = [:]
    /// Value ids that were written and not saved; nil stands for NULL.
    var unsavedLargeValues: [Int: Int64?] = [:]

    var hasUnsavedLargeValues: Bool { !unsavedLargeValues.isEmpty }
}

extension Entity {
    /// The attachments, made at first use.
    final var attached: EntityAttachments {
        if let attachments { return attachments }
        let made = EntityAttachments()
        attachments = made
        return made
    }
}
