import Foundation
import MobileModel
public import MobileStore

extension PackageMetadata {
    /// Reads the metadata that a package's database stores of itself, for tools that have the file but neither model nor generated classes.
    /// SMP 2.3 also keeps them in a table. Where a newer model cannot open a database with work for the server, the stored model
    /// can: see <doc:Upgrades>.
    /// - Parameter profile: path and settings of the database file, which must exist.
    /// - Throws: ``ObjectError/Code/noDatabase`` where the file does not exist, ``ObjectError/Code/version`` where it is not a package's database,
    ///   ``ObjectError/Code/corrupt`` where the stored model is not valid, ``ObjectError/Code/store``.
    public convenience init(storedIn profile: ConnectionProfile) throws {
        guard FileManager.default.fileExists(atPath: profile.path) else {
            throw ObjectError(.noDatabase, "\"\(profile.path)\": there is no such file")
        }
        let text = try ObjectError.gate {
            let store = try Database(profile)
            defer { try? store.close() }
            return try store.read { connection -> String? in
                let table = try connection.first("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = '_settings'")
                return try table == nil ? nil : PackageSettings(connection).text(.model)
            }
        }
        guard let text else { throw ObjectError(.version, "\"\(profile.path)\": the database keeps no model of a package") }
        let model: PackageModel
        do { model = try PackageModel(storedJSON: text) } catch {
            throw ObjectError(.corrupt, "\"\(profile.path)\": the model that the database keeps is not valid", cause: error)
        }
        try self.init(model)
    }
}
