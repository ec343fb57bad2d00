import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

extension ModelDemo {
    // MARK: Offline

    func editOffline() throws -> ModelEdits {
        narrator.begin("Offline: create, update, delete, and a picture")
        try device.application.stopConnection(timeout: .seconds(10))
        let editor = ModelEditor(package: device.package, trials: trials)
        var edits = ModelEdits()
        try refuseByRule(editor)
        try refuse(editor, &edits)
        try create(editor, &edits)
        if let (object, attribute, value) = try editor.acceptedUpdate(except: edits.refusing) {
            try object.setValue(value, attribute.name)
            state.add("changed in memory", object)
            try object.update()
            state.add("updated", object)
            narrator.say("updated: \(object.title), \(attribute.name) is \"\(value)\" now")
            edits.updated = object
        }
        if let object = try editor.deletable(except: edits.refusing + [edits.updated].compactMap { $0 }) {
            edits.deleted = (object.metadata, object.surrogateKey)
            narrator.say("deleted: \(object.title)")
            try object.delete()
            state.add("deleted", object)
        } else {
            narrator.say("nothing is deleted: every row that was checked is referred to by another one")
        }
        try streamPicture(except: edits)
        narrator.lines(state.newLines())
        return edits
    }

    private func refuseByRule(_ editor: ModelEditor) throws {
        guard let (object, attribute, value) = try editor.brokenRule() else { return }
        try object.setValue(value, attribute.name)
        var reason = "it was accepted"
        do { try object.update() } catch let error as ObjectError where error.code == .invalidValue { reason = error.message }
        try narrator.check("the device itself refuses what breaks a rule of the model", reason != "it was accepted", reason)
        narrator.say("refused at once: \(reason)")
    }

    private func refuse(_ editor: ModelEditor, _ edits: inout ModelEdits) throws {
        guard let (object, refusal) = try editor.refusedUpdate() else {
            narrator.say("no constraint was found in the back end that a change through this model could violate, so nothing will be rejected")
            return
        }
        edits.refused = (object, refusal, object.value(ofAttribute: refusal.attribute.index))
        state.add("read", object)
        try object.setValue(refusal.value, refusal.attribute.name)
        try object.update()
        state.add("updated, against a rule", object)
        let value = refusal.value.isNull ? "nothing" : "\"\(refusal.value)\""
        narrator.say("a constraint was found: \(object.metadata.name).\(refusal.attribute.name) = \(value) is refused there (\(refusal.reason))")
    }

    private func create(_ editor: ModelEditor, _ edits: inout ModelEdits) throws {
        guard let (object, children, relationship) = try editor.newObject(withChildren: true) else {
            narrator.say("nothing is created: the back end takes no copy of a row under another key")
            return
        }
        if let relationship {
            let list: Children<GenericEntity> = try object.children(object.metadata.relationships[relationship].name)
            for child in children { list.append(child) }
        }
        try object.save()
        state.add("created, \(children.count) children", object)
        narrator.say("created: \(object.metadata.name) with \(Format.count(children.count, "child", "children")), in one go")
        (edits.created, edits.children) = (object, children.count)
    }

    private func streamPicture(except edits: ModelEdits) throws {
        let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 11) }
        for entity in synchronizedEntities where entity.model.operations.contains(where: { $0.kind == .update }) {
            guard let attribute = entity.attributes.first(where: { $0.type == .bigBinary }) else { continue }
            let objects = try device.package.entity(entity.name).page(size: 10)
            guard
                let object = try objects.first(where: { object in
                    try object.metadata.name != edits.deleted?.entity.name && object.surrogateKey != edits.refused?.object.surrogateKey
                        && trials.accepts(object, attribute, .binary(bytes))
                })
            else { continue }
            let file = folder.path("picture.jpg")
            try Data(bytes).write(to: URL(fileURLWithPath: file))
            try object.bigBinary(attribute.name).copyFromFile(file)
            try object.update()
            narrator.say("\(Format.bytes(bytes.count)) went from a file into \(object.title), \(attribute.name)")
            return
        }
    }

    // MARK: Online

    func replay(_ edits: ModelEdits) throws {
        narrator.begin("Online again: the changes are replayed on the back end")
        try device.application.startConnection(timeout: .seconds(30))
        try device.package.submitPendingOperations()
        let result = try device.synchronize()
        narrator.say(
            "\(Format.count(result.operationsSent, "operation")) sent: \(result.operationsAccepted) accepted, \(result.operationsRejected) rejected")
        let expected = edits.refused == nil ? 0 : 1
        try narrator.check("\(expected) rejected", result.operationsRejected == expected, "rejected: \(result.operationsRejected)")
        guard let (object, refusal, before) = edits.refused else { return }
        try object.refresh()
        state.add("rejected", object)
        try narrator.check("the rejected change is still there, marked as failed", object.state == .failed)
        for record in try object.logRecords() {
            narrator.say("log record: code \(record.code), back end's code \(record.eisCode ?? "none"): \(record.message)")
        }
        try object.cancelPending()
        try object.refresh()
        state.add("cancelled", object)
        narrator.lines(state.newLines())
        try narrator.check("cancelPending brought the old value back", object.value(ofAttribute: refusal.attribute.index) == before)
        try narrator.check("nothing is pending", try !device.package.hasPendingOperations())
    }

    // MARK: Another device

    func killServerAndCompareDevices(_ edits: ModelEdits) throws {
        narrator.begin("The server is killed at work; a second device sees exactly the accepted changes")
        try createWhileServerDies()
        let second = try makeDevice("device-2")
        _ = try second.synchronize()
        _ = try device.synchronize()
        let comparison = try DatabaseComparison(device.package.metadata, device.databasePath, second.databasePath)
        try narrator.check(
            "both devices have the same \(Format.count(comparison.rows, "row"))", comparison.isEqual, "\(comparison.differences)")
        if let deleted = edits.deleted {
            try narrator.check("the deleted row is gone there, too", try second.package.entity(deleted.entity.name).find(deleted.key) == nil)
        }
        try second.close()
    }

    /// Submits one more new object and kills the server while it arrives.
    private func createWhileServerDies() throws {
        let editor = ModelEditor(package: device.package, trials: trials)
        guard let (object, _, _) = try editor.newObject(withChildren: false) else { return }
        let before = try trials.count(object.metadata)
        try object.create()
        try object.submitPending()
        try device.package.beginSynchronize()
        server.kill()
        try server.start()
        let result = try device.synchronize()
        narrator.say("server killed (SIGKILL) and started again; the device synchronizes once more: \(result.operationsAccepted) accepted")
        let after = try trials.count(object.metadata)
        try narrator.check("\(object.metadata.name) has exactly one row more in the back end", after == before + 1, "\(before) before, \(after) now")
    }
}
