internal import MobileModel

extension World {
    /// A part of a world that leads nowhere, as in a file that was changed by hand.
    struct Misfit: Error, CustomStringConvertible {
        let description: String
    }

    /// Fails for a world that cannot run: a position of an object, a reference or a user that is not there.
    func check() throws {
        func require(_ condition: Bool, _ text: String) throws { if !condition { throw Misfit(description: text) } }
        try require(!objects.isEmpty && !devices.isEmpty, "a world needs an object and a device")
        try require(users.count == 2, "a world has two users, not \(users.count)")
        try require(processes ?? 1 >= 1, "a server has at least one process")
        for (index, device) in devices.enumerated() {
            try require(users.indices.contains(device.user), "device \(index): there is no user \(device.user)")
            try require(!device.regions.isEmpty, "device \(index) has no region")
        }
        for (place, object) in objects.enumerated() {
            try require(!object.attributes.isEmpty, "object \(place) has no attribute")
            for (index, reference) in object.references.enumerated() {
                try require(objects.indices.contains(reference.target), "object \(place), reference \(index): there is no object \(reference.target)")
            }
            guard case .parent(let index) = object.partition else { continue }
            try require(object.references.indices.contains(index), "object \(place): its rows are by reference \(index), which is not there")
            try require(
                objects[object.references[index].target].hasRegion, "object \(place): its rows are by reference \(index) to an object without regions"
            )
        }
        for (index, step) in steps.enumerated() {
            try require(step.device >= 0 && step.picks.allSatisfy { $0 >= 0 }, "step \(index) has a number below 0")
        }
        for version in [1, 2] {
            do { _ = try PackageModel(json: model(version: version)) } catch {
                throw Misfit(description: "version \(version) of its model: \(error)")
            }
        }
    }
}
