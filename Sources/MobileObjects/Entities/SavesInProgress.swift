internal import MobileExecution

/// The tasks that wait for the end of an object's save, by the object.
///
/// **An object has one save at a time.** A save on an async path leaves the object's isolation, where other code then sees an object that is neither
/// changed nor saved. Async calls wait for the end, and do what is left to do then; calls that would block the thread, on which the save has to end,
/// throw. If you break it: two taps on "Save" make two rows, and the second save reports success before anything is written.
private final class SavesInProgress: Sendable {
    private let waiting = SystemLock<[ObjectIdentifier: [CheckedContinuation<Void, Never>]]>([:])

    func add(_ task: CheckedContinuation<Void, Never>, for object: ObjectIdentifier) {
        waiting.withLock { $0[object, default: []].append(task) }
    }

    func end(_ objects: [Entity]) {
        let tasks = waiting.withLock { waiting in
            // Mostly no task waits, and a save may have many objects.
            waiting.isEmpty ? [] : objects.flatMap { waiting.removeValue(forKey: ObjectIdentifier($0)) ?? [] }
        }
        for task in tasks { task.resume() }
    }
}

extension PackageDatabase {
    private final var savesInProgress: SavesInProgress { attachment { SavesInProgress() } }

    final func beginSave(of objects: [Entity]) { for object in objects { object.isBeingSaved = true } }

    final func endSave(of objects: [Entity]) {
        for object in objects { object.isBeingSaved = false }
        savesInProgress.end(objects)
    }
}

extension Entity {
    /// Waits until no save of the object is in progress.
    nonisolated(nonsending) final func endOfSave() async {
        while isBeingSaved {
            let package = package, id = ObjectIdentifier(self)
            await withCheckedContinuation { package.waitForSave(of: id, $0) }
        }
    }

    /// Checks that no save of the object is in progress, for calls that cannot wait.
    /// - Throws: ``ObjectError/Code/misuse``.
    final func requireNoSave(_ verb: String) throws {
        guard isBeingSaved else { return }
        throw ObjectError(
            .misuse, "\(verb) of \(metadata.name): another save of it has not ended; await that one first, or write `try await`, which waits for it")
    }
}

extension PackageDatabase {
    fileprivate final func waitForSave(of object: ObjectIdentifier, _ task: CheckedContinuation<Void, Never>) {
        savesInProgress.add(task, for: object)
    }
}
