import Foundation
import MobileExecution
import MobileObjects
import MobileStore
import MobileSync

/// One device: an application with its registration, and the local database of a package. Two devices can exist in this process without
/// contact with each other.
final class Device<Package: PackageDatabase> {
    let name: String
    let application: Application
    let package: Package
    let databasePath: String

    /// - Parameter open: opens the package's database at a path.
    init(_ name: String, in folder: DemoFolder, user: String, server: ServerProcess, open: (ConnectionProfile) throws -> Package) throws {
        self.name = name
        databasePath = folder.path("\(name).db")
        application = try Application(identifier: "mobile-demo", profile: ConnectionProfile(path: folder.path("\(name)-application.db")))
        var properties = ConnectionProperties()
        properties.serverName = "127.0.0.1"
        properties.portNumber = server.port
        properties.loginCredentials = LoginCredentials(user: user, password: ServerProcess.password)
        application.connectionProperties = properties
        package = try open(ConnectionProfile(path: databasePath))
        package.application = application
    }

    /// Synchronizes and shows a moving bar.
    func synchronize() throws -> SynchronizationResult {
        let progress = SynchronizationBar(name)
        defer { progress.finish() }
        return try package.synchronize(listener: progress)
    }

    func close() throws {
        try application.stopConnection(timeout: .seconds(10))
        try application.close()
        try package.closeConnection()
    }
}
