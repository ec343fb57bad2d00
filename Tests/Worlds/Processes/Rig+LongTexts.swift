internal import MobileObjects
internal import MobileStore

/// Long texts, which go to the server in pieces of their own.
extension Rig {
    /// A user writes a text, rarely a short one.
    func writeText(_ device: DeviceBench, _ picks: inout Picks) throws -> String? {
        let shown = try check(.localFailure, "reading all rows") { try device.shown() }
        guard let row = picks.next(of: shown.filter { world.objects[$0.object].hasText }) else { return nil }
        meet(.writeText, row.object)
        let length = [1_300_000, 30, 70_000, 2_600_000, 950_000][picks.next(5)], form = LongText.form(length: length, number: number())
        let stamp = "d\(number())"
        let entity = try check(.localFailure, "reading \(row.tag)") { try device.entity(row) }
        try check(.localFailure, "a text of \(row.tag)") {
            let text = try entity.bigString(LongText.column)
            try text.openForWrite()
            try text.write(LongText.content(form))
            try text.close()
            try device.setValue(stamp, "stamp", entity, row.object)
            try entity.update()
        }
        let edit = Edit(
            device: device.id, object: row.object, tag: row.tag, change: .update, stamp: stamp, step: step,
            base: row.change == .none ? row.values["stamp"] : nil, values: [LongText.column: form, "stamp": stamp])
        record(edit, device)
        return "\(row.tag) stamp=\(stamp) \(LongText.column)=\(form)"
    }
}

extension DeviceBench {
    /// The short form of a row's long text; nil for none.
    func text(_ entity: GenericEntity) throws -> String? {
        let text = try entity.bigString(LongText.column)
        guard let length = try text.length else { return nil }
        try text.openForRead()
        defer { try? text.close() }
        return try LongText.form(length: Int(length)) { position, count in
            try text.seek(Int64(position))
            return try text.read(count) ?? ""
        }
    }
}
