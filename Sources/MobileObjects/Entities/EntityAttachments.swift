import MobileStore

/// What an object carries beside its attributes once somebody asked for it: relatives by position of their relationship, open and
/// unsaved large values by position of their attribute.
final class EntityAttachments {
    var parents: [Int: ParentLink] = [:]
    var children: [Int: ChildList] = [:]
    var bigBinaries: [Int: BigBinary] = [:]
    var bigStrings: [Int: BigString] = [:]
    /// Large values that were written and not saved, by attribute.
    var unsavedLargeValues: [Int: LargeValue] = [:]

    /// Why relatives could not be read, by their relationship, until a save or submit has thrown it.
    var readFailures: [Int: ObjectError] = [:]
    /// While a property is asked which relationship it stands for: the answer.
    var asked: Int??

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
