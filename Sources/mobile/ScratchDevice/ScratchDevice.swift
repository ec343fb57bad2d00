import Foundation
import MobileModel
import MobileObjects
import MobileStore
import MobileSync

/// A device for one synchronization, in a folder of its own. The server forgets it at the end.
struct ScratchDevice {
    let package: PackageDatabase
    let folder: String
    private let application: Application

    /// Makes the device with the parameters and the personalization of the arguments; asks for the password.
    /// - Parameter folder: the folder of its files, which is emptied first.
    init(_ arguments: ScratchDeviceArguments, _ model: PackageModel, folder: String) throws {
        self.folder = folder
        let properties = try arguments.properties()
        try? FileManager.default.removeItem(atPath: folder)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        do {
            application = try Application(identifier: "mobile-tool", profile: ConnectionProfile(path: folder + "/application.db"))
            application.connectionProperties = properties
            package = try PackageDatabase(model: model, profile: ConnectionProfile(path: folder + "/package.db"))
            package.application = application
            for (object, parameters) in arguments.parameters {
                guard let entity = package.metadata.entities.first(where: { $0.name == object }) else {
                    throw CommandFailure("package \(model.name) has no object \"\(object)\"")
                }
                try package.addSubscription(json: parameters, to: entity)
            }
            if !arguments.personalization.isEmpty { try package.savePersonalization(json: arguments.personalization) }
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    func register() throws { try application.register(timeout: .seconds(60)) }

    /// Ends the registration and removes the files. It is the end of a command, whose own error says more than one of these.
    func remove() {
        try? package.closeConnection()
        try? application.unregister(timeout: .seconds(60))
        try? application.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}
